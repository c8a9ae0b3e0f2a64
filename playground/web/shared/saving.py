"""What a visitor takes from a page: charts as pictures and numbers, tables as text, and single charts in frames.

The browser draws a picture when its button is pressed. The server makes a CSV file then, in a thread of its own.

The other charts are not sent, and the rest of the page is not seen. What stays beside the chart is the focus line,
which moves it, the changes that it shows, and what the page has to say of a link that it could not follow.
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

from playground.charts.weights import WeightScale
from playground.export.print_figure import MOST_NUMBERS, all_weights, draw_all_heads, plain_caption
from playground.export.tables import numbers_of, rows_of, write_csv
from playground.link.query import VERSION
from playground.runs.arrays import Array
from playground.web.choices.open_page import current_parameters, parameters_to_copy
from playground.web.choices.setup import current_setup
from playground.web.components.charts import draw_picture_buttons
from playground.web.components.without_picture import show_only
from playground.web.server.pictures import libraries_path
from playground.web.session.downloads import in_turn
from playground.web.shared.page_end import as_one_element


def current_link() -> str:
    """The whole address, with what differs from the defaults and the link's version."""
    texts = parameters_to_copy(current_setup()) | current_parameters() | {"v": [VERSION]}
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path, urlencode(texts, doseq=True), ""))


ROOM = 260
"""Pixels that the focus line, a caption of a few lines and the way out take beside a chart."""


def write_snippet(key: str, link: str, title: str, height: int) -> str:
    """A frame with the chart of this key and what moves it, as `single_chart` shows it.

    Args:
        key: the chart's.
        link: to the view, with its query.
        title: what the chart shows, for whoever cannot see it.
        height: of the chart, in pixels.
    """
    source = f"{link}&{urlencode({'embed': 'true', 'only': key})}"
    attributes = f'title="{escape(title)}" width="100%" height="{height + ROOM}" loading="lazy" style="border: 0"'
    # In an attribute, HTML reads a plain `&` before a name and `=` as it is; other readers take `&amp;` for a name.
    return f'<iframe src="{escape(source).replace("&amp;", "&")}"\n        {attributes}></iframe>'


MOST_CELLS = 5_000_000
"""Of a picture: every head of the trained model on its longest sentence, 1.3 bytes a cell on their way."""

_ABOUT = (
    "PNG for slides; SVG and PDF, which stay sharp at any size, for papers. Your browser draws them for white "
    "paper, with this caption and the link to this view."
)

_FEWER_CELLS = f"At most {MOST_CELLS:,} fit: fewer layers, or a shorter sentence."


@dataclass(frozen=True)
class Saved:
    """What a chart's menu saves, where that is not what the page shows under the chart's key."""

    file: str = ""
    """Name of the files, without their ending: small letters, digits and underscores."""
    picture: Callable[[], go.Figure] | None = None
    """Draws the figure of the picture."""
    numbers: Callable[[], list[list[Any]]] | None = None
    """Makes the rows of the CSV file, a header first."""
    no_numbers: str = ""
    """A sentence instead of the CSV file."""
    n_cells: int = 0
    """Cells of the picture, where they are many."""


def draw_save_menu(key: str, figure: Callable[[], go.Figure], *, caption: str, title: str, saved: Saved) -> None:
    """Draw the menu of the chart of this key; what is in it is made when it is opened."""
    menu = st.popover(
        "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}_save_menu", on_change="rerun"
    )
    if not menu.open:
        return
    name, link, fits, shown = file_name(saved.file or key), current_link(), saved.n_cells <= MOST_CELLS, figure()
    with menu, st.container(horizontal=True, gap="small"):
        if fits:
            draw_picture_buttons(
                f"{key}_save_picture",
                saved.picture() if saved.picture else shown,
                name=name,
                caption=plain_caption(caption),
                title=title,
                link=link,
                libraries=libraries_path(),
            )
        if not saved.no_numbers:
            rows = saved.numbers or (lambda: numbers_of(figure()))
            st.download_button(
                "CSV",
                in_turn(lambda: write_csv(rows())),
                f"{name}.csv",
                "text/csv",
                key=f"{key}_save_csv",
                on_click="ignore",
            )
    about = _ABOUT if fits else f"Its {saved.n_cells:,} cells are too many for a picture. {_FEWER_CELLS}"
    menu.caption(f"{about} {saved.no_numbers or 'CSV has the numbers.'}")
    menu.caption(
        "To show this chart in a course page or on a slide, as a live embed. Browsers show it on the sites that this "
        "server's operator has listed, and nothing elsewhere:"
    )
    menu.code(write_snippet(key, link, title, int(shown.layout.height or 400)), language="html", wrap_lines=True)


def file_name(name: str) -> str:
    """A name that any system takes for a file: `layer 3, head 1` becomes `layer3_head1`."""
    return re.sub("[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z]) (?=\d)", "", name.lower())).strip("_")


def draw_table_button(key: str, table: pd.DataFrame) -> None:
    """Draw the button that saves a table which the page shows under this key."""
    st.download_button(
        "CSV",
        in_turn(lambda: write_csv(rows_of(table))),
        f"{file_name(key)}_numbers.csv",
        "text/csv",
        key=f"{key}_copy_csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def saved_heads(
    file: str,
    patterns: Callable[[], Array],
    queries: Sequence[str],
    keys: Sequence[str],
    n_heads: int,
    scale: WeightScale,
) -> Saved:
    """All heads as one figure at page width, and their weights.

    Args:
        file: what the files are called, without their ending.
        patterns: makes the weights (L, H, Tq, Tk), when a file is asked for.
        queries: the queries' tokens.
        keys: the keys' tokens.
        n_heads: how many there are in all layers.
        scale: how weights become colours.
    """
    n = n_heads * len(queries) * len(keys)
    many = "" if n <= MOST_NUMBERS else f"Its {n:,} weights are too many for a CSV file."

    def picture() -> go.Figure:
        return go.Figure(draw_all_heads(patterns(), scale))

    def numbers() -> list[list[Any]]:
        return all_weights(patterns(), queries, keys)

    return Saved(file, picture, numbers, many, n)


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
    """The key of the chart that the address asks for; None where the whole page is shown."""
    asked = st.query_params.get("only")
    if asked is None or not st.context.is_embedded:
        return None
    return MAIN_CHARTS.get(asked, asked)


@as_one_element
def begin_page() -> None:
    """Hide what is not the asked chart; before the page draws anything."""
    st.session_state[_DRAWN] = []
    asked = asked_chart()
    if asked is not None:
        shown = [asked, "focus_line", "change_chips_line", _NOTE]
        show_only([key for key in shown if re.fullmatch(r"[a-z0-9_]+", key)])


def is_left_out(key: str) -> bool:
    """Whether the chart of this key stays unsent; notes that the page has it."""
    drawn = st.session_state.setdefault(_DRAWN, [])
    if key not in drawn:
        drawn.append(key)
    asked = asked_chart()
    return asked is not None and asked != key


def draw_way_out(key: str) -> None:
    """Below the asked chart, a way to the whole page as it is now; elsewhere nothing."""
    if asked_chart() == key:
        _draw_link()


def end_page() -> None:
    """Say which charts there are, where the address asks for another one; after the page has drawn all."""
    asked = asked_chart()
    if asked is None or asked in st.session_state[_DRAWN]:
        return
    known = ", ".join(f"`{key}`" for key in st.session_state[_DRAWN])
    with st.container(key=_NOTE):
        st.info(
            f"The chart that this frame asks for is not on the page now. There are {known}."
            if known
            else "No chart is on this page now that could stand in a frame alone."
        )
        _draw_link()


def _draw_link() -> None:
    st.caption(f"[Open in the playground]({current_link()})")
