"""What only the live page Steps has: its input, and the way through its stages."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from playground.charts.scene import Scene
from playground.text.wording import upper_first
from playground.tutorials.comparison import SHORT_TITLES
from playground.views.steps.page import LabWalk, find_chapter, list_path, show_steps, view_own_input, walk_scene
from playground.views.steps.stages import STAGES
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.without_picture import request_scroll, scroll_as_requested
from playground.web.shared import panels
from playground.web.shared.page_end import fragment, keep_answer_place
from playground.web.shared.renderer import PLACES, draw_focus, read_options, render, session_view
from playground.words import say

PAGE = "step-by-step"

_STAGE = "step_stage_whole"
"""Key of the container of a stage, from its title on."""


@fragment
def show_chosen_stage() -> None:
    """The focus, the stage, and all that they redraw."""
    above, below = st.container(), st.container()
    with below:
        title = say("steps", "ways", tutorial=SHORT_TITLES["B"])
        ways = widgets.panel("step_ways", title, ":material/school:")
    with ways:
        _choose_input()
    with above:
        view = view_own_input(session_view(PAGE))
        if view.lab == current_setup():
            panels.draw_run_line()  # a text's own query and key are known from here on
            view = session_view(PAGE)
        keep_answer_place()
        scroll_as_requested()
        with panels.explain_errors():
            scene = walk_scene(view)
        stages = list_path(scene.now.config, read_options("step"))
        stage = _choose_stage(stages)
        with st.container(key=_STAGE):
            _draw_stage(stage, stages, scene)


def _draw_stage(stage: str, stages: Sequence[str], scene: Scene[LabWalk]) -> None:
    """The stage's title, the focus, the computation, the way on to the next stage."""
    st.header(upper_first(stage))
    draw_focus(scene.now.layer.run, PLACES if STAGES[stage].is_of_head else ("layer", "query"))
    with panels.explain_errors(), np.errstate(invalid="ignore", over="ignore"):
        render(show_steps(scene, read_options("step")), scene)
    at = stages.index(stage) + 1
    if at < len(stages):
        label, icon = say("steps", "following", stage=stages[at]), ":material/arrow_forward:"
        st.button(label, key="stage_following", icon=icon, on_click=_go_on, args=(stages[at],))


def _choose_input() -> None:
    """The order of the stages; on tutorial B's path and preset, its own input or the visitor's text."""
    path, words, number = st.columns(3)
    titles = {"tutorial": SHORT_TITLES["B"]}
    with path:
        help_text = say("steps", "path.help", **titles)
        widgets.choice("step_path", say("steps", "path"), help_text=help_text, on_change=_open_first_stage)
    if current_value("step_path") != "as tutorial B":
        return
    chapter = find_chapter(session_view(PAGE))
    if chapter is None:
        st.caption(say("steps", "other-preset", **titles))
        return
    with words:
        if widgets.choice("step_input", say("steps", "input")) != "the tutorial's":
            return
    sentences, tokens, features = chapter.shape
    with number:
        widgets.whole("step_sentence", say("steps", "sentence"), high=sentences)
    shape = {"sentences": sentences, "tokens": tokens, "features": features}
    st.caption(say("steps", "own-input", heads=chapter.n_heads, **shape))


def _choose_stage(stages: Sequence[str]) -> str:
    """A stage, by a slider or step by step, in the order of the chosen path."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        stage = widgets.stage("step_stage", say("steps", "stage"), stages)
    at = stages.index(stage)
    with right, st.container(horizontal=True, vertical_alignment="center"):
        for name, by, end in (("back", -1, 0), ("forward", 1, len(stages) - 1)):
            label = say("steps", "back") if by < 0 else say("steps", "next")
            icon, key = f":material/arrow_{name}:", f"stage_{'back' if by < 0 else 'next'}"
            st.button(label, icon=icon, key=key, disabled=at == end, on_click=_move_stage, args=(stages, by))
        st.caption(say("steps", "place", at=at + 1, of=len(stages)))
    return stage


def _open_first_stage() -> None:
    st.session_state["step_stage"] = list_path(current_setup().config, read_options("step"))[0]


def _go_on(stage: str) -> None:
    """Open a stage at its beginning: the press came from the end of the one before."""
    st.session_state["step_stage"] = stage
    request_scroll(_STAGE)


def _move_stage(stages: Sequence[str], by: int) -> None:
    """One stage on or back; a second click before the page has followed the first stops at either end."""
    at = stages.index(st.session_state["step_stage"]) + by
    st.session_state["step_stage"] = stages[min(max(at, 0), len(stages) - 1)]
