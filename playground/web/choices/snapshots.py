"""What was chosen before a lesson, an exercise's settings or a reset, so that it comes back; and the reset itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from playground.link import params
from playground.web.choices import setup
from playground.web.choices.setup import Setup, current_setup, focus_text, is_focus_chosen, note_focus_text
from playground.web.choices.shortcuts import choose_values, keep_replaced, put_away_values, restore_put_away

_LAST = "_last_reset"
"""Session key of the last `Reset`."""

_WENT_BACK = "_went_back"
"""Session key of whether a step back has just led to a part of what the reset took away."""


@dataclass(frozen=True)
class Snapshot:
    """What was chosen at some moment."""

    values: Mapping[str, Any]
    """Of the parameters that the session had, by key."""
    focus_text: str
    is_focus_chosen: bool
    """By the visitor or a link, and not by the page."""
    pinned: Mapping[str, Any] | None
    put_away: Mapping[str, Any]
    """Values that other choices hide or lock."""


def take_snapshot(keys: Iterable[str] = tuple(params.PARAMS)) -> Snapshot:
    """What is chosen now, of the parameters of these keys."""
    keep_replaced()
    values = {key: st.session_state[key] for key in keys if key in st.session_state}
    return Snapshot(values, focus_text(), is_focus_chosen(), setup.pinned_values(), put_away_values())


def restore_snapshot(snapshot: Snapshot) -> None:
    """Bring back what was chosen; for callbacks."""
    choose_values(snapshot.values)
    note_focus_text(snapshot.focus_text, by_page=not snapshot.is_focus_chosen)
    restore_put_away(snapshot.put_away)
    if snapshot.pinned is not None:
        setup.pin(snapshot.pinned)


@dataclass(frozen=True)
class Reset:
    """All that a reset took away."""

    had: Snapshot
    before: Setup
    after: Setup
    is_offered: bool = True
    """Whether `Undo` still stands beside what it left."""


def reset_everything() -> None:
    """Set every parameter to its default, and pin nothing; files and networks stay open. For callbacks."""
    had, before = take_snapshot(), current_setup()
    setup.unpin()
    choose_values({key: params.PARAMS[key].default for key in had.values})
    restore_put_away({})
    note_focus_text(params.DEFAULT_TEXT, by_page=True)
    st.session_state[_LAST] = Reset(had, before, current_setup())


def can_undo(setup: Setup) -> bool:
    """Whether everything was reset, and nothing was chosen since."""
    last: Reset | None = st.session_state.get(_LAST)
    return last is not None and last.is_offered and last.after == setup


def forget_outdated(now: Setup, page: str, *, arrived: bool) -> None:
    """Forget notices about earlier choices, and no longer offer to undo a reset after which something was chosen.

    Args:
        now: the present choices, which go together.
        page: the open page's path.
        arrived: whether the visitor was on another page before.
    """
    setup.drop_outdated_notices(now, page, arrived=arrived)
    last: Reset | None = st.session_state.get(_LAST)
    if last is not None and last.after != now:
        st.session_state[_LAST] = replace(last, is_offered=False)


def undo_reset() -> None:
    """Bring back all that the last reset took away; for callbacks."""
    last: Reset = st.session_state[_LAST]
    restore_snapshot(last.had)
    st.session_state[_LAST] = replace(last, is_offered=False)


def undo_by_going_back(shown: Setup | None) -> None:
    """After a step back in the browser's history from what a reset has left, bring back all that it took away.

    Streamlit takes the parameters out of the address one after the other, each time with an entry in the history. So
    the step may lead to an address that holds a part of what there was; and what lies in the session alone is in none.
    Called before any widget exists, in the run that such a step starts and in the next: in the first one widgets trust
    the address alone, whatever the session says.

    Args:
        shown: what the page showed before the step; None in a run that no such step started.
    """
    last: Reset | None = st.session_state.get(_LAST)
    if st.session_state.pop(_WENT_BACK, False):
        undo_reset()
    elif last is not None and shown in (last.before, last.after):
        bound = params.PARAMS.keys() - params.UNBOUND.keys()
        texts = params.write_changed({key: last.had.values[key] for key in bound & last.had.values.keys()})
        linked = {key: st.query_params.get_all(key) for key in bound if key in st.query_params}
        if linked == texts:
            undo_reset()
            del st.session_state[_LAST]
        elif linked and all(texts.get(key) == each for key, each in linked.items()):
            st.session_state[_WENT_BACK] = True
            st.rerun()
