"""Why one query looks at one key: a measured answer, and the computation behind it in four steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from playground.analysis.attribution import (
    NAMES,
    Competition,
    HeadMaps,
    ScoreSplit,
    Verdict,
    compete,
    describe,
    judge,
    move,
    multiply,
    split_score,
)
from playground.analysis.changes import list_output_changes, list_row_changes
from playground.analysis.stream_sources import CHANGES
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import escape_markdown, quote_place
from playground.errors import PlaygroundError
from playground.figures import attribution as figures
from playground.link.opening import Focus
from playground.model.interventions import Intervention
from playground.runs.encoder_run import Run
from playground.text.wording import join_words, write_amount
from playground.views.change_names import name_change
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value, record_action
from playground.web.components.without_picture import scroll_to
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.shared import panels
from playground.web.shared.focus_line import ask_why
from playground.web.shared.pinned_charts import nearest_head
from playground.web.shared.pinning import beside_same_tokens, say_present_alone
from playground.web.views.attention import attribution_cache, why_charts
from playground.web.views.attention.attention_views import note_special_tokens

HELP = (
    "sources: what wrote the two vectors that meet. competition: the other keys, in the softmax. "
    "products: q · k, number by number. what it moves: the value behind the weight."
)


_ARRIVING = "_why_arriving"
"""Session key that is there until the panel is drawn, for a visitor who comes from another page to see it."""


def show_on_arrival() -> None:
    """Have the page Attention open at this panel; for callbacks on other pages."""
    st.session_state[_ARRIVING] = True
    if current_value("attention_show") != "one head":
        st.session_state["attention_show"] = "one head"


@dataclass(frozen=True)
class Explanation:
    """What explains one cell of a head's map."""

    walk: Walk
    maps: HeadMaps
    split: ScoreSplit
    rivals: Competition
    verdict: Verdict

    @property
    def has_parts(self) -> bool:
        """Whether the score's parts say something: there is an opponent, and the parts add up to the lead over it."""
        return self.verdict.kind not in ("only key", "rounding", "not finite")

    @property
    def names(self) -> tuple[str, str]:
        """The key and its opponent in markdown."""
        tokens, opponent = self.walk.layer.run.tokens, self.split.opponent
        return quote_place(tokens, self.walk.key), "no other key" if opponent is None else quote_place(tokens, opponent)


def draw_answer(run: Run, layer: int, head: int, query: int, key: int) -> Explanation | None:
    """The answer in words and in bars; returns what `draw_steps` shows, or None where there is nothing to compute."""
    with st.container(key="why"):
        if st.session_state.pop(_ARRIVING, False):
            scroll_to("why")
        st.header(ask_why(run, Focus(layer, head, query, key)))
        found = None
        if _is_hidden(run, query, key):
            st.markdown(_describe_hidden(run, query, key))
        else:
            try:
                found = _explain(current_setup().run_key, layer, head, query, key)
            except PlaygroundError as error:
                st.error(escape_markdown(error))
                return None
            hidden = f" {note_special_tokens(run)}" if current_value("attention_hide") else ""
            st.markdown(f"{_describe_changes(found.walk)}{_describe(found)}{hidden}")
            if found.has_parts:
                _draw_parts(found)
        _tell_pinned(run, Focus(layer, head, query, key))
        return found if found and found.verdict.kind != "not finite" else None


def draw_steps(found: Explanation) -> None:
    """The chosen step of the computation."""
    with st.container(key="why_steps"):
        opened = partial(record_action, "computation opened")
        step = widgets.choice("attention_why", "How it comes about", help_text=HELP, on_change=opened)
        say_present_alone("these four steps")
        if step == "sources":
            if found.has_parts:
                why_charts.draw_sources(found.walk, found.split, *found.names)
            else:
                st.caption("There is nothing to compare here: the other steps show the computation.")
        elif step == "competition":
            why_charts.draw_competition(found.walk, found.rivals)
        elif step == "products":
            why_charts.draw_products(found.walk, multiply(found.walk))
        else:
            _explain_output(found.walk)
            why_charts.draw_moved(found.walk, move(found.walk, found.maps))


def _tell_pinned(run: Run, focus: Focus) -> None:
    """The same answer for the pinned settings, in words; nothing where nothing is pinned."""
    pinned = beside_same_tokens(run, "these reasons")
    if pinned is None:
        return
    layer, head = nearest_head(pinned.run, focus)
    if _is_hidden(pinned.run, focus.query, focus.key):
        answer = _describe_hidden(pinned.run, focus.query, focus.key)
    else:
        try:
            found = _explain(pinned.side.setup.run_key, layer, head, focus.query, focus.key)
            answer = f"{_describe_changes(found.walk)}{_describe(found)}"
        except PlaygroundError as error:
            answer = escape_markdown(error)
    st.caption(f"**{pinned.name}, layer {layer}, head {head}.** {answer}")


def _describe(found: Explanation) -> str:
    """The answer in words, in markdown."""
    answer = describe(found.verdict, found.split.lead)
    return answer if found.verdict.kind == "not finite" else f"{_describe_place(found.walk, found.rivals)} {answer}"


def _describe_changes(walk: Walk) -> str:
    """That changes set weights of this row, and what they make of this one; empty where none does."""
    changes = list_row_changes(walk)
    if not changes:
        return ""
    weight = walk.of_query("attn.pattern")[walk.key]
    return (
        f"**Weights of this row are set by {_name_changes(walk, changes)}.** This one is **{weight:.2f}** now. "
        "What follows is what the model itself computes before that. "
    )


def _explain_output(walk: Walk) -> None:
    """Where changes set what leaves the head: that what is shown goes no further as it is."""
    changes = list_output_changes(walk)
    if changes:
        st.markdown(
            f"What the head gathers is then set by {_name_changes(walk, changes)}: it goes no further as shown here."
        )


def _name_changes(walk: Walk, changes: Sequence[Intervention]) -> str:
    tokens = walk.layer.run.tokens
    what = "your change" if len(changes) == 1 else "your changes"
    return f"{what} {join_words([f'“{escape_markdown(name_change(change, tokens))}”' for change in changes])}"


def _is_hidden(run: Run, query: int, key: int) -> bool:
    return bool(run.padding[query] or not run.allowed[query, key])


def _explain(run_key: RunKey, layer: int, head: int, query: int, key: int) -> Explanation:
    """What explains a cell, set beside the strongest other key; raises as `caches.run_sentence`.

    That is the key that won where this one lost, and the next one where this one won.
    """
    walk = Walk(caches.trace_layer(run_key, layer), head, query, key)
    stream = attribution_cache.split_stream(run_key, layer)
    maps = attribution_cache.find_maps(run_key, walk)
    rivals = compete(walk)
    opponent = None if rivals.best_other is None else int(rivals.keys[rivals.best_other])
    split = split_score(walk, stream, maps, opponent)
    return Explanation(walk, maps, split, rivals, judge(split, len(rivals.keys)))


def _draw_parts(found: Explanation) -> None:
    """The lead over the opponent by kinds of sources, the same for every cell, so that nothing below them moves."""
    groups = [group for group in NAMES if group != "change" or CHANGES in found.split.sources]
    amounts = [found.verdict.amounts.get(group, 0.0) for group in groups]
    kinds = ["bias" if group == "others" else group for group in groups]
    key, opponent = found.names
    panels.bars(
        "why_parts",
        figures.contributions(
            [NAMES[group] for group in groups], kinds, np.array(amounts), title="part of the difference"
        ),
        caption=f"**Score of {key} minus score of {opponent}, by what wrote their vectors.** A bar to the right "
        f"speaks for {key}, one to the left for {opponent}. They add up to {write_amount(found.split.lead, '+')}.",
        alt="Bars: parts of the difference of two keys' scores, by kind of source",
    )


def _describe_hidden(run: Run, query: int, key: int) -> str:
    """Why a query gives a key no weight at all."""
    if run.padding[query]:
        return "This query is padding, which is no word: nobody reads what it attends to."
    if run.padding[key]:
        return "This key is padding, which is no word. The mask hides it from every query, so its weight is 0."
    return "This key comes later in the sentence, and the mask is causal. It is hidden from the query: its weight is 0."


def _describe_place(walk: Walk, rivals: Competition) -> str:
    """The weight, and the score beside the strongest other key's."""
    tokens = walk.layer.run.tokens
    n, weight, score = len(rivals.keys), rivals.weights[rivals.rank - 1], float(rivals.scores[rivals.rank - 1])
    subject = f"{quote_place(tokens, walk.query)} looks at {quote_place(tokens, walk.key)} with weight **{weight:.2f}**"
    if rivals.best_other is None:
        return f"{subject}, its only key."
    other, lead = quote_place(tokens, int(rivals.keys[rivals.best_other])), float(rivals.lead[rivals.best_other])
    place = f"the strongest of its {n} keys" if rivals.rank == 1 else f"number {rivals.rank} of its {n} keys"
    against = "the next" if rivals.rank == 1 else "the strongest"
    side = "above" if lead >= 0 else "below"
    return (
        f"{subject}, {place}. Its score is {write_amount(score)}: {write_amount(abs(lead))} {side} {against}, {other}."
    )
