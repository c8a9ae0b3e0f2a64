"""The focus: one layer, head, query token and key token, which every page looks at and the link carries.

In another text, query and key that were chosen move to the same words where those still stand. Else, and where they
were special tokens, which say nothing of the new text, the page chooses a pair that says something.

The session keeps what the visitor asked for. A run that has not so many layers, heads or tokens shows the nearest.
Pages that look at another model than the sidebar's keep a selection of their own.
"""

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from playground.errors import PlaygroundError
from playground.link import english, opening
from playground.link.opening import Focus, choose_pair
from playground.link.params import AUTOMATIC, FOCUS
from playground.runs.encoder_run import Run
from playground.web.choices.setup import (
    current_setup,
    current_value,
    focus_text,
    is_focus_chosen,
    lab_of,
    note_focus_text,
)


def last_places(run: Run) -> Focus:
    """Return the last layer, head, query and key that a run has."""
    return opening.last_places(run.config.n_layers, run.config.n_heads, run.n_real, len(run.tokens))


def current_focus(run: Run) -> Focus:
    """Return the focus as this run has it: what was asked for, or the nearest."""
    return opening.nearest_places({place: current_value(place) for place in FOCUS}, last_places(run))


def current_layer(n_layers: int) -> int:
    """Return the focus's layer in a model of so many that need not be run: what was asked for, or the nearest."""
    return min(int(current_value("layer")), n_layers - 1)


def settle_tokens(run: Run) -> None:
    """Move query and key into the present text, where they were chosen in another one; `run` is of the present."""
    if focus_text() == current_value("text"):
        return
    before = _tokens_before() if is_focus_chosen() else []
    same_words = (_find_same_word(before, run.real_tokens, current_value(place)) for place in ("query", "key"))
    query, key = (None if at is None or run.special[at] else at for at in same_words)
    by_page = query is None
    if query is None or key is None or query == key:
        chosen = choose_pair(run, current_focus(run), query)
        query, key = chosen.query, chosen.key
    st.session_state.update({"query": query, "key": key})
    note_focus_text(by_page=by_page)
    rival = current_value("attention_rival")
    if rival.isdecimal():
        same = _find_same_word(before, run.real_tokens, int(rival))
        st.session_state["attention_rival"] = AUTOMATIC if same is None else str(same)


def _tokens_before() -> Sequence[str]:
    """Return the tokens of the text in which query and key were chosen."""
    lab = lab_of({**current_setup().values, "text": focus_text(), "mask": english.NO_MASK})
    try:
        return lab.batch.tokens[lab.sentence] if lab.text.sentences else ()
    except PlaygroundError:
        return ()


def _find_same_word(before: Sequence[str], tokens: Sequence[str], place: int) -> int | None:
    """Return where the token at a place of the text before stands now, as near to its old place as it does."""
    if place >= len(before):
        return None
    same = [at for at, token in enumerate(tokens) if token.lower() == before[place].lower()]
    return min(same, key=lambda at: abs(at - place), default=None)


def moved_places(run: Run) -> list[str]:
    """Return the places that somebody asked for and this run has not; defaults nobody asked for."""
    last = asdict(last_places(run))
    return [place for place in FOCUS if last[place] < current_value(place) != FOCUS[place].default]
