"""A chart in words, read off the figure, for those who cannot see it."""

import html
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from playground.charts.figure import Figure

_MOST_TRACES = 8
_DARKEST = 255


def chart_label(name: str, figure: Figure) -> str:
    """The chart's name; its largest cell and bar and where they are; the ends of lines."""
    drawn = [text for trace in figure["data"] if (text := _describe_trace(trace, figure["layout"]))]
    more = "" if len(drawn) <= _MOST_TRACES else f" {len(drawn) - _MOST_TRACES} more are drawn."
    return " ".join([f"{name.rstrip('.')}.", *drawn[:_MOST_TRACES]]) + more


def _describe_trace(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    match trace["type"]:
        case "heatmap" if np.asarray(trace["z"]).dtype == np.uint8:  # a mosaic's shades, or a mask's two
            return _describe_thumbnails(trace, layout) if trace.get("zmax") == _DARKEST else ""
        case "heatmap":
            return _largest_cell(trace, layout)
        case "bar":
            return _largest_bar(trace)
        case "scatter" if trace.get("y") is not None and trace.get("hoverinfo") != "skip":
            return _ends_of_line(trace)
    return ""


def _largest_cell(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    z = np.asarray(trace["z"]).astype(float)
    if np.shape(trace.get("customdata", ())) == z.shape:  # the numbers, where colours stand for something else
        z = np.where(np.isfinite(z), trace["customdata"], np.nan)
    if not np.isfinite(z).any():
        return ""
    row, column = np.unravel_index(np.nanargmax(z), z.shape)
    places = [
        f"{_title(layout, trace.get(f'{letter}axis', letter)) or side} {_name(trace.get(letter), int(place))}"
        for letter, side, place in (("y", "row", row), ("x", "column", column))
    ]
    return _plain(f"The largest of {z.size:,} values is {_number(z[row, column])}, at {places[0]}, {places[1]}.")


def _title(layout: Mapping[str, Any], axis: str) -> str:
    title = layout.get(f"{axis[0]}axis{axis[1:]}", {}).get("title", "")
    return str(title.get("text") or "") if isinstance(title, Mapping) else title


def _describe_thumbnails(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    """The palest thumbnail and the darkest."""
    n_rows, n_columns = len(layout["yaxis"]["ticktext"]), len(layout["xaxis"]["ticktext"])
    z = np.asarray(trace["z"])
    means = z.reshape(n_rows, -1, n_columns, z.shape[1] // n_columns).mean(axis=(1, 3))
    narrow, wide = (np.unravel_index(place, means.shape) for place in (means.argmin(), means.argmax()))
    return (
        f"Layer {narrow[0]}, head {narrow[1]} gives its weight to the fewest keys; "
        f"layer {wide[0]}, head {wide[1]} spreads it most."
    )


def _largest_bar(trace: Mapping[str, Any]) -> str:
    sizes, names = (trace["x"], trace["y"]) if trace.get("orientation") == "h" else (trace["y"], trace["x"])
    sizes = np.asarray(sizes, dtype=float)
    if len(sizes) < 2 or not np.isfinite(sizes).any():  # a stack's pieces are a trace each, and named by the page
        return ""
    place = int(np.nanargmax(sizes))
    subject = f"{trace['name']}: the" if trace.get("name") else "The"
    return _plain(f"{subject} longest bar is {_number(sizes[place])}, at {_name(names, place)}.")


def _ends_of_line(trace: Mapping[str, Any]) -> str:
    y = np.asarray(trace["y"], dtype=float)
    finite = np.flatnonzero(np.isfinite(y))
    if len(finite) < 2:
        return ""
    if trace.get("mode") == "markers":
        return _plain(f"{trace.get('name') or 'Points'}: {len(finite)}, up to {_number(y[finite].max())}.")
    names = trace.get("x")
    first, last, top = finite[0], finite[-1], finite[np.argmax(y[finite])]
    ends = f"from {_number(y[first])} at {_name(names, first)} to {_number(y[last])} at {_name(names, last)}"
    peak = "" if top in (first, last) else f", at most {_number(y[top])} at {_name(names, top)}"
    return _plain(f"{trace.get('name') or 'The line'}: {ends}{peak}.")


def _name(names: Any, place: int) -> str:
    if names is None:
        return str(place)
    name = names[place]
    return name if isinstance(name, str) else _number(name)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _plain(text: str) -> str:
    """A text without Plotly's tags."""
    return html.unescape(re.sub("<[^>]+>", " ", text))
