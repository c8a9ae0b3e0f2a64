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

    The first word of `key`, as in `attention_grid`, also starts the sliders' keys. `shape` counts layers and heads;
    the `selected` layer and head have a frame.
    """
    panels.chart(
        key,
        figure,
        caption=caption,
        alt=alt,
        overlay=partial(draw_head_frame, key, selected, *shape, on_click=partial(_open_clicked, key)),
    )


def _open_clicked(key: str) -> None:
    """Set the page's sliders to the clicked layer and head."""
    page = key.split("_")[0]
    st.session_state[f"{page}_layer"], st.session_state[f"{page}_head"] = st.session_state[f"{key}_frame"].clicked
