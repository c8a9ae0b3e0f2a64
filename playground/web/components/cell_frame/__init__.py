"""A frame over one cell of a chart, which neither draws nor sends the chart again.

It also says which cell was clicked, and moves by the arrow keys. Plotly's own selection takes the point that the
pointer hovered over last: a finger hovers over none, so that a tap opened the cell of the tap before; and a heatmap's
cells it cannot select at all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from playground.figures import palette
from playground.web.components.load_component import load_component

_frame = load_component("cell_frame", draws=True)


@dataclass(frozen=True)
class CellFrame:
    """A frame over one cell of a chart, and what a click on another cell does."""

    container: str
    """Key of the chart's container."""
    selected: tuple[int, int] | None
    """The (row, column) to frame; None frames none."""
    rows: range | None
    """What the chart's vertical axis calls its cells; None where one cell, 0, is as high as the chart."""
    columns: range | None
    """What the chart's horizontal axis calls its cells; None where one cell, 0, is as wide as the chart."""
    on_click: Callable[[], None]
    """Runs when a cell is clicked, or the frame is moved; it finds the cell by `clicked_cell`."""
    label: str
    """What the arrow keys move, for whoever cannot see the frame."""
    is_mosaic: bool = False
    """Whether cells are equal shares of the picture, counted from its top left corner."""

    def draw(self) -> None:
        """Draw the frame on the page; called inside the chart's container."""
        data = {
            "container": self.container,
            "selected": self.selected,
            "rows": self.rows and [self.rows[0], self.rows[-1]],
            "columns": self.columns and [self.columns[0], self.columns[-1]],
            "mosaic": self.is_mosaic,
            "label": self.label,
            "colour": palette.FOCUS,
        }
        _frame(key=f"{self.container}_frame", data=data, on_clicked_change=self.on_click)

    def add_to(self, figure: go.Figure) -> go.Figure:
        """The figure with the frame drawn in it, to be saved; the same one where there is none, or a mosaic."""
        if self.selected is None or self.is_mosaic:
            return figure
        framed = go.Figure(figure)  # the page's own may be in a cache
        place: dict[str, Any] = {}
        for letter, at, cells in zip("yx", self.selected, (self.rows, self.columns), strict=True):
            whole = {f"{letter}0": 0, f"{letter}1": 1, f"{letter}ref": f"{letter} domain"}
            place |= {f"{letter}0": at - 0.5, f"{letter}1": at + 0.5} if cells else whole
        framed.add_shape(type="rect", line={"color": palette.FOCUS, "width": 3}, **place)
        return framed


def clicked_cell(container: str) -> tuple[int | None, int | None]:
    """The row and the column that were clicked; None where the browser sent anything else."""
    match st.session_state[f"{container}_frame"].clicked:
        case [int(row), int(column)]:
            return row, column
    return None, None
