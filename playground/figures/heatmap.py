"""What every heatmap shares: rows from the top, no grid, one colour bar, and frames around cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures.theme import ROUNDING, draw_figure

ROOM_ABOVE = 60
"""Pixels that `bar_above` takes."""

SAME_COLOUR = "These numbers differ by no more than the rounding of 32-bit floats, so they have one colour."
"""The note of a heatmap whose structure would be nothing but rounding."""


def heatmap(
    z: NDArray[Any],
    hover: str,
    *,
    height: int,
    bar: dict[str, Any] | None,
    x_axis: Mapping[str, Any],
    y_axis: Mapping[str, Any],
    margin: dict[str, int] | None = None,
    magnitude: float | None = None,
    **options: Any,
) -> go.Figure:
    """Numbers (rows, columns) as colours, on the theme's sequential scale where `options` name no other; NaN is empty.

    Colours that would end at the numbers themselves, and so at their rounding, get a wider range and the figure a note.

    Args:
        z: the numbers.
        hover: what is read where the pointer is, in Plotly's template language.
        bar: the `colour_bar`, or None.
        height: of the figure in pixels; its `margin` as of `style`.
        magnitude: of the numbers that these were computed from, where those were larger, as a difference's are.
        x_axis: its title, and what else it has.
        y_axis: its title, and what else it has.
        options: as of `go.Heatmap`.
    """
    plain = {"showgrid": False, "zeroline": False}
    low, high = _ends(z, from_zero="zmin" in options)
    is_automatic = magnitude is not None or "zmax" not in options
    is_rounding = is_automatic and high - low <= ROUNDING * (magnitude or max(-low, high))
    if is_rounding:
        z = np.where(np.isfinite(z), z.dtype.type((low + high) / 2), np.nan)
        options |= _wide_range(low, high, magnitude, signed=options.get("zmin", 0) < 0)
    cells = go.Heatmap(
        z=z,
        hovertemplate=f"{hover}<extra></extra>",
        hoverongaps=False,
        showscale=bar is not None,
        colorbar=bar,
        **options,
    )
    y_axis = {**plain, "autorange": "reversed", **y_axis}
    note = SAME_COLOUR if is_rounding and np.isfinite(z).sum() > 1 else None
    return draw_figure(cells, height=height, x_axis={**plain, **x_axis}, y_axis=y_axis, margin=margin, meta=note)


def _ends(z: NDArray[Any], *, from_zero: bool) -> tuple[float, float]:
    """The smallest and the largest finite number, or 0 where that lies beyond them and colours begin there."""
    numbers = z[np.isfinite(z)]
    if from_zero or not numbers.size:
        numbers = np.append(numbers, 0)
    return float(numbers.min()), float(numbers.max())


def _wide_range(low: float, high: float, magnitude: float | None, *, signed: bool) -> dict[str, float]:
    """Ends of a range in which numbers that are equal have one colour."""
    if magnitude is not None:
        return {"zmin": -magnitude if signed else 0, "zmax": magnitude}
    twice = (low + high) or 1.0
    return {"zmin": min(0.0, twice), "zmax": max(0.0, twice)}


def colour_bar(title: str, **options: Any) -> dict[str, Any]:
    """A narrow bar beside a heatmap, from its bottom to its top, with what the colours stand for above it."""
    return {"thickness": 10, "len": 1.0, "xpad": 4, "ypad": 0, "title": {"text": title, "side": "top"}} | options


def bar_above(title: str, **options: Any) -> dict[str, Any]:
    """A flat bar above a heatmap, which needs all the width there is, with what the colours stand for above the bar.

    It takes `ROOM_ABOVE` pixels of the figure's upper margin.
    """
    return colour_bar(title, orientation="h", y=1.0, yanchor="bottom", xpad=0, ypad=4, **options)


def signed_colours(limit: float) -> dict[str, Any]:
    """The options of a heatmap whose colours diverge from 0, and end at ±limit."""
    theme = go.Figure().layout.template.layout.colorscale
    return {"colorscale": theme.diverging, "zmin": -limit, "zmax": limit}


def largest(values: NDArray[Any]) -> float:
    """The largest finite value, and never 0: a scale has to have a length."""
    return max(float(np.max(values, where=np.isfinite(values), initial=0)), 1e-6)


def add_frame(
    figure: go.Figure, rows: tuple[int, int], columns: tuple[int, int], colour: str, *, subplot: int = 1, width: int = 3
) -> None:
    """Frame cells of a heatmap, from the first to the last of these rows and columns, in one of the subplots.

    `width` is the line's, in pixels, half of them outside the cells.
    """
    axis = "" if subplot == 1 else str(subplot)
    figure.add_shape(
        type="rect",
        x0=columns[0] - 0.5,
        x1=columns[1] + 0.5,
        y0=rows[0] - 0.5,
        y1=rows[1] + 0.5,
        xref=f"x{axis}",
        yref=f"y{axis}",
        line={"color": colour, "width": width},
    )
