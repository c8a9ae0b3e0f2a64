"""The pages, by name."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from playground.pages import PAGES

_FOLDER = Path(__file__).resolve().parents[3] / "pages"


def page_named(name: str) -> StreamlitPage:
    """The page of a name, which is its path in the address; the overview's is empty. KeyError: there is none."""
    page = PAGES[name]
    return st.Page(
        _FOLDER / f"{name.replace('-', '_')}.py",
        title=page.title,
        help=page.purpose,
        default=name == "overview",
        url_path=None if name == "overview" else name,
    )


def pages() -> dict[str, StreamlitPage]:
    """Every page by its name. Streamlit looks for each one's file: where one is linked, `page_named` is quicker."""
    return {name: page_named(name) for name in PAGES}
