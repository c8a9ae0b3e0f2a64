"""Curves of both subjects on the same axes, the pinned one's dotted."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from playground.charts import figure as figures
from playground.charts.chart import CellRanges, Curves
from playground.charts.draw.drawn import Drawing, draw_one, find_places
from playground.charts.figure import Figure
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene

S = TypeVar("S")

_GAP = 0.06
"""Of the height, between panels."""


def draw_curves(chart: Curves[S], scene: Scene[S]) -> Drawing:
    """Draw the present curves and, dotted, the pinned ones."""
    curves = list(chart.curves(scene.now))
    ghosts = [] if scene.pinned is None else list(chart.curves(scene.pinned))
    dotted = f"Dotted lines, on the same axes: {escape_markdown(scene.pinned_name)}." if ghosts else ""
    places = find_places(chart.x, scene.now, max((len(curve.x) for curve in curves), default=0))
    cells = CellRanges(None, places) if places else None
    return Drawing(
        draw_one(chart, scene, lambda: _figure(chart, curves, ghosts, scene.pinned_name), dotted, cells=cells)
    )


def _figure(
    chart: Curves[Any], curves: Sequence[figures.Curve], ghosts: Sequence[figures.Curve], pinned_name: str
) -> Figure:
    named: set[str] = set()
    traces: list[dict[str, Any]] = []
    for curve in curves:
        traces += figures.curve_traces(curve, legend=curve.name not in named)
        named.add(curve.name)
    if ghosts:
        traces += figures.ghost_traces(ghosts, pinned_name)
    layout: dict[str, Any] = {"hovermode": "x unified"} if len(chart.y) == 1 else {}
    bottom, room = 1.0, 1 - _GAP * (len(chart.y) - 1)
    for panel, axis in enumerate(chart.y):
        shown = [each for each in (*curves, *ghosts) if each.panel == panel]
        numbers = [ends for each in shown for ends in (each.y, each.high) if ends is not None]
        top, bottom = bottom, bottom - room / len(chart.y)
        domain = {} if len(chart.y) == 1 else {"domain": [max(bottom, 0.0), top]}
        flat = {"rangemode": "tozero"} if numbers and _differ_by_rounding(np.concatenate(numbers)) else {}
        layout[f"yaxis{panel + 1 if panel else ''}"] = {**flat, **axis(numbers), **domain}
        bottom -= _GAP
    layout["xaxis"] = _curve_axis(chart, curves, ghosts)
    if chart.marks and curves:
        layout |= figures.mark_places(chart.marks, is_log=layout["xaxis"].get("type") == "log")
    return figures.style(traces, layout, height=chart.height or 380, legend=True)


def _differ_by_rounding(numbers: figures.Array) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return finite.size > 1 and bool(np.ptp(finite) <= figures.ROUNDING * np.abs(finite).max())


def _curve_axis(
    chart: Curves[Any], curves: Sequence[figures.Curve], ghosts: Sequence[figures.Curve]
) -> Mapping[str, Any]:
    last = len(chart.y)
    below: dict[str, Any] = {"title": chart.x.title, "anchor": f"y{last}" if last > 1 else "y"}
    names = np.concatenate([each.x for each in (*curves, *ghosts)]) if curves else np.zeros(0)
    if names.dtype.kind in "UO":
        below |= {"type": "category", "tickangle": -figures.SLANT, "showgrid": False}
    elif names.dtype.kind in "iu":
        below |= {**figures.whole_ticks(int(np.ptp(names)) + 1), "zeroline": False}
    return below | dict(chart.x.options)
