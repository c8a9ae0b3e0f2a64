"""Why one query looks at one key: a measured answer, and the computation behind it in four steps."""

from functools import partial

import streamlit as st

from playground.analysis.attribution.cell import Competition, compete, move, multiply
from playground.analysis.attribution.score_sources import split_score
from playground.analysis.attribution.verdict import describe, judge
from playground.analysis.walkthrough import Walk
from playground.runs.encoder_run import Run
from playground.text.wording import write_amount
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.scroll_to import scroll_to
from playground.web.session import caches
from playground.web.session.actions import record_action
from playground.web.shared import panels
from playground.web.shared.markdown import quote_place
from playground.web.views.attention import attribution_cache, why_charts

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


def draw_why(run: Run, layer: int, head: int, query: int, key: int) -> None:
    """The answer in words, and below it the chosen step of the computation."""
    with st.container(key="why"):
        if st.session_state.pop(_ARRIVING, False):
            scroll_to("why")
        st.header(f"Why does {quote_place(run.tokens, query)} look at {quote_place(run.tokens, key)}?")
        if run.padding[query] or not run.allowed[query, key]:
            st.markdown(_describe_hidden(run, query, key))
            return
        run_key = current_setup().run_key
        with panels.explain_errors():
            walk = Walk(caches.trace_layer(run_key, layer), head, query, key)
            stream = attribution_cache.split_stream(run_key, layer)
            maps = attribution_cache.find_maps(run_key, walk)
        split, rivals = split_score(walk, stream, maps), compete(walk)
        verdict = judge(split, len(rivals.keys))
        if verdict.kind == "not finite":
            st.markdown(describe(verdict, split.lead, len(rivals.keys)))
            return
        st.markdown(f"{_describe_place(walk, rivals)} {describe(verdict, split.lead, len(rivals.keys))}")
        opened = partial(record_action, "computation opened")
        step = widgets.choice("attention_why", "How it comes about", help_text=HELP, on_change=opened)
        if step == "sources":
            if verdict.kind in ("only key", "rounding"):
                st.caption("There is nothing to compare here: the other steps show the computation.")
            else:
                why_charts.draw_sources(walk, split)
        elif step == "competition":
            why_charts.draw_competition(walk, rivals)
        elif step == "products":
            why_charts.draw_products(walk, multiply(walk))
        else:
            why_charts.draw_moved(walk, move(walk, maps))


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
