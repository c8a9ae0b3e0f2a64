"""A text that a button puts in the place of the visitor's, and a browser that reports the old one late.

Every request of a browser holds what its fields say. One that left before the browser heard of the new text would undo
it.
"""

from time import monotonic

import streamlit as st

from playground.web.choices.setup import current_value

LATE = 5.0
"""Seconds for which a field that says the old text is late; after them, somebody wants it back."""

_REPLACED = "_text_replaced"
"""Session key of the old text, the new one, and when it took the other's place."""


def replace_text(text: str) -> None:
    """Put a text in the place of the visitor's."""
    st.session_state[_REPLACED] = (current_value("text"), text, monotonic())
    st.session_state["text"] = text


def is_late(text: str) -> bool:
    """Whether a field that says this has not heard yet that a button replaced it."""
    old, _, when = st.session_state.get(_REPLACED, (None, None, 0.0))
    return bool(text == old and monotonic() - when < LATE)


def keep_replaced() -> None:
    """Put the new text back where the sidebar's field reported the old one late; any other text is the visitor's."""
    text = st.session_state["text"]
    old, new, _ = st.session_state.get(_REPLACED, (None, None, 0.0))
    if is_late(text):
        st.session_state["text"] = new
    elif text not in (old, new):
        forget_replaced()


def forget_replaced() -> None:
    """Take every text from now on as the visitor's, who has typed another one."""
    st.session_state.pop(_REPLACED, None)
