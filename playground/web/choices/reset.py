"""Everything back at its start, and from there back to what it was: by a button, or by a step back in the browser."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from playground.link import params
from playground.web.choices import pinned, shortcuts
from playground.web.choices.setup import Setup, current_setup, focus_text, is_focus_chosen, note_focus_text

_LAST = "_last_reset"
"""Session key of the last `Reset`."""

_WENT_BACK = "_went_back"
"""Session key of whether a step back has just led to a part of what the reset took away."""


@dataclass(frozen=True)
class Reset:
    """All that a reset took away."""

    values: Mapping[str, Any]
    """Of the parameters that the session had, by key."""
    focus_text: str
    is_focus_chosen: bool
    """By the visitor or a link, and not by the page."""
    pinned: Mapping[str, Any] | None
    put_away: Mapping[str, Any]
    """Values that other choices hide or lock."""
    before: Setup
    after: Setup
    is_undone: bool = False


def reset_everything() -> None:
    """Set every parameter to its default, and pin nothing; files and networks stay open. For callbacks."""
    before, text, is_chosen = current_setup(), focus_text(), is_focus_chosen()
    pinned_before, put_away = pinned.pinned_values(), shortcuts.put_away()
    values = {key: st.session_state[key] for key in params.PARAMS if key in st.session_state}
    shortcuts.restore_put_away({})
    pinned.unpin()
    note_focus_text(params.DEFAULT_TEXT, by_page=True)
    st.session_state.update({key: params.PARAMS[key].default for key in values})
    st.session_state[_LAST] = Reset(values, text, is_chosen, pinned_before, put_away, before, current_setup())


def can_undo(setup: Setup) -> bool:
    """Whether everything was reset, and nothing was chosen since."""
    last: Reset | None = st.session_state.get(_LAST)
    return last is not None and last.after == setup and not last.is_undone


def undo_reset() -> None:
    """Bring back all that the last reset took away; for callbacks."""
    last: Reset = st.session_state[_LAST]
    st.session_state.update(last.values)
    note_focus_text(last.focus_text, by_page=not last.is_focus_chosen)
    shortcuts.restore_put_away(last.put_away)
    if last.pinned is not None:
        pinned.pin(last.pinned)
    st.session_state[_LAST] = replace(last, is_undone=True)


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
        texts = params.write_changed({key: last.values[key] for key in bound & last.values.keys()})
        linked = {key: st.query_params.get_all(key) for key in bound if key in st.query_params}
        if linked == texts:
            undo_reset()
            del st.session_state[_LAST]
        elif linked and all(texts.get(key) == each for key, each in linked.items()):
            st.session_state[_WENT_BACK] = True
            st.rerun()
