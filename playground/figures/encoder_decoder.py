"""Masks as pictures: who may look at whom."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.heatmap import heatmap
from playground.figures.theme import token_labels

_MOST_TICKS = 8
_MOST_CELLS_WITH_GAPS = 40  # a row; more are a few pixels wide, and the gaps would cover them
_TWO_COLOURS = [[0, palette.MUTED], [0.5, palette.MUTED], [0.5, palette.ATTENTION], [1, palette.ATTENTION]]


def mask_heatmap(
    mask: NDArray[np.bool_], queries: Sequence[str], keys: Sequence[str], axes: tuple[str, str]
) -> go.Figure:
    """One mask (Tq, Tk), small: violet where the query (row) may look at the key (column), grey where it is hidden.

    `axes` name what rows and columns stand for.
    """
    gap = 1 if max(mask.shape) <= _MOST_CELLS_WITH_GAPS else 0
    return heatmap(
        mask.astype(np.uint8),
        "%{y} looks at %{x}: %{z}<br>1 = may, 0 = hidden",
        height=230,
        x=token_labels(keys),
        y=token_labels(queries),
        zmin=0,
        zmax=1,
        colorscale=_TWO_COLOURS,
        xgap=gap,
        ygap=gap,
        bar=None,
        x_axis={"title": f"key: {axes[1]}", "type": "category", **_positions(len(keys))},
        y_axis={"title": f"query: {axes[0]}", "type": "category", **_positions(len(queries))},
    )


def _positions(n_tokens: int) -> dict[str, list[int] | list[str]]:
    """Few ticks, by position: the tokens themselves would not fit, and are in the hover."""
    ticks = range(0, n_tokens, -(-n_tokens // _MOST_TICKS))
    return {"tickvals": [*ticks], "ticktext": [str(tick) for tick in ticks]}
