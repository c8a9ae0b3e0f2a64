"""What followed from changes of the computation: how far vectors have moved from those of the untouched run."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.heatmap import add_frame, colour_bar, heatmap
from playground.figures.theme import token_labels
from playground.runs.arrays import Array

Places = Iterable[tuple[int, int | None]]
"""Where changes were made: the first depth that they reach, and a token, or None for all of them."""

_WIDE = 9
"""Pixels of a frame around a single cell: it is seen around the focus's frame, and within it, where both are one."""


def vector_changes(relative: Array, tokens: Sequence[str], places: Places = ()) -> go.Figure:
    """How far each token's vector has moved at each depth, (L + 1, T), in lengths of the vector before."""
    hover = "%{x} after %{y} blocks: moved by %{z:.3g} of its length"
    return _by_depth(relative, tokens, places, hover, "moved by", zmin=0)


def vector_cosines(cosine: Array, tokens: Sequence[str], places: Places = ()) -> go.Figure:
    """The cosine between each token's vector before and after, at each depth, (L + 1, T); a stronger colour is less."""
    hover = "%{x} after %{y} blocks: cosine %{z:.4f}"
    low = float(np.nanmin(cosine, initial=1))
    ends: dict[str, Any] = {"zmin": min(low, 1 - 1e-6), "zmax": 1, "reversescale": True}
    return _by_depth(cosine, tokens, places, hover, "cosine", **ends)


def _by_depth(numbers: Array, tokens: Sequence[str], places: Places, hover: str, bar: str, **colours: Any) -> go.Figure:
    figure = heatmap(
        numbers,
        hover,
        height=int(np.clip(170 + 26 * len(numbers), 280, 620)),
        bar=colour_bar(bar),
        x=token_labels(tokens),
        y=np.arange(len(numbers)),
        x_axis={"title": "token", "type": "category", "tickangle": -55},
        y_axis={"title": "blocks passed", "dtick": max(1, len(numbers) // 8)},
        **colours,
    )
    for depth, token in places:
        columns = (0, len(tokens) - 1) if token is None else (token, token)
        width = _WIDE if columns[0] == columns[1] else 3
        add_frame(figure, (depth, depth), columns, palette.CHANGE, width=width)
    return figure
