"""The page Bug lab: its turn to compute, and buttons that set the link's parameters."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from playground.views.bug_lab import read_attempt, show_bug_lab
from playground.web.choices.setup import current_value
from playground.web.components.without_picture import request_scroll
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.renderer import WIDGETS, read_options, render

_WITHOUT_WIDGET = ("lab_seed", "lab_tests", "lab_accused")
"""Parameters that only buttons change; the address is written from the session."""


def draw_bug_lab() -> None:
    """Draw the page below its heading."""
    st.session_state.update({key: current_value(key) for key in _WITHOUT_WIDGET})
    options = read_options("lab")
    with panels.explain_errors(), services().turns.take():
        scene = read_attempt(options)
        items = list(show_bug_lab(scene, {}))
    render(items, scene)


def draw_button(label: str, key: str, values: Mapping[str, Any], scroll: str, **options: Any) -> None:
    """Draw a button that sets parameters and scrolls to a container."""
    st.button(label, key=key, on_click=_set, args=(values, scroll), **{"width": "stretch", **options})


def _set(values: Mapping[str, Any], scroll: str) -> None:
    st.session_state.update(values)
    request_scroll(scroll, unless_seen=scroll != "answer")


WIDGETS |= {"lab_button": draw_button}
