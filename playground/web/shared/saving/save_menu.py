"""The one small menu of every chart: PNG, SVG, PDF, and its numbers as CSV.

The browser draws a picture when its button is pressed. The server makes a CSV file then, in a thread of its own.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from playground.export.figure_numbers import numbers_of
from playground.export.plain_text import plain_caption
from playground.export.tables import write_csv
from playground.web.components.save_picture import draw_picture_buttons
from playground.web.server.picture_libraries import libraries_path
from playground.web.session.downloads import in_turn
from playground.web.shared.saving.current_link import current_link
from playground.web.shared.saving.frame_snippet import write_snippet

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


AS_SHOWN = Saved()
"""What the page shows, under the chart's key."""


def draw_save_menu(key: str, figure: Callable[[], go.Figure], *, caption: str, title: str, saved: Saved) -> None:
    """Draw the menu of the chart of this key; what is in it is made when it is opened."""
    menu = st.popover(
        "Save this chart", icon=":material/download:", type="tertiary", key=f"{key}_save_menu", on_change="rerun"
    )
    if not menu.open:
        return
    name, link, fits = file_name(saved.file or key), current_link(), saved.n_cells <= MOST_CELLS
    with menu, st.container(horizontal=True, gap="small"):
        if fits:
            drawn = (saved.picture or figure)()
            note = drawn.layout.meta or ""
            draw_picture_buttons(
                f"{key}_save_picture",
                drawn,
                name=name,
                caption=plain_caption(caption if note in caption else f"{caption} {note}"),
                title=title,
                link=link,
                libraries=libraries_path(),
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
    about = _ABOUT if fits else f"Its {saved.n_cells:,} cells are too many for a picture. {_FEWER_CELLS}"
    menu.caption(f"{about} {saved.no_numbers or 'CSV has the numbers.'}")
    menu.caption("To show this chart in a course page or on a slide, as a frame that stays alive:")
    menu.code(write_snippet(key, link, title, int(figure().layout.height or 400)), language="html", wrap_lines=True)


def file_name(name: str) -> str:
    """A name that any system takes for a file: `layer 3, head 1` becomes `layer3_head1`."""
    return re.sub("[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z]) (?=\d)", "", name.lower())).strip("_")


def _numbers_of(figure: Callable[[], go.Figure]) -> list[list[Any]]:
    return numbers_of(figure())


def _write_csv(rows: Callable[[], Sequence[Sequence[Any]]]) -> bytes:
    return write_csv(rows())
