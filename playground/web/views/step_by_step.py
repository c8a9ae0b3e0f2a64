"""What only the live page Steps has: its input, the way through its stages, and the runs that its view looks at."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.analysis.walkthrough import Chapter, Walk, order, tutorial_b
from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene, note_other_tokens
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.limits import MAX_TOKENS
from playground.link.opening import Focus
from playground.link.state import RunKey, TextKey, is_random
from playground.runs.encoder_run import Run
from playground.text.wording import upper_first
from playground.tutorials.comparison import SHORT_TITLES
from playground.views.steps.dropout import DroppedWalk, show_dropout
from playground.views.steps.page import compare_walks, show_steps
from playground.views.steps.stages import STAGES
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.choices.shortcuts import has_preset
from playground.web.components.without_picture import request_scroll, scroll_as_requested
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import PLACES, draw_focus, keep_answer_place
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import beside
from playground.web.shared.renderer import render

PRESET = "tutorial-b"

_STAGE = "step_stage_whole"
"""Key of the container of a stage, from its title on."""


@fragment
def show_chosen_stage() -> None:
    """The focus, the stage, and all that they redraw."""
    above, below = st.container(), st.container()
    with below:
        ways = st.expander(
            f"Go through it as tutorial {SHORT_TITLES['B']} does",
            icon=":material/school:",
            key="step_ways",
            bind="query-params",
        )
    with ways:
        path, *places = st.columns(3)
        chosen = _choose_input(*places)
    with above:
        if chosen is None:
            panels.draw_run_line()
        key = chosen or current_setup().run_key
        with panels.explain_errors():
            run = caches.run_sentence(key)
        with path:
            _choose_path(run.config)
        _draw_stage(key, run)


def _draw_stage(key: RunKey, run: Run) -> None:
    """The choice of a stage, and below it the stage."""
    keep_answer_place()
    scroll_as_requested()
    stage, following = _choose_stage(run.config)
    with st.container(key=_STAGE):
        _draw_chosen(stage, following, key, run)


def _draw_chosen(stage: str, following: str | None, key: RunKey, run: Run) -> None:
    """The stage's title, the focus, the computation, the way on to `following`; in a panel, what dropout does to it."""
    st.header(upper_first(stage))
    focus = draw_focus(run, PLACES if STAGES[stage].is_of_head else ("layer", "query"))
    with panels.explain_errors():
        walk = Walk(caches.trace_layer(key, focus.layer), focus.head, focus.query, focus.key)
    scene, missing = _find_pinned(walk, key)
    weights = "random" if is_random(key.weights) else key.weights
    with np.errstate(invalid="ignore", over="ignore"):  # numbers beyond fp32's range are drawn as such
        render(show_steps(scene, {"step_stage": stage, "weights": weights}), scene)
        if following is not None:
            label, icon = f"Next: {following}", ":material/arrow_forward:"
            st.button(label, key="stage_following", icon=icon, on_click=_go_on, args=(following,))
        if missing:
            render([Paragraph("**Before and now**"), Paragraph(missing, "caption")], scene)
        title, icon = "What dropout does during training", ":material/blur_on:"
        dropout = st.expander(title, icon=icon, key="step_dropout", bind="query-params")
        if dropout.open:
            with dropout:
                _draw_dropout(walk, key, focus)


def _find_pinned(walk: Walk, key: RunKey) -> tuple[Scene[Walk], str]:
    """The walk beside the pinned settings' one, where there is one; else why not, in markdown, if any are pinned."""
    scene, pinned = compare_walks(walk, None, ""), beside(walk.layer.run)
    if pinned is None:
        return scene, ""
    if key != current_setup().run_key:
        own = "The tutorial's own input is for the present settings alone: what is pinned has a text of its own."
        return scene, own
    if not pinned.has_same_tokens:
        return scene, note_other_tokens("these numbers")
    focus = scene.focus.within(pinned.run.config)
    try:
        layer = caches.trace_layer(pinned.side.setup.run_key, focus.layer)
    except PlaygroundError as error:
        return scene, escape_markdown(error)
    return compare_walks(walk, Walk(layer, focus.head, focus.query, focus.key), pinned.side.name), ""


def _draw_dropout(walk: Walk, key: RunKey, focus: Focus) -> None:
    plain = key._replace(interventions=())
    with panels.explain_errors():
        dropped = caches.drop_layer(plain, focus.layer)
        untouched = replace(walk, layer=caches.trace_layer(plain, focus.layer))
    scene = Scene(DroppedWalk(untouched, dropped, key.seed), focus)
    render(show_dropout(scene, {}), scene)
    if key.interventions:
        st.caption("Dropout is shown for the model without your changes.")


def _choose_input(words: DeltaGenerator, number: DeltaGenerator) -> RunKey | None:
    """The run of the tutorial's own input, after a description of it; None where the page shows the visitor's text.

    `words` takes the choice of an input, where there is one, and `number` the choice of one of its sentences.
    """
    setup = current_setup()
    if current_value("step_path") == "as tutorial B":
        if has_preset(setup, PRESET):
            with words:
                choice = widgets.choice("step_input", "Input")
            if choice == "the tutorial's":
                return _choose_sentence(setup, number)
        else:
            st.caption(
                f"With the preset of tutorial {SHORT_TITLES['B']}, each chapter has the tutorial's own small input."
            )
    return None


def _choose_sentence(setup: Setup, place: DeltaGenerator) -> RunKey:
    """The run of a sentence of the tutorial's input for the chapter that the chosen stage belongs to."""
    stage = current_value("step_stage")
    chapter = next(chapter for chapter in tutorial_b(setup.config) if stage in chapter.stages)
    with place:
        sentence = widgets.whole("step_sentence", "Sentence", high=chapter.shape[0])
    _describe(chapter)
    if setup.fitted_changes.applied:
        st.caption("The tutorial's own input is computed without your changes.")
    text = TextKey("word", 0, MAX_TOKENS, chapter.sentences)
    return RunKey(text, sentence - 1, setup.weights, chapter.own_config(setup.config), setup["seed"], setup["causal"])


def _describe(chapter: Chapter) -> None:
    n_sentences, n_tokens, n_features = chapter.shape
    sentences = f"{n_sentences} sentences" if n_sentences > 1 else "1 sentence"
    heads = f"{chapter.n_heads} heads" if chapter.n_heads > 1 else "1 head"
    maps = " Queries, keys and values are maps of these vectors; the next chapter explains them."
    st.caption(
        f"The input that tutorial {SHORT_TITLES['B']} gives “{chapter.title}” has the shape **{chapter.shape}**: "
        f"{sentences} of {n_tokens} tokens with {n_features} features each, for {heads}. Its vectors x0, x1, … "
        f"are standard normal numbers drawn from the sidebar's seed.{maps * (chapter.title == 'Attention')}"
    )


def _choose_path(config: ModelConfig) -> None:
    """The order of the stages: the computation's own, or a tutorial's."""
    order_of_tutorial = f"from attention outwards, the order of {SHORT_TITLES['B']}"
    widgets.choice(
        "step_path",
        "Go through it",
        help_text=f"as the data moves: from the embedding to the output. as tutorial B: {order_of_tutorial}.",
        on_change=partial(_open_first_stage, config),
    )


def _choose_stage(config: ModelConfig) -> tuple[str, str | None]:
    """A stage, by a slider or step by step, in the order of the chosen path; and the one behind it, if there is one."""
    chapters, stages = _list_stages(config)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        stage = widgets.stage("step_stage", "Stage", stages)
    at = stages.index(stage)
    with right, st.container(horizontal=True, vertical_alignment="center"):
        for label, by, end in (("Back", -1, 0), ("Next", 1, len(stages) - 1)):
            st.button(
                label,
                icon=f":material/arrow_{'back' if by < 0 else 'forward'}:",
                key=f"stage_{label.lower()}",
                disabled=at == end,
                on_click=_move_stage,
                args=(stages, by),
            )
        st.caption(f"{at + 1} of {len(stages)}")
    for number, chapter in enumerate(chapters, start=1):
        if stage in chapter.stages:
            st.markdown(f"**Chapter {number} of {len(chapters)}: {chapter.title}.** {chapter.idea}")
    return stage, stages[at + 1] if at + 1 < len(stages) else None


def _list_stages(config: ModelConfig) -> tuple[tuple[Chapter, ...], tuple[str, ...]]:
    """The chapters of the chosen path, where it has any, and all its stages."""
    if current_value("step_path") == "as the data moves":
        return (), order(config)
    chapters = tutorial_b(config)
    return chapters, tuple(stage for chapter in chapters for stage in chapter.stages)


def _open_first_stage(config: ModelConfig) -> None:
    st.session_state["step_stage"] = _list_stages(config)[1][0]


def _go_on(stage: str) -> None:
    """Open a stage at its beginning: the press came from the end of the one before."""
    st.session_state["step_stage"] = stage
    request_scroll(_STAGE)


def _move_stage(stages: Sequence[str], by: int) -> None:
    """One stage on or back; a second click before the page has followed the first stops at either end."""
    at = stages.index(st.session_state["step_stage"]) + by
    st.session_state["step_stage"] = stages[min(max(at, 0), len(stages) - 1)]
