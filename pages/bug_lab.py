"""Bug lab: find the mistake."""

import streamlit as st

from playground.mistakes import bug_lab
from playground.mistakes.edits import run_edited
from playground.views.bug_lab import lab_scene, show_bug_lab
from playground.web.choices.setup import current_value
from playground.web.shared import panels
from playground.web.shared.renderer import draw_view

panels.draw_heading("Where is the mistake?")
st.session_state.update({key: current_value(key) for key in ("lab_seed", "lab_tests", "lab_accused")})  # have no widget
draw_view("bug-lab", show_bug_lab, lab_scene, ())
panels.code_behind("bug_lab", bug_lab.open_case, run_edited)
