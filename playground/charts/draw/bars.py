"""Bars of both subjects: side by side, in rows, or with rings."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Bars, CellRanges
from playground.charts.draw.drawn import Drawing, Drawn, compare_tables, find_places, join_sentences, scene_table
from playground.charts.figure import PALE
from playground.charts.markdown import escape_markdown
from playground.charts.names import label
from playground.charts.scene import Scene

S = TypeVar("S")


def draw_bars(chart: Bars[S], scene: Scene[S]) -> Drawing:
    """The present bars and the pinned ones."""
    bars, before = chart.bars(scene.now), None if scene.pinned is None else chart.bars(scene.pinned)
    labels = _bar_labels(chart, bars, before or {})
    axis: dict[str, Any] = {"title": chart.labels.title, "type": "category"}
    layout: dict[str, Any] = {"barmode": "group"}
    if chart.stacked:
        axis |= {"showgrid": False, "categoryorder": "array"}
        layout = {"barmode": "stack", "bargap": 0.25, "uniformtext": {"minsize": 10, "mode": "hide"}}
    if not chart.stacked:
        traces, paler = _paired_bars(chart, bars, before), "The paler bar beside each"
        height = 110 + (22 if before is None else 32) * len(labels) * max(1, len(bars)) if chart.horizontal else 380
    elif chart.horizontal:
        traces, rows = _stacked_rows(chart, scene, labels)
        axis["categoryarray"], height, paler = rows, 70 + 44 * len(rows), "The paler bar below each"
    else:
        traces = [_bar_trace(chart, series, numbers) for series, numbers in bars.items()]
        traces += [_rings(chart, before)] if before else []
        axis |= {"categoryarray": [label(name, len(name)) for name in labels], "tickangle": 0}
        height, paler = 340, "Rings, where these bars end"
    if chart.horizontal:
        layout |= {"xaxis": dict(chart.value), "yaxis": {"autorange": "reversed", **axis, **chart.labels.options}}
    else:
        layout |= {"xaxis": {"tickangle": -figures.SLANT, **axis, **chart.labels.options}, "yaxis": dict(chart.value)}
    if chart.grey is not None:
        sides = [chart.grey(subject) for subject in (scene.now, scene.pinned) if subject is not None]
        layout["shapes"] = figures.grey_places(np.all(sides, axis=0).tolist())
    has_legend = len(bars) > 1 and not (chart.stacked and chart.horizontal)
    figure = figures.style(traces, layout, height=chart.height or height, legend=has_legend)
    places = find_places(chart.labels, scene.now, len(labels))
    cells = None
    if chart.click and places:
        cells = CellRanges(places, None) if chart.horizontal else CellRanges(None, places)
    table = partial(scene_table, chart, scene) if chart.table else partial(_bars_table, bars, before)
    pinned = "" if before is None else f"{paler}: {escape_markdown(scene.pinned_name)}."
    caption = join_sentences(chart.caption, chart.reading(scene.now), pinned)
    return Drawing(Drawn(chart, "", figure, caption, table, cells))


def _bar_labels(chart: Bars[S], *subjects: Mapping[str, Mapping[str, float]]) -> list[str]:
    labels = dict.fromkeys(name for bars in subjects for numbers in bars.values() for name in numbers)
    return list(labels) if chart.order is None else sorted(labels, key=chart.order)


def _paired_bars(
    chart: Bars[S], bars: Mapping[str, Mapping[str, float]], before: Mapping[str, Mapping[str, float]] | None
) -> list[dict[str, Any]]:
    """Each series beside its pinned one."""
    traces = []
    for series in dict.fromkeys((*bars, *(before or ()))):
        if series in bars:
            traces.append(_bar_trace(chart, series, bars[series]))
        if before is not None and series in before:
            name = f"{series}, pinned" if series else "pinned"
            pale = {"opacity": PALE, "name": label(name, len(name)), "showlegend": False}
            traces.append(_bar_trace(chart, series, before[series], "pinned") | pale)
    return traces


def _stacked_rows(chart: Bars[S], scene: Scene[S], labels: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Pieces end to end, and their rows from the top."""
    sides = [("", scene.now, scene.pinned)]
    if scene.pinned is not None:
        sides.append((", pinned", scene.pinned, None))
    traces: list[dict[str, Any]] = []
    rows: dict[tuple[str, str], str] = {}
    for side, subject, other in sides:
        notes = chart.notes(subject, other) if chart.notes else {}
        for name in labels:
            note = f"<br>{label(notes[name], len(notes[name]))}" if name in notes else ""
            rows[name, side] = f"{label(name, len(name))}{side}{note}"
        bars = chart.bars(subject)
        total = sum(sum(numbers.values()) for numbers in bars.values())
        for series, numbers in bars.items():
            trace = _bar_trace(chart, series, numbers)
            trace["y"] = [rows[name, side] for name in numbers]
            trace["customdata"] = [number / total if total else 0 for number in numbers.values()]
            hover = f"%{{y}}<br>{trace['name']}: %{{x:{chart.number}}} {chart.unit}, %{{customdata:.2%}}<extra></extra>"
            trace["hovertemplate"] = hover
            trace["marker"] |= {"line": {"width": 1, "color": "rgba(255, 255, 255, 0.55)"}}
            trace |= {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
            texts = ["" if name == series else trace["name"] for name in numbers]  # a row has its own name beside it
            trace |= {"opacity": PALE} if side else {"text": texts}
            traces.append(trace)
    return traces, [rows[name, side] for name in labels for side, *_ in sides]


def _rings(chart: Bars[S], before: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Where pinned stacked bars end."""
    ends: dict[str, float] = {}
    for numbers in before.values():
        for name, number in numbers.items():
            ends[name] = ends.get(name, 0) + number
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [label(name, len(name)) for name in ends],
        "y": np.array(list(ends.values()), np.float64),
        "name": "pinned, whole bars",
        "marker": {"size": 9, "symbol": "circle-open", "color": palette.RESIDUAL},
        "hovertemplate": f"%{{x}}<br>pinned: %{{y:{chart.number}}} {chart.unit}<extra></extra>",
    }


def _bar_trace(chart: Bars[S], series: str, numbers: Mapping[str, float], side: str = "") -> dict[str, Any]:
    names, values = [label(name, len(name)) for name in numbers], np.array(list(numbers.values()), np.float64)
    x, y = (values, names) if chart.horizontal else (names, values)
    value, name = ("%{x", "%{y}") if chart.horizontal else ("%{y", "%{x}")
    unit = f" {chart.unit}" if chart.unit else ""
    whose = "".join(f", {each}" for each in (label(series), side) if each)
    hover = f"{name}{whose}: {value}:{chart.number}}}{unit}<extra></extra>"
    return {
        "type": "bar",
        "x": x,
        "y": y,
        "orientation": "h" if chart.horizontal else "v",
        "name": label(series),
        "marker": {"color": chart.colours[series]},
        "hovertemplate": hover,
    }


def _bars_table(bars: Mapping[str, Any], before: Mapping[str, Any] | None) -> pd.DataFrame:
    now = pd.DataFrame(bars)
    return compare_tables(now, None if before is None else pd.DataFrame(before))
