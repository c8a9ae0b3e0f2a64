"""What every figure shares: margins, labels that cannot be mistaken for markup, tokens' names, heatmaps.

Colours of the page, fonts and the colour scales of heatmaps come from the app's theme, light or dark, in the browser.
"""

import html
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette

Array = NDArray[np.floating[Any]]
"""What figures draw, in any precision."""

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""What numbers may differ by, as a share of their size, and be the same but for rounding."""

SAME_HEIGHT = "Some of these numbers differ by no more than the rounding of 32-bit floats: their axis includes 0."
"""The note of a figure of lines on whose axis nothing but rounding would be seen."""

PALE = 0.5
"""Opacity of a bar of the pinned settings, beside the present one in full colour."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LONGEST_LABEL = 18
_LONGEST_SIDE = 48


def shortened(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A text, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def label(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A stranger's text as Plotly shows it, letter by letter: Plotly reads tags and entities in labels."""
    return html.escape(shortened(text, longest), quote=False)


def subscript(number: int) -> str:
    """A whole number below the line: `₉`."""
    return str(number).translate(_SUBSCRIPTS)


def token_names(tokens: Sequence[str]) -> list[str]:
    """Each token with its position below the line, from 0, so that no two are the same: `it₉`. For tables."""
    return [f"{shortened(token)}{subscript(i)}" for i, token in enumerate(tokens)]


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Each token's name as Plotly shows it, for the axes of figures."""
    return [html.escape(name, quote=False) for name in token_names(tokens)]


def token_table(values: NDArray[Any], queries: Sequence[str], keys: Sequence[str] | None = None) -> pd.DataFrame:
    """An array (Tq, Tk) as a table whose rows and columns are named by their tokens; both the same without `keys`."""
    return pd.DataFrame(values, token_names(queries), token_names(queries if keys is None else keys))


def style(figure: go.Figure, *, height: int, legend: bool = False, margin: dict[str, int] | None = None) -> go.Figure:
    """Set a figure's height in pixels, its margins and its legend.

    Plotly widens a margin that its labels don't fit into, and draws the whole chart once more for that. Where `margin`
    is what the labels need or more, in pixels by `l`, `r`, `t` and `b`, one pass is enough.
    """
    layout = figure.layout  # property by property: `update_layout` takes four times as long
    layout.height = height
    layout.margin = {"l": 4, "r": 4, "t": 28 if legend else 8, "b": 4, "pad": 0, **(margin or {})}
    layout.showlegend = legend
    layout.legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None, "traceorder": "normal"}
    layout.uirevision = "keep"
    for name in layout:
        if name.startswith(("xaxis", "yaxis")):
            layout[name].automargin = True
            layout[name].title.standoff = 6
        if name.startswith("yaxis"):
            _include_zero(figure, name)
    return figure


def _include_zero(figure: go.Figure, axis: str) -> None:
    """Let an axis whose lines differ by rounding alone begin at 0, and add the note; others stay as they are."""
    y_axis = figure.layout[axis]
    if y_axis.range is not None or y_axis.type in ("log", "category") or y_axis.rangemode == "tozero":
        return
    name = axis.replace("axis", "")
    lines = [trace.y for trace in figure.data if trace.type == "scatter" and (trace.yaxis or "y") == name]
    numbers = np.concatenate([np.asarray(line, np.float64) for line in lines] or [np.zeros(0)])
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size > 1 and np.ptp(numbers) <= ROUNDING * np.abs(numbers).max():
        y_axis.rangemode = "tozero"
        figure.layout.meta = SAME_HEIGHT


def text_width(labels: Sequence[str]) -> int:
    """About how many pixels the longest of an axis's labels takes, rather more than less."""
    return math.ceil(max((sum(map(_letter_width, html.unescape(text))) for text in labels), default=0))


def draw_figure(
    traces: Any,
    *,
    height: int,
    x_axis: Mapping[str, Any],
    y_axis: Mapping[str, Any],
    legend: bool = False,
    margin: dict[str, int] | None = None,
    **layout: Any,
) -> go.Figure:
    """The traces over two axes, in the `style` of every figure; `layout` is Plotly's."""
    figure = go.Figure(traces, {"xaxis": x_axis, "yaxis": y_axis, **layout})
    return style(figure, height=height, legend=legend, margin=margin)


def line(
    x: NDArray[Any],
    y: NDArray[Any],
    colour: str,
    hover: str | None,
    *,
    width: float = 2,
    dash: str | None = None,
    marker: int = 0,
    symbol: str | None = None,
    **options: Any,
) -> go.Scatter:
    """A curve in one colour, with a marker of so many pixels at every value; options as of `go.Scatter`."""
    if marker:
        options["marker"] = {"size": marker, "symbol": symbol}
    look = {"mode": "lines+markers" if marker else "lines", "line": {"color": colour, "width": width, "dash": dash}}
    return go.Scatter(x=x, y=y, hovertemplate=hover, **look | options)


_GHOST: dict[str, Any] = {"width": 1.5, "dash": "dot", "marker": 5, "symbol": "circle-open"}


def ghost_line(x: NDArray[Any], y: NDArray[Any], colour: str, hover: str, name: str, side: str) -> go.Scatter:
    """The pinned settings' curve beside the present one of this name and colour: dotted; `side` is what they are."""
    name = f"{name}, {label(side, _LONGEST_SIDE)}"
    return line(x, y, colour, hover, name=name, showlegend=False, **_GHOST)


def ghost_entry(side: str) -> go.Scatter:
    """The one entry of the legend for all `ghost_line`s of a figure."""
    nothing, name = np.array([None]), f"dotted: {label(side, _LONGEST_SIDE)}"  # NaN would be a category of its own
    return line(nothing, nothing, palette.RESIDUAL, None, name=name, **_GHOST)


def line_in_band(
    x: NDArray[Any], y: NDArray[Any], low: Array, high: Array, colour: str, faint: str, hover: str, **options: Any
) -> tuple[go.Scatter, go.Scatter]:
    """A filled area between two curves in a `faint` colour, and over it a `line`, whose `customdata` are the two."""
    area = go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faint,
        hoverinfo="skip",
        showlegend=False,
    )
    return area, line(x, y, colour, hover, width=2.5, customdata=np.stack([low, high], axis=1), **options)


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 13
    if letter in "iIjlftr.,:;'|!()[]₀₁₂₃₄₅₆₇₈₉":
        return 4.5
    return 10 if letter in "mwMW@%…" else 6.5


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
