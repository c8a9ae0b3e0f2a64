"""A table to take along: as a CSV file, or as Markdown or LaTeX to copy."""

from functools import partial

import pandas as pd
import streamlit as st

from playground.export.tables import rows_of, write_csv, write_latex, write_markdown
from playground.web.session.downloads import in_turn
from playground.web.shared.saving.save_menu import file_name

MOST_COPIED = 5_000
"""Cells of a table that is written as text on the page."""


def draw_table_menu(key: str, table: pd.DataFrame) -> None:
    """Draw the menu of a table that the page shows under this key."""
    menu = st.popover(
        "Save or copy", icon=":material/content_copy:", type="tertiary", key=f"{key}_copy", on_change="rerun"
    )
    if not menu.open:
        return
    rows = rows_of(table)
    with menu:
        st.download_button(
            "CSV: all digits",
            in_turn(partial(write_csv, rows)),
            f"{file_name(key)}_numbers.csv",
            "text/csv",
            key=f"{key}_copy_csv",
            on_click="ignore",
        )
        if table.size > MOST_COPIED:
            st.caption(f"{table.size:,} cells are too many to copy as text; the file has them all.")
            return
        st.caption("To copy, with four digits:")
        markdown, latex = st.tabs(["Markdown", "LaTeX"])
        markdown.code(write_markdown(rows), language=None, height=180)
        latex.code(write_latex(rows), language=None, height=180)
