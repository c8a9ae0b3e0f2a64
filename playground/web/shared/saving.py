"""Saving: charts as pictures, numbers as CSV files, and single charts in frames.

Plotly draws a picture in the browser, and the server makes a CSV file when its button is pressed. In a frame only one
chart is sent; the focus line, the changes and the notices of its page stay beside it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.export.tables import MOST_WEIGHTS, all_weights, numbers_of, rows_of, write_csv
from playground.link.query import VERSION
from playground.runs.arrays import Array
from playground.web.choices.open_page import current_parameters, parameters_to_copy
from playground.web.choices.setup import current_setup
from playground.web.components.drawings import draw_picture_buttons
from playground.web.components.without_picture import show_only
from playground.web.session.services import services
from playground.web.shared.page_end import as_one_element


def current_link() -> str:
    """Return the whole address, with what differs from the defaults and the link's version."""
    texts = parameters_to_copy(current_setup()) | current_parameters() | {"v": [VERSION]}
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path, urlencode(texts, doseq=True), ""))


ROOM = 260
"""Pixels for the focus line, a caption and the link beside a chart."""


def write_snippet(key: str, link: str, title: str, height: int) -> str:
    """Return a frame with the chart of this key, of `height` pixels; `title` says what it shows."""
    source = f"{link}&{urlencode({'embed': 'true', 'only': key})}"
    attributes = f'title="{escape(title)}" width="100%" height="{height + ROOM}" loading="lazy" style="border: 0"'
    # In an attribute, HTML reads a plain `&` before a name and `=` as it is; other readers take `&amp;` for a name.
    return f'<iframe src="{escape(source).replace("&amp;", "&")}"\n        {attributes}></iframe>'


@dataclass(frozen=True)
class Saved:
    """What a chart's menu saves."""

    file: str = ""
    """File name without its ending: small letters, digits and underscores; empty means the chart's key."""
    numbers: Callable[[], list[list[Any]]] | None = None
    """Makes the rows of the CSV file, a header first; None means the figure's numbers."""
    no_numbers: str = ""
    """A sentence instead of the CSV file."""
    has_picture: bool = True
    """Whether Plotly draws the chart."""


def draw_save_menu(key: str, figure: Callable[[], go.Figure], *, title: str, saved: Saved) -> None:
    """Draw the menu of the chart of this key; its content is made when it is opened."""
    menu = st.popover(
        "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}_save_menu", on_change="rerun"
    )
    if not menu.open:
        return
    name = file_name(saved.file or key)
    with menu, st.container(horizontal=True, gap="small"):
        if saved.has_picture:
            draw_picture_buttons(f"{key}_save_picture", chart=key, name=name)
        if not saved.no_numbers:
            _draw_csv_button(f"{key}_save_csv", name, saved.numbers or (lambda: numbers_of(figure())))
    picture = "PNG and SVG are the chart as you see it." if saved.has_picture else ""
    menu.caption(f"{picture} {saved.no_numbers or 'CSV has the numbers.'}")
    menu.caption("As a live embed, on the sites that this server's operator has listed:")
    snippet = write_snippet(key, current_link(), title, int(figure().layout.height or 400))
    menu.code(snippet, language="html", wrap_lines=True)


def file_name(name: str) -> str:
    """Return a file name for any system: `layer 3, head 1` becomes `layer3_head1`."""
    return re.sub("[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z]) (?=\d)", "", name.lower())).strip("_")


def draw_table_button(key: str, table: pd.DataFrame) -> None:
    """Draw the button that saves a table of the page."""
    _draw_csv_button(f"{key}_copy_csv", f"{file_name(key)}_numbers", lambda: rows_of(table))


def _draw_csv_button(key: str, name: str, rows: Callable[[], list[list[Any]]]) -> None:
    st.download_button(
        "CSV", services().turns.defer(lambda: write_csv(rows())), f"{name}.csv", "text/csv", key=key, on_click="ignore"
    )


def saved_heads(
    file: str, patterns: Callable[[], Array], queries: Sequence[str], keys: Sequence[str], n_heads: int
) -> Saved:
    """Return the picture of a grid of heads, and all their weights as numbers.

    Args:
        file: file name without its ending.
        patterns: makes the weights (L, H, Tq, Tk).
        queries: the queries' tokens.
        keys: the keys' tokens.
        n_heads: of all layers together.
    """
    n = n_heads * len(queries) * len(keys)
    many = "" if n <= MOST_WEIGHTS else f"Its {n:,} weights are too many for a CSV file."
    return Saved(file, lambda: all_weights(patterns(), queries, keys), many)


MAIN_CHARTS = {
    "attention": "attention_pattern",
    "norms": "norms_by_layer",
    "parameters": "parameter_breakdown",
    "similarity": "similarity_matrix",
}
"""A page's path, which stands for its main chart in `only`."""

_NOTE = "single_chart"
"""Key of what the frame says beside the chart."""

_DRAWN = "_charts_of_page"
"""Session key of the charts that the last rerun of the page has."""


def asked_chart() -> str | None:
    """Return the key of the chart that the address asks for; None for the whole page."""
    asked = st.query_params.get("only")
    if asked is None or not st.context.is_embedded:
        return None
    return MAIN_CHARTS.get(asked, asked)


@as_one_element
def begin_page() -> None:
    """Hide all but the asked chart, before the page draws anything."""
    st.session_state[_DRAWN] = []
    asked = asked_chart()
    if asked is not None:
        shown = [asked, "focus_line", "change_chips_line", _NOTE]
        show_only([key for key in shown if re.fullmatch(r"[a-z0-9_]+", key)])


def is_left_out(key: str) -> bool:
    """Return whether the chart of this key is not sent; notes that the page has it."""
    drawn = st.session_state.setdefault(_DRAWN, [])
    if key not in drawn:
        drawn.append(key)
    asked = asked_chart()
    return asked is not None and asked != key


def draw_way_out(key: str) -> None:
    """Draw a link to the whole page below the asked chart."""
    if asked_chart() == key:
        _draw_link()


def end_page() -> None:
    """Say which charts there are if the address asks for another one, after the page has drawn all."""
    asked = asked_chart()
    if asked is None or asked in st.session_state[_DRAWN]:
        return
    known = ", ".join(f"`{key}`" for key in st.session_state[_DRAWN])
    with st.container(key=_NOTE):
        st.info(f"The chart that this frame asks for is not on the page now. There are: {known or 'none'}.")
        _draw_link()


def _draw_link() -> None:
    st.caption(f"[Open in the playground]({current_link()})")
