"""The tutorials page's parts: the five side by side, where their numbers part, and one of them at a time."""

from typing import get_args

import pandas as pd
import streamlit as st

from playground.accounting.shapes import list_stages
from playground.config import Initialisation, ModelConfig
from playground.figures import differences as figures
from playground.model import Trace
from playground.presets import PRESETS
from playground.tutorials import comparison
from playground.tutorials.table import NAMES, SHORT_TITLES, Row, build_table
from playground.tutorials.tutorial_texts import TUTORIALS, Topic, Tutorial
from playground.web.choices import widgets
from playground.web.choices.shortcuts import apply_topic
from playground.web.components.rows import draw_data_flow
from playground.web.components.without_picture import request_scroll
from playground.web.session.weights_cache import cache_for_everybody
from playground.web.shared import panels
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment

SHOWN_TOKENS = 10
"""Of the sentence whose way is drawn."""


@cache_for_everybody(max_entries=4)
def _trace_tutorials(seed: int) -> dict[str, Trace]:
    return {letter: comparison.trace_of(comparison.small_config(letter), seed) for letter in NAMES}


_find_causes = cache_for_everybody(max_entries=20)(comparison.causes)


def show_answer(seed: int) -> None:
    """The page's question answered, from this run's numbers."""
    distances = comparison.matrix(_trace_tutorials(seed))
    pairs = {
        f"{SHORT_TITLES[a]} and {SHORT_TITLES[b]}": distances[i, j]
        for i, a in enumerate(NAMES)
        for j, b in enumerate(NAMES)
        if i < j
    }
    nearest, farthest = min(pairs, key=pairs.__getitem__), max(pairs, key=pairs.__getitem__)
    st.markdown(
        "**All of them: no two give the same numbers**, even with the same weights and the same words. "
        f"The nearest are {nearest}: their outputs differ by up to {pairs[nearest]:.2f}. "
        f"The farthest apart are {farthest}: theirs differ by up to {pairs[farthest]:.2f}."
    )


def show_properties() -> None:
    """Every property of the five; cells that differ from most of them are marked."""
    rows = build_table()
    columns = {SHORT_TITLES[letter]: [_format_cell(row, letter) for row in rows] for letter in NAMES}
    changes = [row.changes for row in rows]
    st.table(pd.DataFrame(columns | {"a difference changes": changes}, index=[f"**{row.name}**" for row in rows]))
    st.caption(
        "A violet cell differs from most of the five. All rows but the last two are read from the sidebar's presets. "
        "How a tutorial masks, and where it drops numbers in training, is no part of a preset."
    )


def _format_cell(row: Row, letter: str) -> str:
    text = f":violet-background[{row.cells[letter]}]" if letter in row.unusual() else row.cells[letter]
    return f"{text} ({row.notes[letter]})" if letter in row.notes else text


@fragment
def show_differences(seed: int) -> None:
    """How far apart the outputs are, where that begins, and which field it comes from."""
    traces, sizes = _trace_tutorials(seed), comparison.SIZES
    st.markdown(
        f"Five small encoders run on {sizes['vocab_size']} different words: d_model {sizes['d_model']}, "
        f"{sizes['n_heads']} heads, {sizes['n_layers']} layers. They share one token table and one set of linear maps, "
        f"drawn from seed {seed}. Norms are untrained, and nothing is dropped. "
        f"{SHORT_TITLES['C']} expects positions to be added already; here it gets the standard ones. Numbers are in "
        "double precision, so rounding plays no part."
    )
    left, right = st.columns([2, 3])
    with left:
        panels.chart(
            "tutorials_matrix",
            figures.difference_matrix(comparison.matrix(traces), list(SHORT_TITLES.values())),
            caption="The largest difference between two tutorials' outputs. The outputs themselves are about 1 in "
            "size.",
            alt="Matrix of the largest difference of outputs between each two tutorials.",
        )
    with right:
        against = widgets.choice("tutorials_against", "Compare the others with")
        by_point, chosen = comparison.by_point(traces, against), SHORT_TITLES[against]
        panels.chart(
            "tutorials_where",
            figures.differences_by_point(
                {SHORT_TITLES[letter]: values for letter, values in by_point.items()}, comparison.point_names()
            ),
            caption=f"Where each tutorial departs from {chosen}. Columns follow the order of computation; a cell at "
            "0 is still the same. `0.attn.out` is the output of attention in layer 0, and so on.",
            alt=f"Largest difference from tutorial {chosen} at each point of the forward pass, by tutorial.",
        )
    causes = sorted(_find_causes(against, seed), key=lambda cause: -cause.effect)
    lines = []
    for letter, differences in by_point.items():
        reasons = "; ".join(_describe_cause(cause) for cause in causes if cause.letter == letter)
        start = comparison.first_apart(differences)
        lines.append(f"- **{SHORT_TITLES[letter]}** gives other numbers than {chosen} from `{start}` on: {reasons}.")
    st.markdown("\n".join(lines))
    shares = {scheme: comparison.position_share(scheme, seed) for scheme in get_args(Initialisation)}
    st.caption(
        "Initial weights are another difference between the tutorials and this page. They leave them to torch, whose "
        "token tables are standard normal. Here linear maps are Xavier-uniform, and token tables are uniform with a "
        f"standard deviation of 1/√d_model. In {SHORT_TITLES['A']} a position is {shares['torch']:.2f} × as long as "
        f"the token's vector that it is added to; drawn as here, {shares['xavier']:.2f} ×. A preset of a tutorial sets "
        "*initial weights* to torch's, and the sidebar changes them."
    )
    st.caption(
        f"In brackets: how far the output moves when that field alone is changed in {chosen}. "
        "These effects do not add up, because later ones act on the results of earlier ones."
    )
    panels.numbers("tutorials_where", lambda: pd.DataFrame(by_point, index=pd.Index(comparison.point_names())))


def _describe_cause(cause: comparison.Cause) -> str:
    effect = f"{cause.effect:.2g}" if cause.effect > comparison.APART else "nothing: only the layout differs"
    return f"**{cause.field}** {cause.here} instead of {cause.there} ({effect})"


def show_tutorial() -> None:
    """What one tutorial is, what it teaches and where, and what is wrong in it."""
    letter = widgets.choice("tutorials_letter", "Tutorial")
    tutorial, preset = TUTORIALS[letter], PRESETS[NAMES[letter]]
    st.markdown(f"**{preset.title}.** {tutorial.what} As a preset: {preset.source}.")
    odd = [f"**{row.name}** {row.cells[letter]}" for row in build_table() if letter in row.unusual()]
    st.markdown(f"Unlike most of the five: {'; '.join(odd)}.")
    _show_block(tutorial, preset.config)
    st.markdown("**What it teaches, and the page that shows it**")
    _show_topics(tutorial, NAMES[letter])
    st.markdown("**Mistakes found in it**")
    for mistake in tutorial.mistakes:
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"**{mistake.where[0].upper()}{mistake.where[1:]}**: {mistake.printed}. {mistake.happens}")
            if mistake.demonstration is not None:
                st.caption(f":material/play_arrow: {mistake.demonstration()}")
    demonstrations = [mistake.demonstration for mistake in tutorial.mistakes if mistake.demonstration]
    panels.code_behind("tutorials", *demonstrations, comparison.build, comparison.causes)


def _show_block(tutorial: Tutorial, config: ModelConfig) -> None:
    """The way of the data through the tutorial's encoder, where its text says another."""
    if tutorial.order_in_text:
        st.markdown(f"{tutorial.order_in_text} Its code does this, here with a sentence of {SHOWN_TOKENS} tokens:")
        draw_data_flow(list_stages(config, SHOWN_TOKENS), config.n_layers, key="tutorials_flow")


def _show_topics(tutorial: Tutorial, preset: str) -> None:
    """The tutorial's topics, each with a button that opens its page as the tutorial means it."""
    _draw_topic(Topic("All of it, as a preset of the sidebar.", "overview"), "tutorials_open_overview", preset)
    for number, topic in enumerate(tutorial.topics, start=1):
        _draw_topic(topic, f"tutorials_open_{number}", preset)


def _draw_topic(topic: Topic, key: str, preset: str) -> None:
    """A topic's sentence, and a button that opens its page there, with the preset and the topic's settings."""
    page = page_named(topic.page)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if st.button(page.title, key=key, on_click=_set_topic, args=(topic, preset), width=150):
            st.switch_page(page, query_params={})
        st.markdown(topic.text)


def _set_topic(topic: Topic, preset: str) -> None:
    apply_topic(preset, topic.settings)
    if topic.target is not None:
        request_scroll(topic.target)
