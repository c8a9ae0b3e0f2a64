"""What neither the theme nor a widget's options can say about the look of a page."""

from pathlib import Path

import streamlit as st

_STYLE = Path(__file__).parent / "page_style.css"
_EMBEDDED = Path(__file__).parent / "embedded.css"


def apply_page_style() -> None:
    """Send the style sheet to the browser, and in a frame (`?embed=true`) the frame's; neither takes room."""
    st.html(_STYLE)
    if st.context.is_embedded:  # as long as the page is open
        st.html(_EMBEDDED)
