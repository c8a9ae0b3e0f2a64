"""What neither the theme nor a widget's options can say about the look of a page."""

from collections.abc import Collection
from pathlib import Path
from string import Template

import streamlit as st

_STYLE = Path(__file__).parent / "page_style.css"
_EMBEDDED = Path(__file__).parent / "embedded.css"
_SINGLE = Template((Path(__file__).parent / "single.css").read_text())


def apply_page_style() -> None:
    """Send the style sheet to the browser, and in a frame (`?embed=true`) the frame's; neither takes room."""
    st.html(_STYLE)
    if st.context.is_embedded:  # as long as the page is open
        st.html(_EMBEDDED)


def show_only(keys: Collection[str]) -> None:
    """Hide everything on the page but notices and containers of these keys: small letters, digits and underscores."""
    st.html(f"<style>{_SINGLE.substitute(shown=', '.join(['.stAlert', *(f'.st-key-{key}' for key in keys)]))}</style>")
