"""A grid of thumbnails, one a head: a click opens the head, a frame shows which one is open."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from playground.web.components.head_frame import draw_head_frame
from playground.web.shared import panels


def head_picker(
    key: str,
    figure: go.Figure,
    shape: tuple[int, int],
    selected: tuple[int, int],
    *,
    sliders: tuple[str, str],
    caption: str,
    alt: str,
) -> None:
    """Show `figures.attention.head_grid` as `panels.chart` does; a click sets the sliders of layer and head.

    `shape` counts layers and heads; the `selected` layer and head have a frame; `sliders` are keys.
    """
    panels.chart(
        key,
        figure,
        caption=caption,
        alt=alt,
        overlay=partial(draw_head_frame, key, selected, *shape, on_click=partial(_open_clicked, key, sliders)),
    )


def _open_clicked(key: str, sliders: tuple[str, str]) -> None:
    """Set the sliders to the clicked layer and head."""
    st.session_state.update(zip(sliders, st.session_state[f"{key}_frame"].clicked, strict=True))
