"""Curves that grow: Plotly's chart is made anew, and blinks, whenever its data change.

The drawing shows a figure of lines as it is at the moment, at the same size. At rest, Plotly shows the same figure, and
its values where the pointer is.
"""

import math
from typing import Any

import plotly.graph_objects as go

from playground.charts.label import chart_label
from playground.web.components.load_component import load_component

_curves = load_component("curves", draws=True)


def draw_curves(key: str, figure: go.Figure, *, alt: str) -> None:
    """Draw a figure of lines; `alt` names it for whoever cannot see it."""
    _curves(key=f"{key}_drawing", data={**curve_data(figure), "alt": chart_label(alt, figure)})


def curve_data(figure: go.Figure) -> dict[str, Any]:
    """A figure's lines, axes and titles as the script reads them; numbers have four digits, finer than can be seen."""
    x, y = figure.layout.xaxis, figure.layout.yaxis
    return {
        "lines": [_line(trace) for trace in figure.data],
        "x": list(x.range),
        "y": None if y.range is None else list(y.range),
        "titles": [x.title.text, y.title.text],
        "log": y.type == "log",
        "percent": "%" in (y.tickformat or ""),
        "height": figure.layout.height,
        "legend": bool(figure.layout.showlegend),
    }


def _line(trace: go.Scatter) -> dict[str, Any]:
    """One line, without the points that are no finite numbers: the browser's JSON knows none."""
    points = [(_short(x), _short(y)) for x, y in zip(trace.x, trace.y, strict=True) if math.isfinite(y)]
    return {
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "name": trace.name if trace.showlegend is not False else None,
        "colour": trace.line.color,
        "width": trace.line.width,
        "dash": trace.line.dash or "solid",
        "dots": "markers" in trace.mode,
        "note": trace.text[-1] if trace.text is not None else None,
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")
