"""The position table as pictures. Legend: N positions, T tokens, D dimensions."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import (
    PALE,
    Array,
    colour_bar,
    draw_figure,
    ghost_entry,
    ghost_line,
    heatmap,
    line,
    line_in_band,
    signed_colours,
    token_labels,
)

MAX_POSITIONS = 128
"""Rows of the table that are drawn."""

MAX_DIMENSIONS = 256
"""Columns of the table that are drawn."""

CURVES = (palette.EMBEDDINGS, palette.Q, palette.V)
"""Colours of the chosen dimensions."""


def colour_limit(values: Array) -> float:
    """Where the colours end, on either side of zero: 99 % of the numbers lie within."""
    return float(np.percentile(np.abs(values), 99)) or 1.0


def table_heatmap(
    rows: Array, *, height: int = 420, limit: float | None = None, magnitude: float | None = None
) -> go.Figure:
    """The first positions and dimensions of a table (N, D): a row a position, a column a dimension.

    Colours end at ±`limit`, or where `colour_limit` says. Differences have the `magnitude` of what was subtracted.
    """
    drawn = rows[:MAX_POSITIONS, :MAX_DIMENSIONS]
    return heatmap(
        drawn,
        "position %{y}, dimension %{x}: %{z:.4g}",
        height=height,
        bar=colour_bar("value" if magnitude is None else "change"),
        magnitude=magnitude,
        x_axis={"title": "dimension"},
        y_axis={"title": "position"},
        **signed_colours(limit or colour_limit(drawn)),
    )


def dimension_curves(
    rows: Array, dimensions: Sequence[int], pinned: Array | None = None, pinned_name: str = ""
) -> go.Figure:
    """Chosen dimensions of a table (N, D) along the first positions; dotted, those that another table has too."""
    lines, ghosts = [], []
    for i, colour in zip(dimensions, CURVES, strict=False):
        drawn, name = rows[:MAX_POSITIONS, i], f"dimension {i}"
        lines.append(line(np.arange(len(drawn)), drawn, colour, "%{y:.4g}", name=name, marker=4))
        if pinned is not None and i < pinned.shape[1]:
            others = pinned[:MAX_POSITIONS, i]
            ghosts.append(ghost_line(np.arange(len(others)), others, colour, "%{y:.4g}", name, pinned_name))
    ghosts += [ghost_entry(pinned_name)] if ghosts else []
    return _compare([*lines, *ghosts], {"title": "position"}, {"title": "value"}, height=360)


def between_positions(
    matrix: Array, measure: str, *, limit: float | None = None, magnitude: float | None = None
) -> go.Figure:
    """Dot products, or distances, (N, N) between positions; only dot products and differences have a sign.

    Colours end at `limit`, or where `colour_limit` says. Differences have the `magnitude` of what was subtracted.
    """
    limit, is_change = limit or colour_limit(matrix), magnitude is not None
    unsigned = measure == "distance" and not is_change
    return heatmap(
        matrix,
        f"positions %{{y}} and %{{x}}: {measure} %{{z:.4g}}",
        height=420,
        bar=colour_bar("change" if is_change else measure),
        magnitude=magnitude,
        x_axis={"title": "position"},
        y_axis={"title": "position"},
        **({"zmin": 0.0, "zmax": limit} if unsigned else signed_colours(limit)),
    )


def by_offset(
    offsets: pd.DataFrame, measure: str, pinned: pd.DataFrame | None = None, pinned_name: str = ""
) -> go.Figure:
    """Mean over pairs by how far apart they are, with a band from the lowest to the highest; see `analysis`.

    Another table's mean is a dotted line on the same axes.
    """
    apart = offsets.index.to_numpy()
    mean, low, high = (offsets[column].to_numpy(np.float32) for column in ("mean", "lowest", "highest"))
    hover = "%{x} apart: %{y:.4g} (%{customdata[0]:.4g} … %{customdata[1]:.4g})<extra></extra>"
    traces = [*line_in_band(apart, mean, low, high, palette.EMBEDDINGS, palette.MUTED, hover)]
    if pinned is not None:
        others, places = pinned["mean"].to_numpy(np.float32), pinned.index.to_numpy()
        hover = "%{x} apart, pinned: %{y:.4g}<extra></extra>"
        traces.append(ghost_line(places, others, palette.EMBEDDINGS, hover, "mean", pinned_name))
    return draw_figure(traces, height=420, x_axis={"title": "how far apart, in positions"}, y_axis={"title": measure})


def wavelengths(standard: NDArray[np.float64], doubled: NDArray[np.float64], max_len: int) -> go.Figure:
    """Wavelength of each pair of dimensions, (⌈D / 2⌉,) each, in positions, and the table's length."""
    dimensions = 2 * np.arange(len(standard))
    lines = [
        line(dimensions, values, colour, "%{y:.4g} positions", name=name, marker=4)
        for name, values, colour in (
            ("standard", standard, palette.EMBEDDINGS),
            ("doubled exponent", doubled, palette.Q),
        )
    ]
    ends, level = np.array([0, 2 * len(standard) - 2]), np.array([max_len, max_len])
    look: dict[str, Any] = {"width": 1.5, "dash": "dot", "hoverinfo": "skip"}
    lines.append(line(ends, level, palette.RESIDUAL, None, name=f"max_len = {max_len}", **look))
    y_axis = {"title": "wavelength, in positions (log scale)", "type": "log", "exponentformat": "power", "dtick": 1}
    return _compare(lines, {"title": "dimension, the sine of each pair"}, y_axis, height=360)


def addition_lengths(added: pd.DataFrame, tokens: Sequence[str], pinned: pd.DataFrame | None = None) -> go.Figure:
    """Lengths of each token's embedding, of its position's row, and of their sum; see `analysis.positions.addition`.

    Paler beside each stands that of other settings, `pinned`.
    """
    colours = {"token": palette.RESIDUAL, "position": palette.EMBEDDINGS, "sum": palette.NORMS}
    bars = [_Bars(part, added[part].to_numpy(np.float32), colour) for part, colour in colours.items()]
    others = [] if pinned is None else [pinned[part].to_numpy(np.float32) for part in colours]
    return _bars_by_token(bars, others, tokens, "L2 norm", "%{y:.4g}")


def swap_differences(
    placed: Array, bare: Array, tokens: Sequence[str], pinned: tuple[Array, Array] | None = None
) -> go.Figure:
    """Each word's largest difference (T,) between before and after a swap, with positions and without.

    Paler beside each stands that of other settings, `pinned`: with positions and without.
    """
    bars = [
        _Bars("with positions", placed, palette.EMBEDDINGS),
        _Bars("without positions", bare, palette.RESIDUAL),
    ]
    return _bars_by_token(bars, pinned or (), tokens, "largest |difference|", "%{y:.2g}")


class _Bars(NamedTuple):
    """One kind of bar, one a token."""

    name: str
    values: Array
    colour: str


def _bars_by_token(
    bars: Sequence[_Bars], pinned: Sequence[Array], tokens: Sequence[str], title: str, hover: str
) -> go.Figure:
    """Groups of bars, a group a token; `pinned`, if any, has other settings' values of each kind."""
    x_axis = {"title": "token", "type": "category", "tickangle": -55}
    y_axis = {"title": title, "rangemode": "tozero", "exponentformat": "power"}
    groups = []
    for kind, others in zip_longest(bars, pinned):
        look = {"x": token_labels(tokens), "marker": {"color": kind.colour}, "hovertemplate": hover}
        groups.append(go.Bar(y=kind.values, name=kind.name, **look))
        if others is not None:
            groups.append(go.Bar(y=others, name=f"{kind.name}, pinned", opacity=PALE, **look))
    return _compare(groups, x_axis, y_axis, height=380, barmode="group")


def _compare(traces: Sequence[Any], x_axis: dict[str, Any], y_axis: dict[str, Any], **layout: Any) -> go.Figure:
    """Named traces over one axis, all read at once where the pointer is."""
    return draw_figure(traces, x_axis=x_axis, y_axis=y_axis, legend=True, hovermode="x unified", **layout)
