"""A frame over one cell of a chart, which neither draws nor sends the chart again.

It also says which cell was clicked, and moves by the arrow keys. Plotly's own selection takes the point that the
pointer hovered over last: a finger hovers over none, so that a tap opened the cell of the tap before; and a heatmap's
cells it cannot select at all.
"""

from collections.abc import Callable

import streamlit as st

from playground.figures import palette
from playground.web.components.load_component import load_component

_frame = load_component("cell_frame", draws=True)


def draw_cell_frame(
    container: str,
    selected: tuple[int, int] | None,
    rows: range | None,
    columns: range | None,
    on_click: Callable[[], None],
    *,
    label: str,
    is_mosaic: bool = False,
) -> None:
    """Frame the selected (row, column) of the chart in this container; called inside it.

    `on_click` runs when a cell is clicked, or the frame is moved; it finds the cell by `clicked_cell`.

    Args:
        container: key of the chart's container.
        selected: the cell to frame; None frames none.
        rows: what the chart's vertical axis calls its cells; None where one cell, 0, is as high as the chart.
        columns: likewise of the horizontal axis.
        on_click: takes the click.
        label: what the arrow keys move, for whoever cannot see the frame.
        is_mosaic: whether cells are equal shares of the picture, counted from its top left corner.
    """
    data = {
        "container": container,
        "selected": selected,
        "rows": rows and [rows[0], rows[-1]],
        "columns": columns and [columns[0], columns[-1]],
        "mosaic": is_mosaic,
        "label": label,
        "colour": palette.FOCUS,
    }
    _frame(key=f"{container}_frame", data=data, on_clicked_change=on_click)


def clicked_cell(container: str) -> tuple[int | None, int | None]:
    """The row and the column that were clicked; None where the browser sent anything else."""
    match st.session_state[f"{container}_frame"].clicked:
        case [int(row), int(column)]:
            return row, column
    return None, None
