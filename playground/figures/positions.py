"""The position table as pictures. Legend: N positions, T tokens, D dimensions."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.heatmap import colour_bar, heatmap, signed_colours
from playground.figures.theme import Array, add_band, add_line, style, token_labels

MAX_POSITIONS = 128
"""Rows of the table that are drawn."""

MAX_DIMENSIONS = 256
"""Columns of the table that are drawn."""

CURVES = (palette.EMBEDDINGS, palette.Q, palette.V)
"""Colours of the chosen dimensions."""


def colour_limit(values: Array) -> float:
    """Where the colours end, on either side of zero: 99 % of the numbers lie within."""
    return float(np.percentile(np.abs(values), 99)) or 1.0


def table_heatmap(rows: Array, *, height: int = 420) -> go.Figure:
    """The first positions and dimensions of a table (N, D): a row a position, a column a dimension."""
    drawn = rows[:MAX_POSITIONS, :MAX_DIMENSIONS]
    figure = heatmap(
        drawn,
        "position %{y}, dimension %{x}: %{z:.4g}",
        bar=colour_bar("value"),
        x_axis={"title": "dimension"},
        y_axis={"title": "position"},
        **signed_colours(colour_limit(drawn)),
    )
    return style(figure, height=height)


def dimension_curves(rows: Array, dimensions: Sequence[int]) -> go.Figure:
    """Chosen dimensions of a table (N, D) along the first positions."""
    figure = go.Figure()
    drawn = rows[:MAX_POSITIONS]
    for dimension, colour in zip(dimensions, CURVES, strict=False):
        values, name = drawn[:, dimension], f"dimension {dimension}"
        add_line(figure, np.arange(len(drawn)), values, colour, "%{y:.4g}", name=name, marker=4)
    figure.update_xaxes(title="position")
    figure.update_yaxes(title="value")
    figure.update_layout(hovermode="x unified")
    return style(figure, height=360, legend=True)


def between_positions(matrix: Array, measure: str) -> go.Figure:
    """Dot products, or distances, (N, N) between positions; only dot products have a sign."""
    limit = colour_limit(matrix)
    figure = heatmap(
        matrix,
        f"positions %{{y}} and %{{x}}: {measure} %{{z:.4g}}",
        bar=colour_bar(measure),
        x_axis={"title": "position"},
        y_axis={"title": "position"},
        **({"zmin": 0.0, "zmax": limit} if measure == "distance" else signed_colours(limit)),
    )
    return style(figure, height=420)


def by_offset(offsets: pd.DataFrame, measure: str) -> go.Figure:
    """Mean over pairs by how far apart they are, with a band from the lowest to the highest; see `analysis`."""
    apart = offsets.index.to_numpy()
    mean, low, high = (offsets[column].to_numpy(np.float32) for column in ("mean", "lowest", "highest"))
    figure = go.Figure()
    add_band(figure, apart, low, high, palette.MUTED)
    hover = "%{x} apart: %{y:.4g} (%{customdata[0]:.4g} … %{customdata[1]:.4g})<extra></extra>"
    ends = np.stack([low, high], axis=1)
    add_line(figure, apart, mean, palette.EMBEDDINGS, hover, width=2.5, customdata=ends)
    figure.update_xaxes(title="how far apart, in positions")
    figure.update_yaxes(title=measure)
    return style(figure, height=420)


def wavelengths(standard: NDArray[np.float64], doubled: NDArray[np.float64], max_len: int) -> go.Figure:
    """Wavelength of each pair of dimensions, (⌈D / 2⌉,) each, in positions, and the table's length."""
    figure = go.Figure()
    dimensions = 2 * np.arange(len(standard))
    for name, values, colour in (("standard", standard, palette.EMBEDDINGS), ("doubled exponent", doubled, palette.Q)):
        add_line(figure, dimensions, values, colour, "%{y:.4g} positions", name=name, marker=4)
    ends, level = np.array([0, 2 * len(standard) - 2]), np.array([max_len, max_len])
    name = f"max_len = {max_len}"
    add_line(figure, ends, level, palette.RESIDUAL, None, name=name, width=1.5, dash="dot", hoverinfo="skip")
    figure.update_xaxes(title="dimension, the sine of each pair")
    figure.update_yaxes(title="wavelength, in positions (log scale)", type="log", exponentformat="power", dtick=1)
    figure.update_layout(hovermode="x unified")
    return style(figure, height=360, legend=True)


def addition_lengths(added: pd.DataFrame, tokens: Sequence[str]) -> go.Figure:
    """Lengths of each token's embedding, of its position's row, and of their sum; see `analysis.positions.addition`."""
    colours = {"token": palette.RESIDUAL, "position": palette.EMBEDDINGS, "sum": palette.NORMS}
    bars = [(part, added[part].to_numpy(np.float32), colour) for part, colour in colours.items()]
    return _bars_by_token(bars, tokens, "L2 norm", "%{y:.4g}")


def swap_differences(placed: Array, bare: Array, tokens: Sequence[str]) -> go.Figure:
    """Each word's largest difference (T,) between before and after a swap, with positions and without."""
    bars = [("with positions", placed, palette.EMBEDDINGS), ("without positions", bare, palette.RESIDUAL)]
    return _bars_by_token(bars, tokens, "largest |difference|", "%{y:.2g}")


def _bars_by_token(bars: Iterable[tuple[str, Array, str]], tokens: Sequence[str], title: str, hover: str) -> go.Figure:
    """Groups of bars, a group a token; each kind of bar has a name, its values (T,) and a colour."""
    figure = go.Figure()
    for name, values, colour in bars:
        figure.add_bar(x=token_labels(tokens), y=values, name=name, marker={"color": colour}, hovertemplate=hover)
    figure.update_xaxes(title="token", type="category", tickangle=-55)
    figure.update_yaxes(title=title, rangemode="tozero", exponentformat="power")
    figure.update_layout(barmode="group", hovermode="x unified")
    return style(figure, height=380, legend=True)
