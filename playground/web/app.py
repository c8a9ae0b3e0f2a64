"""The main script: it settles the visitor's choices, draws the sidebar, and runs the page."""

import streamlit as st

from playground.web import sidebar, state
from playground.web.address import keep_true
from playground.web.ended import EndedError
from playground.web.navigation import pages

st.set_page_config(page_title="Transformer Encoder Playground", page_icon="🧭", layout="wide")
page = st.navigation(list(pages().values()), position="top")
state.open_page(page.url_path)  # after the navigation, so that a corrected link stays on its page
with st.sidebar:
    fill = sidebar.draw()
try:
    page.run()
except EndedError:
    pass
finally:
    fill()
keep_true("own", state.own_keys(page.url_path))
