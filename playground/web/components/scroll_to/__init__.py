"""A component without a picture: the browser scrolls to another part of the page."""

import streamlit as st

from playground.web.components.load_component import load_component
from playground.web.components.moment import moment

_scroll = load_component("scroll_to")

_REQUESTED = "_scroll_requested"
"""Session key of the container that the next page to be drawn scrolls to."""


def scroll_to(key: str, clear: str = "5rem", *, on_phone: str | None = None) -> None:
    """Scroll once to the container with this key; drawn in the run that follows the visitor's press alone.

    Args:
        key: the container's. It comes to the middle of the window, or with its top to the window's where it is tall.
        on_phone: the container's in a window that is as narrow as a phone's, where it is another.
        clear: how far below the window's top that is, as CSS writes lengths: what stays there covers the page.
    """
    _scroll(key="scroll_to", data={"target": key, "onPhone": on_phone or key, "clear": clear, "moment": moment()})


def request_scroll(key: str) -> None:
    """Have the page that is drawn next scroll to the container with this key; for callbacks that open another page."""
    st.session_state[_REQUESTED] = key


def scroll_as_requested() -> None:
    """Scroll to where the page before this one asked to, if it did."""
    key = st.session_state.pop(_REQUESTED, None)
    if key is not None:
        scroll_to(key)
