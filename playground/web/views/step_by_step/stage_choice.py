"""The stage, on one of two paths."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from playground.analysis.walkthrough import Chapter, order, tutorial_b
from playground.config import ModelConfig
from playground.tutorials.table import SHORT_TITLES
from playground.web.choices import widgets
from playground.web.choices.setup import current_value


def choose_path(config: ModelConfig) -> None:
    """The order of the stages: the computation's own, or a tutorial's."""
    order_of_tutorial = f"from attention outwards, the order of {SHORT_TITLES['B']}"
    widgets.choice(
        "step_path",
        "Go through it",
        help_text=f"as the data moves: from the embedding to the output. as tutorial B: {order_of_tutorial}.",
        on_change=partial(_open_first_stage, config),
    )


def choose_stage(config: ModelConfig) -> str:
    """A stage, by a slider or step by step, in the order of the chosen path."""
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
    st.header(f"{stage[0].upper()}{stage[1:]}")
    return stage


def _list_stages(config: ModelConfig) -> tuple[tuple[Chapter, ...], tuple[str, ...]]:
    """The chapters of the chosen path, where it has any, and all its stages."""
    if current_value("step_path") == "as the data moves":
        return (), order(config)
    chapters = tutorial_b(config)
    return chapters, tuple(stage for chapter in chapters for stage in chapter.stages)


def _open_first_stage(config: ModelConfig) -> None:
    st.session_state["step_stage"] = _list_stages(config)[1][0]


def _move_stage(stages: Sequence[str], by: int) -> None:
    """One stage on or back; a second click before the page has followed the first stops at either end."""
    at = stages.index(st.session_state["step_stage"]) + by
    st.session_state["step_stage"] = stages[min(max(at, 0), len(stages) - 1)]
