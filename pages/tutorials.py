"""The five tutorials: side by side, their numbers against each other, and each with its mistakes made again."""

import streamlit as st

from playground.web.choices.setup import current_setup
from playground.web.shared import panels
from playground.web.views import tutorials

panels.heading("Which of the five tutorials would give me different numbers?")
seed = current_setup()["seed"]
tutorials.show_answer(seed)
st.header("What they do")
tutorials.show_properties()
st.header("Where the numbers part, and why")
tutorials.show_differences(seed)
st.header("One by one")
tutorials.show_tutorial()
