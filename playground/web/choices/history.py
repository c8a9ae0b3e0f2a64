"""What was chosen, one moment after the other: `Undo` steps back through the list, and others find an earlier one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from playground.link import params
from playground.web.choices import setup
from playground.web.choices.setup import focus_text, is_focus_chosen, note_focus_text
from playground.web.choices.shortcuts import choose_values, keep_replaced

LONGEST = 50
"""Moments that are kept."""

_MOMENTS = "_history"
"""Session key of the moments, the newest last."""

_WENT_BACK = "_history_undone"
"""Session key that is there between an undo and the end of its run, which may settle values further."""


@dataclass(frozen=True)
class Moment:
    """What was chosen at some moment."""

    values: Mapping[str, Any]
    """By parameter, without those at their defaults."""
    pinned: Mapping[str, Any] | None
    focus_text: str
    is_focus_chosen: bool
    """By the visitor or a link, and not by the page."""


def take_moment() -> Moment:
    """Return what is chosen now."""
    held = {key: st.session_state[key] for key in params.PARAMS.keys() - params.LESSON if key in st.session_state}
    defaults = params.default_values(held)
    values = {key: value for key, value in held.items() if value != defaults[key]}
    return Moment(values, setup.pinned_values(), focus_text(), is_focus_chosen())


def restore(moment: Moment) -> None:
    """Choose all that was chosen then; for callbacks."""
    defaults = params.default_values(moment.values)
    held = {key: defaults[key] for key in params.PARAMS.keys() - params.LESSON if key in st.session_state}
    choose_values(held | dict(moment.values))
    note_focus_text(moment.focus_text, by_page=not moment.is_focus_chosen)
    setup.unpin()
    if moment.pinned is not None:
        setup.pin(moment.pinned)


def record() -> None:
    """Note what is chosen at the end of a run, if that is new."""
    moments, now = _moments(), take_moment()
    if st.session_state.pop(_WENT_BACK, False) and moments:
        moments = moments[:-1]
    if not moments or moments[-1] != now:
        st.session_state[_MOMENTS] = [*moments, now][-LONGEST:]


def undo() -> None:
    """Bring back the moment before the last choice; for callbacks."""
    keep_replaced()
    moments = _moments()
    if len(moments) > 1 and take_moment() == moments[-1]:
        moments = moments[:-1]
    if moments:
        restore(moments[-1])
        st.session_state[_MOMENTS], st.session_state[_WENT_BACK] = moments, True


def last_moment(fits: Callable[[str], bool]) -> Moment | None:
    """Return the last moment whose weights fit, if there is one."""
    default = params.PARAMS["weights"].default
    return next((each for each in reversed(_moments()) if fits(each.values.get("weights", default))), None)


def restore_shape() -> None:
    """Bring back the shape that was chosen before other weights locked it, after a choice of weights; for callbacks."""
    weights, defaults = st.session_state["weights"], params.default_values({})
    free = last_moment(lambda each: each != "trained here")
    if free is not None and weights != "trained here":
        st.session_state.update({key: free.values.get(key, defaults[key]) for key in ("causal", "seed")})
    before = last_moment(lambda each: each == weights) or last_moment(lambda each: each == "random")
    if before is not None and weights in ("random", "mine"):
        st.session_state.update({key: before.values.get(key, defaults[key]) for key in params.LOCKED})


def reset_everything() -> None:
    """Set every parameter to its default, and pin nothing; files and networks stay open. For callbacks."""
    restore(Moment({}, None, params.DEFAULT_TEXT, is_focus_chosen=False))
    st.session_state.update({key: param.default for key, param in params.LESSON.items()})


def _moments() -> list[Moment]:
    moments: list[Moment] = st.session_state.get(_MOMENTS, [])
    return moments
