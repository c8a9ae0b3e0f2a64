"""The five tutorials: side by side, their numbers against each other, and each with its mistakes made again."""

import streamlit as st

from playground.web import panels, state, tutorial_views

panels.heading("Which of the five tutorials would give me different numbers?")
seed = state.current()["seed"]
tutorial_views.answer(seed)
st.subheader("What they do")
tutorial_views.side_by_side()
st.subheader("Where the numbers part, and why")
tutorial_views.parting(seed)
st.subheader("One by one")
tutorial_views.one_by_one()
