"""A grid of thumbnails, one a head: a click opens the head, a frame shows which one is open."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from playground.web.components.head_frame import draw_head_frame
from playground.web.shared import panels


def head_picker(
    key: str, figure: go.Figure, shape: tuple[int, int], selected: tuple[int, int], *, caption: str, alt: str
) -> None:
    """Show `figures.attention.head_grid` as `panels.chart` does; a click sets the page's layer and head sliders.

    What `key` begins with, `attention` in `attention_grid`, also starts the sliders' keys. `shape` counts layers and
    heads; the `selected` layer and head have a frame.
    """
    panels.chart(
        key,
        figure,
        caption=caption,
        alt=alt,
        overlay=partial(draw_head_frame, key, selected, *shape),
        on_select=partial(_pick, key, shape[1]),
        selection_mode="points",
    )


def _pick(key: str, n_heads: int) -> None:
    """Set the sliders to the clicked head. A second click on it clears the selection; the head stays open then."""
    points = st.session_state[f"{key}_chart"].selection.points
    last = f"_{key}_picked"
    index = points[0]["point_index"] if points else st.session_state.get(last)
    if index is None:
        return
    st.session_state[last] = index
    page = key.rpartition("_")[0]
    st.session_state[f"{page}_layer"], st.session_state[f"{page}_head"] = divmod(index, n_heads)
