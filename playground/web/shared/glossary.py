"""The field's words as this app uses them, in `glossary.md`, and a panel that explains them on every page."""

from pathlib import Path

import streamlit as st

GLOSSARY = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
"""A paragraph of markdown for each term, in alphabetical order."""


def draw_glossary() -> None:
    """An expander with every term; its text is sent only while it is open."""
    panel = st.expander("Glossary", icon=":material/menu_book:", key="glossary", on_change="rerun")
    if panel.open:
        panel.markdown(GLOSSARY)
