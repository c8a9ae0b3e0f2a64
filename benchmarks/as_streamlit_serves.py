"""The app without the layers that compress the front end's files and ask for the charts' code early."""

from pathlib import Path

import streamlit as st

import streamlit_app

app = st.App(
    Path(streamlit_app.__file__).parent / "playground" / "web" / "app.py",
    lifespan=streamlit_app.lifespan,
    middleware=[streamlit_app.SECURITY_HEADERS, *streamlit_app.AROUND],
)
