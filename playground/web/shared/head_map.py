"""One head's attention as a large map with the focus framed in it, and every head's as a grid of thumbnails."""

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from playground.figures import attention as figures
from playground.figures.theme import token_table
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.components.charts import CellFrame, clicked_cell
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.saving import Saved

Mask = NDArray[np.bool_]


def draw_head_map(
    key: str, run: Run, pattern: Array, visible: Mask, focus: Focus | None, scale: figures.WeightScale | None, *,
    caption: str, alt: str, file: str = "",
) -> None:  # fmt: skip
    """Show weights (T, T) between visible tokens (T,), queries in rows; a click on a cell moves the focus there.

    Without a scale, the numbers are differences of weights. Without a focus, no cell is framed and no click counts.
    `file` is how saved files are called, without their ending; else as the key.
    """
    shown = np.flatnonzero(visible).tolist()
    overlay = None
    if focus is not None:
        overlay = frame_cell(
            key,
            focus,
            rows=Cells.of("query", shown),
            columns=Cells.of("key", shown),
            label="The chosen query, in its row, and key, in its column. Arrow keys move them.",
        )
    panels.chart(
        key,
        figures.head_heatmap(
            pattern,
            run.tokens,
            _drawn_cells(run),
            shown=visible,
            scale=scale,
            signed=scale is None,
            magnitude=1.0 if scale is None else None,
            bar="weight" if scale else "difference",
        ),
        caption=caption,
        alt=alt,
        overlay=overlay,
        table=lambda: token_table(pattern, run.tokens).loc[visible, visible],
        saved=Saved(file),
    )


def has_grey_cells(run: Run, visible: Mask) -> bool:
    """Whether the map leaves out cells between visible tokens, as they are masked or their query is padding."""
    return not _drawn_cells(run)[np.ix_(visible, visible)].all()


def _drawn_cells(run: Run) -> Mask:
    """Cells (T, T) that have a colour."""
    return run.allowed & ~run.padding[:, None]


def head_picker(
    key: str,
    figure: go.Figure,
    shape: tuple[int, int],
    selected: tuple[int, int],
    *,
    places: tuple[str, str],
    caption: str,
    alt: str,
    saved: Saved,
) -> None:
    """Show `figures.attention.head_grid` as `panels.chart` does; a click sets layer and head.

    `shape` counts layers and heads; the `selected` layer and head have a frame; `places` are the keys of what is set:
    those of the focus, or of a page that looks at another model than the sidebar's and so has its own. `saved` is as
    `saved_heads` makes it.
    """
    n_layers, n_heads = shape
    panels.chart(
        key,
        figure,
        caption=caption,
        alt=alt,
        saved=saved,
        overlay=CellFrame(
            key,
            selected,
            range(n_layers),
            range(n_heads),
            partial(_open_clicked, key, places, shape),
            label=f"Layer {selected[0]}, head {selected[1]} is open. Arrow keys open its neighbours.",
            is_mosaic=True,
        ),
    )


def _open_clicked(key: str, places: tuple[str, str], shape: tuple[int, int]) -> None:
    """Set layer and head to those of the clicked thumbnail."""
    for place, number, count in zip(places, clicked_cell(key), shape, strict=True):
        if number is not None and 0 <= number < count:
            st.session_state[place] = number
