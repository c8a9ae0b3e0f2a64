"""The one small menu of every chart: PNG, SVG, PDF, and its numbers as CSV.

A file is made when its button is pressed, by the server, in a thread of its own: no run of the page waits for it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from playground.export.figure_numbers import numbers_of
from playground.export.tables import write_csv
from playground.web.session.downloads import in_turn
from playground.web.shared.saving.current_link import current_link
from playground.web.shared.saving.frame_snippet import write_snippet

_MIMES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}

MOST_CELLS = 5_000_000
"""Of a picture: every head of the trained model on its longest sentence. It takes 100 bytes a cell on its way."""

_CELLS_A_SECOND = 2_000_000
"""What is drawn in a second, about."""

_ABOUT = (
    "PNG for slides; SVG and PDF, which stay sharp at any size, for papers. All are drawn for white paper with this "
    "caption, and the file holds the link to this view."
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


AS_SHOWN = Saved()
"""What the page shows, under the chart's key."""


def draw_save_menu(key: str, figure: Callable[[], go.Figure], *, caption: str, title: str, saved: Saved) -> None:
    """Draw the menu of the chart of this key; what is in it is made when it is opened."""
    menu = st.popover(
        "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}_save_menu", on_change="rerun"
    )
    if not menu.open:
        return
    n_cells = saved.n_cells
    drawn, name, link = saved.picture or figure, file_name(saved.file or key), current_link()
    with menu, st.container(horizontal=True, gap="small"):
        for file_format, mime in _MIMES.items() if n_cells <= MOST_CELLS else ():
            st.download_button(
                file_format.upper(),
                in_turn(partial(_draw_file, drawn, file_format, caption, title, link), 0.3 + n_cells / _CELLS_A_SECOND),
                f"{name}.{file_format}",
                mime,
                key=f"{key}_save_{file_format}",
                on_click="ignore",
            )
        if not saved.no_numbers:
            rows = saved.numbers or partial(_numbers_of, figure)
            st.download_button(
                "CSV",
                in_turn(partial(_write_csv, rows)),
                f"{name}.csv",
                "text/csv",
                key=f"{key}_save_csv",
                on_click="ignore",
            )
    about = _ABOUT if n_cells <= MOST_CELLS else f"Its {n_cells:,} cells are too many for a picture. {_FEWER_CELLS}"
    menu.caption(f"{about} {saved.no_numbers or 'CSV has the numbers.'}")
    menu.caption("To show this chart in a course page or on a slide, as a frame that stays alive:")
    menu.code(write_snippet(key, link, title, int(figure().layout.height or 400)), language="html", wrap_lines=True)


def file_name(name: str) -> str:
    """A name that any system takes for a file: `layer 3, head 1` becomes `layer3_head1`."""
    return re.sub("[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z]) (?=\d)", "", name.lower())).strip("_")


def _draw_file(figure: Callable[[], go.Figure], file_format: Any, caption: str, title: str, link: str) -> bytes:
    from playground.export.pictures.draw_picture import draw_picture  # half a second, and half the visitors need none

    return draw_picture(figure(), file_format, caption=caption, title=title, link=link)


def _numbers_of(figure: Callable[[], go.Figure]) -> list[list[Any]]:
    return numbers_of(figure())


def _write_csv(rows: Callable[[], Sequence[Sequence[Any]]]) -> bytes:
    return write_csv(rows())
