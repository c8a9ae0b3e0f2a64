"""The button that copies a link to the present view, and shows it beside itself."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from playground.limits import MAX_ADDRESS
from playground.web.components.load_component import load_component

_button = load_component("copy_link")

_ANSWERED = "_copy_link_answered"
"""Session key of the number of the last click that a run has answered."""


def draw_copy_link(key: str, version: str, more: Mapping[str, list[str]], *, is_small: bool = False) -> bool:
    """Draw the button, in a fragment of its own; returns whether it was pressed just now.

    The link is read from the address bar when it is pressed.

    The address is right only once every choice before the click has had its run. So a click asks for a run of the
    fragment, which comes after theirs, and the link is read when that has answered.

    A link that is too long for servers is said to be so, and is offered as a file.

    The version of the link's format goes with it, and `more` parameters where the address bar does not have them. A
    small one shows the link only where it could not be copied.
    """
    data = {
        "version": version,
        "more": dict(more),
        "longest": MAX_ADDRESS,
        "answered": st.session_state.get(_ANSWERED),
        "isSmall": is_small,
    }
    return _button(key=key, data=data, on_asked_change=partial(_answer, key)).asked is not None


def _answer(key: str) -> None:
    st.session_state[_ANSWERED] = st.session_state[key].asked
