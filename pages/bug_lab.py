"""Find the mistake that somebody made: an encoder that runs and is wrong, suspects, and tests."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from playground.mistakes import bug_lab
from playground.mistakes.edits import run_edited
from playground.views.bug_lab import lab_scene, show_bug_lab
from playground.web.choices.setup import current_value
from playground.web.components import request_scroll
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.renderer import Live, draw_view


def draw_button(label: str, key: str, values: Mapping[str, Any], scroll: str, **options: Any) -> None:
    """Draw a button that sets parameters of the link and scrolls to a container."""
    st.button(label, key=key, on_click=choose, args=(values, scroll), **{"width": "stretch", **options})


def choose(values: Mapping[str, Any], scroll: str) -> None:
    """Set the parameters; for a callback."""
    st.session_state.update(values)
    request_scroll(scroll, unless_seen=scroll != "answer")


panels.draw_heading("Where is the mistake?")
st.session_state.update({key: current_value(key) for key in ("lab_seed", "lab_tests", "lab_accused")})  # have no widget
with panels.explain_errors(), services().turns.take():
    draw_view("bug-lab", show_bug_lab, lab_scene, (), Live({"lab_button": draw_button}))
panels.code_behind("bug_lab", bug_lab.open_case, run_edited)
