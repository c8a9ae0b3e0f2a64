"""The residual stream's sizes and angles as pictures. Legend: L layers, T tokens; a depth counts the blocks passed."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import (
    Array,
    draw_figure,
    ghost_entry,
    ghost_line,
    line_in_band,
)

PARTS = {
    "residual": ("residual stream", palette.RESIDUAL),
    "attention": ("attention", palette.ATTENTION),
    "feed-forward": ("feed-forward", palette.FEED_FORWARD),
}
"""How the parts are called on a page, and their colours."""

LOGARITHMIC_FROM = 100
"""Where the largest value is this many times the smallest, an axis is logarithmic: small ones would not be seen."""


def norms_by_layer(
    lengths: Mapping[str, Array], pinned: Mapping[str, Array] | None = None, pinned_name: str = ""
) -> go.Figure:
    """Mean length over tokens by depth, a line a part, with a band from the 10th to the 90th percentile.

    Lengths are (L + 1, T) for the residual stream and (L, T) for the outputs of the sublayers. Those of another run, of
    another L and T, are dashed lines without bands on the same axes.
    """
    sides = [lengths] if pinned is None else [lengths, pinned]
    n_depths = max(len(side["residual"]) for side in sides)
    traces: list[go.Scatter] = []
    for part, values in lengths.items():
        name, colour = PARTS[part]
        low, high = np.percentile(values, [10, 90], axis=1).astype(np.float32)
        hover = "%{y:.4g} (80 % of tokens: %{customdata[0]:.4g} … %{customdata[1]:.4g})"
        means = values.mean(axis=1)
        traces += line_in_band(
            _depths(lengths, part), means, low, high, colour, _faint(colour), hover, name=name, marker=6
        )
    if pinned is not None:
        traces += _ghost_lines(pinned, pinned_name)
    return draw_figure(
        traces,
        height=380,
        legend=True,
        x_axis={"title": "blocks passed (0 = embeddings)", **_whole_ticks(n_depths), "zeroline": False},
        y_axis=_length_axis(np.concatenate([v.mean(axis=1) for side in sides for v in side.values()]), "mean L2 norm"),
        hovermode="x unified",
    )


def _ghost_lines(lengths: Mapping[str, Array], side: str) -> list[go.Scatter]:
    """Another run's mean lengths as dotted lines, and one entry of the legend for all of them."""
    lines = [
        ghost_line(_depths(lengths, part), values.mean(axis=1), PARTS[part][1], "%{y:.4g}", PARTS[part][0], side)
        for part, values in lengths.items()
    ]
    return [*lines, ghost_entry(side)]


def _depths(lengths: Mapping[str, Array], part: str) -> NDArray[np.intp]:
    """How many blocks were passed at each of a part's lengths: sublayers have none at the embeddings."""
    n_depths = len(lengths["residual"])
    return np.arange(n_depths - len(lengths[part]), n_depths)


def _length_axis(values: NDArray[np.floating], title: str) -> dict[str, object]:
    if _is_logarithmic(values):
        return {"title": f"{title} (log scale)", "type": "log", "exponentformat": "power"}
    return {"title": title, "rangemode": "tozero"}


def _is_logarithmic(values: NDArray[np.floating]) -> bool:
    positive = values[values > 0]
    return positive.size > 0 and bool(positive.max() > LOGARITHMIC_FROM * positive.min())


def _whole_ticks(n: int) -> dict[str, object]:
    """Ticks at whole numbers, however few or many there are."""
    return {"tickmode": "linear", "tick0": 0, "dtick": max(1, n // 12)}


def _faint(colour: str) -> str:
    """A palette colour, `#rrggbb`, as a band that others show through."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, 0.16)"
