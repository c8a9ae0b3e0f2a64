"""The app without the layers that compress the front end's files and ask for the charts' code early."""

from pathlib import Path

import streamlit as st

import streamlit_app
from playground.web.server.front_end import CompressedFiles, EarlyCharts

app = st.App(
    Path(streamlit_app.__file__).parent / "playground" / "web" / "app.py",
    lifespan=streamlit_app.lifespan,
    middleware=[layer for layer in streamlit_app.MIDDLEWARE if layer.cls not in (CompressedFiles, EarlyCharts)],
)
