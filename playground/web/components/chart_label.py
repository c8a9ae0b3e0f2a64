"""What a chart shows, in words read off the figure itself, for whoever cannot see it."""

import html
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go

_MOST_TRACES = 8
_DARKEST = 255


def chart_label(name: str, figure: go.Figure) -> str:
    """The chart's name and what it shows: the largest of cells and bars and where it is, the two ends of lines."""
    drawn = [text for trace in figure.data if (text := _describe_trace(trace, figure))]
    more = "" if len(drawn) <= _MOST_TRACES else f" {len(drawn) - _MOST_TRACES} more are drawn."
    return " ".join([f"{name.rstrip('.')}.", *drawn[:_MOST_TRACES]]) + more


def _describe_trace(trace: Any, figure: go.Figure) -> str:
    if isinstance(trace, go.Heatmap):
        if trace.z.dtype == np.uint8:  # no numbers but colours: a mosaic's shades, or a mask's two
            return _describe_thumbnails(trace, figure) if trace.zmax == _DARKEST else ""
        return _largest_cell(trace, figure)
    if isinstance(trace, go.Bar):
        return _largest_bar(trace)
    if isinstance(trace, go.Scatter) and trace.y is not None and trace.hoverinfo != "skip":
        return _extent_of_points(trace) if _is_cloud(trace) else _ends_of_line(trace)
    return ""


def _largest_cell(trace: go.Heatmap, figure: go.Figure) -> str:
    z = trace.z.astype(float)
    if np.shape(trace.customdata) == z.shape:  # the numbers, where colours stand for something else
        z = np.where(np.isfinite(z), trace.customdata, np.nan)
    if not np.isfinite(z).any():
        return ""
    row, column = np.unravel_index(np.nanargmax(z), z.shape)
    x_axis = figure.layout[(trace.xaxis or "x").replace("x", "xaxis")].title.text
    y_axis = figure.layout[(trace.yaxis or "y").replace("y", "yaxis")].title.text
    places = (f"{y_axis or 'row'} {_name(trace.y, int(row))}", f"{x_axis or 'column'} {_name(trace.x, int(column))}")
    return _plain(f"The largest of {z.size:,} values is {_number(z[row, column])}, at {places[0]}, {places[1]}.")


def _describe_thumbnails(trace: go.Heatmap, figure: go.Figure) -> str:
    """The palest thumbnail and the darkest: where few keys have all the weight, most of a thumbnail is pale."""
    n_rows, n_columns = len(figure.layout.yaxis.ticktext), len(figure.layout.xaxis.ticktext)
    means = trace.z.reshape(n_rows, -1, n_columns, trace.z.shape[1] // n_columns).mean(axis=(1, 3))
    narrow, wide = (np.unravel_index(place, means.shape) for place in (means.argmin(), means.argmax()))
    return (
        f"Layer {narrow[0]}, head {narrow[1]} gives its weight to the fewest keys; "
        f"layer {wide[0]}, head {wide[1]} spreads it most."
    )


def _largest_bar(trace: go.Bar) -> str:
    sizes, names = (trace.x, trace.y) if trace.orientation == "h" else (trace.y, trace.x)
    sizes = np.asarray(sizes, dtype=float)
    if len(sizes) < 2 or not np.isfinite(sizes).any():  # a stack's pieces are a trace each, and named by the page
        return ""
    place = int(np.nanargmax(sizes))
    subject = f"{trace.name}: the" if trace.name else "The"
    return _plain(f"{subject} longest bar is {_number(sizes[place])}, at {_name(names, place)}.")


def _is_cloud(trace: go.Scatter) -> bool:
    """Whether points stand for themselves, without an order."""
    return trace.mode == "markers" and np.asarray(trace.x).dtype.kind in "fiu"


def _extent_of_points(trace: go.Scatter) -> str:
    """Between which numbers points lie."""
    x, y = (np.asarray(values, dtype=float) for values in (trace.x, trace.y))
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 2:
        return ""
    sides = [f"from {_number(each[known].min())} to {_number(each[known].max())}" for each in (x, y)]
    return _plain(f"{trace.name or 'Points'}: {known.sum()} points, across {sides[0]}, up {sides[1]}.")


def _ends_of_line(trace: go.Scatter) -> str:
    y = np.asarray(trace.y, dtype=float)
    finite = np.flatnonzero(np.isfinite(y))
    if len(finite) < 2:
        return ""
    first, last, top = finite[0], finite[-1], finite[np.argmax(y[finite])]
    ends = f"from {_number(y[first])} at {_name(trace.x, first)} to {_number(y[last])} at {_name(trace.x, last)}"
    peak = "" if top in (first, last) else f", at most {_number(y[top])} at {_name(trace.x, top)}"
    return _plain(f"{trace.name or 'The line'}: {ends}{peak}.")


def _name(names: Any, place: int) -> str:
    if names is None:
        return str(place)
    name = names[place]
    return name if isinstance(name, str) else _number(name)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _plain(text: str) -> str:
    """A text as it is read on the chart: Plotly's tags are left out, and what looks like one in a token is kept."""
    return html.unescape(re.sub("<[^>]+>", " ", text))
