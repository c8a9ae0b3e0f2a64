"""Attention patterns and masks as pictures: rows are queries, columns keys.

Legend: L layers, H heads, T tokens. Tq/Tk queries/keys, where they are not the same tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import (
    Array,
    colour_bar,
    heatmap,
    largest,
    signed_colours,
    style,
    text_width,
    token_labels,
)

THUMBNAIL = 22
"""Dots along a thumbnail's side, at most: more would be smaller than a pixel is wide."""

MOST_QUERIES, MOST_KEYS = 40, 20
"""Tokens named along an axis, at most; the others are named where the pointer is. Keys stand in half a page's width."""

_SHADES = 256
"""Shades of a colour scale, as many as a screen has: numbers rounded to them take a quarter of the room on the wire."""

_SLANT = 55
"""Degrees by which the keys' names rise along a heatmap."""


@dataclass(frozen=True)
class WeightScale:
    """How weights become colours: from 0 to `top`; all that is heavier has the last colour."""

    square_root: bool
    """Whether colours follow the square root of the weight, so that faint attention shows too."""
    top: float = 1.0

    def places(self, weights: Array) -> Array:
        """Where weights lie on the scale, from 0 to 1; NaN stays NaN."""
        shares = np.clip(weights / np.float32(self.top), 0, 1)
        places: Array = np.sqrt(shares) if self.square_root else shares
        return places

    def ticks(self, length: float) -> dict[str, Any]:
        """Weights beside a colour bar of this length, as Plotly takes them."""
        shares = np.array([0, 0.05, 0.25, 0.5, 1] if self.square_root else [0, 0.25, 0.5, 0.75, 1], np.float32)
        texts = [f"{weight:.2g}" for weight in shares * np.float32(self.top)]
        return {"tickvals": length * self.places(np.array(texts, np.float32)), "ticktext": texts}


SQUARE_ROOT = WeightScale(square_root=True)


def head_grid(patterns: Array, *, scale: WeightScale = SQUARE_ROOT, labels: bool = True) -> go.Figure:
    """Every head as a thumbnail: rows are layers, columns heads; a stronger colour is a heavier weight.

    One heatmap holds them all, and nothing in it answers the pointer. All thumbnails have equal shares of the picture,
    so that a frame can be laid over one of them, and a click be told from its place.

    Patterns are (L, H, Tq, Tk), weights in 0 … 1; `labels` name heads, layers and weights beside the picture.
    """
    thumbnails = shrink(patterns)
    n_layers, n_heads, height, width = thumbnails.shape
    mosaic = np.zeros((n_layers, height + 1, n_heads, width + 1), dtype=np.uint8)  # an empty row and column after each
    places = np.nan_to_num(scale.places(thumbnails))  # what has left fp32's range has no colour
    mosaic[:, :height, :, :width] = (places * 255).transpose(0, 2, 1, 3)
    mosaic = mosaic.reshape(n_layers * (height + 1), n_heads * (width + 1))
    columns = np.arange(n_heads) * (width + 1) + (width - 1) / 2
    rows = np.arange(n_layers) * (height + 1) + (height - 1) / 2
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "showticklabels": labels}
    bar = colour_bar("weight", **scale.ticks(255))
    x_axis = {"title": "head", "tickvals": columns, "range": [-0.5, mosaic.shape[1] - 0.5]}
    y_axis = {"title": "layer", "tickvals": rows, "range": [mosaic.shape[0] - 0.5, -0.5]}
    figure = go.Figure(
        go.Heatmap(z=mosaic, zmin=0, zmax=255, hoverinfo="skip", showscale=labels, colorbar=bar),
        {
            "xaxis": {**axis, **x_axis, "ticktext": [str(head) for head in range(n_heads)]},
            "yaxis": {**axis, **y_axis, "ticktext": [str(layer) for layer in range(n_layers)]},
            "hovermode": False,
            "dragmode": False,
        },
    )
    return style(figure, height=90 + 44 * n_layers, margin={"l": 38, "r": 64, "b": 48} if labels else None)


def shrink(patterns: Array) -> Array:
    """Patterns (L, H, Tq, Tk) with at most THUMBNAIL dots a side; each dot is the largest weight below it."""
    n_queries, n_keys = patterns.shape[2:]
    block = -(-max(n_queries, n_keys) // THUMBNAIL)
    if block <= 1:
        return patterns
    padded = np.pad(patterns, [(0, 0), (0, 0), (0, -n_queries % block), (0, -n_keys % block)])
    height, width = padded.shape[2] // block, padded.shape[3] // block
    dots: Array = padded.reshape(*patterns.shape[:2], height, block, width, block).max(axis=(3, 5))
    return dots


def head_heatmap(
    pattern: Array,
    tokens: Sequence[str],
    allowed: NDArray[np.bool_],
    *,
    keys: Sequence[str] | None = None,
    shown: NDArray[np.bool_] | None = None,
    scale: WeightScale | None = None,
    signed: bool = False,
    magnitude: float | None = None,
    bar: str = "weight",
    axes: tuple[str, str] = ("query: who asks", "key: attended to"),
    reading: str = "%{y} attends to %{x}",
) -> go.Figure:
    """One pattern, large: who (row) attends to whom (column); what is masked stays grey.

    Args:
        pattern: (Tq, Tk); weights in 0 … 1, scores, or differences.
        tokens: the queries' pieces.
        allowed: (Tq, Tk), False where a query may not look.
        keys: the keys' pieces, where they are not the queries'.
        shown: (T,) bool, the tokens to show, where queries and keys are the same; all of them by default.
        scale: how weights become colours; without it, colours follow the values and end at the largest of them.
        signed: scores or differences: colours diverge from 0.
        magnitude: as of `heatmap`.
        bar: what the colours stand for.
        axes: what rows and columns stand for.
        reading: what a cell says where the pointer is, besides its value.
    """
    columns = token_labels(tokens if keys is None else keys)
    rows = token_labels(tokens)
    values = np.where(allowed, pattern, np.float32(np.nan)).astype(np.float32)
    if shown is not None:
        values = values[np.ix_(shown, shown)]
        rows = columns = [label for label, kept in zip(rows, shown, strict=True) if kept]
    top = largest(np.abs(values)) if scale is None else scale.top
    colours: dict[str, Any] = signed_colours(top) if signed else {"zmin": 0, "zmax": top}
    colours |= {"z": values, "hover": f"{reading}<br>%{{z:.4f}}", "bar": colour_bar(bar)}
    if scale is not None and scale.square_root:
        shades = np.round(scale.places(values) * _SHADES) / np.float32(_SHADES)
        colours |= {"z": shades, "zmax": 1, "bar": colour_bar(bar, **scale.ticks(1))}
        colours |= {"customdata": values, "hover": f"{reading}<br>%{{customdata:.4f}}"}
    slanted = math.ceil(math.sin(math.radians(_SLANT)) * text_width(columns))
    figure = heatmap(
        height=map_height(len(rows)),
        margin={"l": text_width(rows) + 35, "r": 84 if signed else 74, "t": 17, "b": slanted + 44},
        magnitude=magnitude,
        x=columns,
        y=rows,
        x_axis={"type": "category", "nticks": MOST_KEYS, "title": axes[1], "tickangle": -_SLANT},
        y_axis={"type": "category", "nticks": MOST_QUERIES, "title": axes[0]},
        **colours,
    )
    figure.layout.plot_bgcolor = palette.MUTED
    return figure


def map_height(n_queries: int) -> int:
    """Pixels that `head_heatmap` takes for so many rows."""
    return int(np.clip(150 + 22 * n_queries, 320, 620))


def ranked_keys(row: Array, allowed: NDArray[np.bool_], pinned: Array | None = None, *, most: int = 20) -> list[int]:
    """The keys that a query may attend to, from the heaviest weight in its row (T,) down; at most `most`.

    Beside the same row of another run, the heavier of a key's two weights counts.
    """
    weights = row if pinned is None else np.maximum(row, pinned)
    return [int(key) for key in np.argsort(weights)[::-1] if allowed[key]][:most]


def moved_weight_grid(shares: Array) -> go.Figure:
    """The share of its weight that every head has moved between two runs, (L, H) in 0 … 1."""
    return _number_by_head(shares, "%{z:.1%} moved", "share")


def _number_by_head(numbers: Array, hover: str, bar: str, **colours: Any) -> go.Figure:
    return heatmap(
        numbers.astype(np.float32),
        f"layer %{{y}}, head %{{x}}: {hover}",
        height=110 + 34 * len(numbers),
        margin={"l": 38, "r": 54, "b": 48},
        magnitude=1.0,
        xgap=2,
        ygap=2,
        bar=colour_bar(bar),
        x_axis={"title": "head", "dtick": 1},
        y_axis={"title": "layer", "dtick": 1},
        **{"zmin": 0} | colours,
    )
