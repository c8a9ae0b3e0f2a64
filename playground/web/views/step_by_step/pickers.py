"""What the step-by-step page can be asked for: the place in the model, and the stage on one of two paths."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from playground.analysis.walkthrough import Chapter, order, tutorial_b
from playground.config import ModelConfig
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.shared.markdown import quote_token


def _route(config: ModelConfig) -> tuple[tuple[Chapter, ...], tuple[str, ...]]:
    """The chapters of the chosen path, where it has any, and all its stages."""
    if current_value("step_path") == "as the data moves":
        return (), order(config)
    chapters = tutorial_b(config)
    return chapters, tuple(stage for chapter in chapters for stage in chapter.stages)


def _start_over(config: ModelConfig) -> None:
    """Another path: to its first stage."""
    st.session_state["step_stage"] = _route(config)[1][0]


def _move(stages: Sequence[str], by: int) -> None:
    """One stage on or back; a second press, before the page has followed the first, stops at either end."""
    at = stages.index(st.session_state["step_stage"]) + by
    st.session_state["step_stage"] = stages[min(max(at, 0), len(stages) - 1)]


def pick_stage(run: Run) -> str:
    """The slider through the stages, in the order of the chosen path."""
    widgets.choice("step_path", "Go through it", on_change=partial(_start_over, run.config))
    chapters, stages = _route(run.config)
    stage = widgets.stage("step_stage", "Stage", stages)
    at = stages.index(stage)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", icon=":material/arrow_back:", key="stage_back", disabled=at == 0, on_click=_move, args=(stages, -1)
        )
        last = at == len(stages) - 1
        st.button(
            "Next", icon=":material/arrow_forward:", key="stage_next", disabled=last, on_click=_move, args=(stages, 1)
        )
        st.caption(f"{at + 1} of {len(stages)}")
    for number, chapter in enumerate(chapters, start=1):
        if stage in chapter.stages:
            st.markdown(f"**Chapter {number} of {len(chapters)}: {chapter.title}.** {chapter.idea}")
    st.subheader(f"{stage[0].upper()}{stage[1:]}")
    return stage


def pick_place(run: Run) -> tuple[int, int, int, int]:
    """Layer, head, query and key."""
    n_real = int((~run.padding).sum())
    highest = {
        "layer": run.config.n_layers - 1,
        "head": run.config.n_heads - 1,
        "query": n_real - 1,
        "key": len(run.tokens) - 1,
    }
    labels = {"query": "query: the token that asks", "key": "key: a token that is asked"}
    chosen = []
    for column, (name, high) in zip(st.columns(4), highest.items(), strict=True):
        with column:
            chosen.append(widgets.whole(f"step_{name}", labels.get(name, name), high=high))
            if name in labels:
                st.caption(f"{quote_token(run.tokens[chosen[-1]])} at position {chosen[-1]}")
    layer, head, query, key = chosen
    return layer, head, query, key
