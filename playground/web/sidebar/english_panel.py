"""The sidebar's part for the small English: what the last move cost, and what the shown encoder is."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.language.capabilities import CAPABILITIES
from playground.language.family import seeds_of
from playground.language.network import Spec
from playground.language.text import IDS
from playground.link import english
from playground.web.choices import widgets
from playground.web.choices.english import back_to_minilm, moved_from
from playground.web.choices.setup import Setup
from playground.web.session.answers import fill_in, hidden_word
from playground.web.session.services import services

SMALL = 0.05
"""A difference between shares that is not worth a sentence."""


def draw_move(setup: Setup) -> None:
    """Draw what the shown encoder costs beside the base, and the answer beside the one before the last move."""
    if setup["untrained"]:
        return
    spec, lines = english.spec_of(setup.values), []
    answer = _describe_answer(setup)
    if answer:
        lines.append(answer)
    lines += [_describe_capabilities(spec), _describe_parameters(spec)]
    with st.container(key="move_cost"):
        st.markdown("  \n".join(filter(None, lines)))


def draw(setup: Setup) -> None:
    """Draw the switch between before and after training, and the way back to MiniLM."""
    widgets.switch("untrained")
    st.button("Back to MiniLM", key="back_to_minilm", icon=":material/undo:", on_click=back_to_minilm)


def _describe_answer(setup: Setup) -> str:
    """The hidden word's probability, before the last move and now."""
    try:
        hidden = hidden_word(setup.run_key) if setup.text.sentences else None
        if hidden is None or not hidden.word:
            return ""
        now = float(fill_in(setup.run_key)[-1, IDS[hidden.word]])
        before, _ = moved_from()
        told = f"**{now:.2f}**"
        if before is not None and before.is_english and before.text_key == setup.text_key:
            told = f"{float(fill_in(before.run_key)[-1, IDS[hidden.word]]):.2f} → {told}"
    except PlaygroundError:  # the page says why there is no run
        return ""
    return f"*{escape_markdown(hidden.word)}*: {told}"


def _describe_capabilities(spec: Spec) -> str:
    """The two capabilities that lie furthest from the base, with the range of the seeds that were measured."""
    shares, base = _shares(spec), _shares(Spec())
    if not shares or not base or spec == Spec():
        return ""
    moved = {name: fmean(shares[name]) - fmean(base[name]) for name in CAPABILITIES}
    furthest = sorted(moved, key=lambda name: -abs(moved[name]))[:2]
    told = [
        f"*{CAPABILITIES[name].title}* {fmean(base[name]):.2f} → **{fmean(shares[name]):.2f}**{_range(shares[name])}"
        for name in furthest
        if abs(moved[name]) > SMALL
    ]
    return " · ".join(told) or f"All capabilities are within {SMALL} of the base's."


def _shares(spec: Spec) -> Mapping[str, Sequence[float]]:
    """By capability the share right: of every seed that was measured, or of the one network that there is."""
    rows = [row.shares for row in seeds_of(spec)]
    if not rows:
        found = services().networks.find(spec)
        rows = [found.shares] if found else []
    return {name: [row[name] for row in rows] for name in CAPABILITIES} if rows else {}


def _range(shares: Sequence[float]) -> str:
    """The range over several seeds."""
    return f" ({min(shares):.2f}–{max(shares):.2f})" if len(shares) > 1 else ""


def _describe_parameters(spec: Spec) -> str:
    """The parameters, of the base and now."""
    n, base = spec.n_parameters, Spec().n_parameters
    return f"{n:,} parameters" if n == base else f"{base:,} → **{n:,}** parameters"
