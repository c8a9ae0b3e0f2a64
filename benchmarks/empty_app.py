"""The least that a Streamlit app can do: a slider and its number."""

import streamlit as st

st.text(st.slider("number", 0, 11, key="number"))
