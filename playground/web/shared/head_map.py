"""Every head's attention as a grid of thumbnails, of which a click opens one."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from playground.web.components.charts import CellFrame, clicked_cell
from playground.web.shared import panels
from playground.web.shared.saving import Saved


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
