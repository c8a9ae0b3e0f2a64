"""What neither the theme nor a widget's options can say about the look of a page."""

from pathlib import Path

import streamlit as st

_STYLE = Path(__file__).parent / "page_style.css"


def apply_page_style() -> None:
    """Send the style sheet to the browser; it takes no room on the page."""
    st.html(_STYLE)
