"""Bars of both subjects, bars with texts, and curves, the pinned ones dotted."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Bars, CellRanges, Curves, LabelledBars
from playground.charts.draw.drawn import Drawing, compare_tables, draw_one, find_places
from playground.charts.figure import PALE, Array, Figure
from playground.charts.names import escape, escape_markdown, label
from playground.charts.scene import Scene
from playground.text.wording import round_parts, write_amount

S = TypeVar("S")

_Bars: TypeAlias = Mapping[str, Mapping[str, float]]
"""Numbers by label by series."""


def draw_bars(chart: Bars[S], scene: Scene[S]) -> Drawing:
    """Draw the present bars and the pinned ones."""
    bars, before = chart.bars(scene.now), None if scene.pinned is None else chart.bars(scene.pinned)
    labels = list(dict.fromkeys(name for each in (bars, before or {}) for numbers in each.values() for name in numbers))
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
        axis |= {"categoryarray": list(map(escape, labels)), "tickangle": 0}
        height, paler = 340, ""
    if chart.horizontal:
        layout |= {"xaxis": dict(chart.value), "yaxis": {"autorange": "reversed", **axis, **chart.labels.options}}
    else:
        layout |= {"xaxis": {"tickangle": -figures.SLANT, **axis, **chart.labels.options}, "yaxis": dict(chart.value)}
    has_legend = len(bars) > 1 and not (chart.stacked and chart.horizontal)
    figure = figures.style(traces, layout, height=chart.height or height, legend=has_legend)
    places = find_places(chart.labels, scene.now, len(labels))
    cells = None
    if places:
        cells = CellRanges(places, None) if chart.horizontal else CellRanges(None, places)

    def tabulate() -> pd.DataFrame:
        return compare_tables(pd.DataFrame(bars), None if before is None else pd.DataFrame(before))

    pinned = "" if before is None else f"{paler}: {escape_markdown(scene.pinned_name)}."
    return Drawing(draw_one(chart, scene, lambda: figure, pinned, cells=cells, numbers=tabulate))


def _paired_bars(chart: Bars[S], bars: _Bars, before: _Bars | None) -> list[dict[str, Any]]:
    """Each series beside its pinned one."""
    traces = []
    for series in dict.fromkeys((*bars, *(before or ()))):
        if series in bars:
            traces.append(_bar_trace(chart, series, bars[series]))
        if before is not None and series in before:
            name = escape(f"{series}, pinned" if series else "pinned")
            pale = {"opacity": PALE, "name": name, "showlegend": False}
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
            rows[name, side] = f"{escape(name)}{side}" + (f"<br>{escape(notes[name])}" if name in notes else "")
        bars = chart.bars(subject)
        total = chart.whole or sum(sum(numbers.values()) for numbers in bars.values())
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


def _bar_trace(chart: Bars[S], series: str, numbers: Mapping[str, float], side: str = "") -> dict[str, Any]:
    names, values = list(map(escape, numbers)), np.array(list(numbers.values()), np.float64)
    x, y = (values, names) if chart.horizontal else (names, values)
    value, name = ("%{x", "%{y}") if chart.horizontal else ("%{y", "%{x}")
    unit = f" {chart.unit}" if chart.unit else ""
    whose = "".join(f", {each}" for each in (label(series), side) if each)
    return {
        "type": "bar",
        "x": x,
        "y": y,
        "orientation": "h" if chart.horizontal else "v",
        "name": label(series),
        "marker": {"color": chart.colours[series]},
        "hovertemplate": f"{name}{whose}: {value}:{chart.number}}}{unit}<extra></extra>",
    }


# --- bars with texts

MOST_BARS = 18

KIND_COLOURS = {
    "token": palette.EMBEDDINGS,
    "position": palette.EMBEDDINGS,
    "segment": palette.EMBEDDINGS,
    "attention": palette.ATTENTION,
    "feed-forward": palette.FEED_FORWARD,
    "change": palette.CHANGE,
    "distance": palette.EMBEDDINGS,
    "bias": palette.NORMS,
}


def draw_labelled_bars(chart: LabelledBars[S], scene: Scene[S]) -> Drawing:
    """Draw bars with texts."""
    trace = {
        "type": "bar",
        "x": np.array(chart.values, np.float64),
        "y": list(map(escape, chart.labels)),
        "orientation": "h",
        "marker": {"color": list(chart.colours)},
        "text": list(chart.texts),
        "textposition": "outside",
        "cliponaxis": False,
    }
    y_axis = {"type": "category", "autorange": "reversed", "showgrid": False}
    layout = {"xaxis": {"title": chart.title}, "yaxis": y_axis}
    return Drawing(draw_one(chart, scene, lambda: figures.style([trace], layout, height=70 + 22 * len(chart.labels))))


def contributions(names: Sequence[str], kinds: Sequence[str], amounts: Array, title: str) -> dict[str, Any]:
    """Return labelled bars of signed amounts (S,), in the colours of their kinds."""
    kept, labels, values = add_up_smallest(names, amounts)
    colours = [KIND_COLOURS[kinds[i]] for i in kept] + [palette.RESIDUAL] * (len(labels) - len(kept))
    texts = write_amounts(round_parts(values, sum(values)), "+")
    return {"labels": labels, "values": values, "colours": colours, "texts": texts, "title": title}


def add_up_smallest(names: Sequence[str], amounts: Array) -> tuple[list[int], list[str], list[float]]:
    """Return the places of amounts (n,) with a bar of their own, and labels and values of MOST_BARS bars."""
    n_kept = len(names) if len(names) <= MOST_BARS else MOST_BARS - 1
    kept = keep_largest(amounts, n_kept)
    labels, values = [names[i] for i in kept], amounts[kept].tolist()
    if n_kept < len(names):
        labels.append(f"{len(names) - n_kept} others")
        values.append(float(np.delete(amounts, kept).sum()))
    return kept, labels, values


def keep_largest(amounts: Array, most: int = MOST_BARS) -> list[int]:
    """Return the places of the largest amounts (n,), in order."""
    order = np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")
    return sorted(order[:most].tolist())


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """Return the places of the largest numbers and the chosen one, largest first."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def write_amounts(values: Sequence[float], sign: str = "") -> list[str]:
    """Return the texts of bars."""
    return [write_amount(value, sign) if np.isfinite(value) else "–" for value in values]


def highlight(n: int, chosen: int) -> list[str]:
    """Return colours of n bars; the chosen one stands out."""
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]


# --- curves


def draw_curves(chart: Curves[S], scene: Scene[S]) -> Drawing:
    """Draw the present curves and, dotted, the pinned ones."""
    curves = list(chart.curves(scene.now))
    ghosts = [] if scene.pinned is None else list(chart.curves(scene.pinned))
    dotted = f"Dotted lines, on the same axes: {escape_markdown(scene.pinned_name)}." if ghosts else ""
    places = find_places(chart.x, scene.now, max((len(curve.x) for curve in curves), default=0))
    cells = CellRanges(None, places) if places else None
    return Drawing(
        draw_one(chart, scene, lambda: _curves_figure(chart, curves, ghosts, scene.pinned_name), dotted, cells=cells)
    )


def _curves_figure(
    chart: Curves[Any], curves: Sequence[figures.Curve], ghosts: Sequence[figures.Curve], pinned_name: str
) -> Figure:
    traces = [trace for curve in curves for trace in figures.curve_traces(curve)]
    if ghosts:
        traces += figures.ghost_traces(ghosts, pinned_name)
    numbers = [ends for each in (*curves, *ghosts) for ends in (each.y, each.high) if ends is not None]
    names, x_axis = np.concatenate([each.x for each in (*curves, *ghosts)]), dict[str, Any](title=chart.x.title)
    if names.dtype.kind in "UO":
        x_axis |= {"type": "category", "tickangle": -figures.SLANT, "showgrid": False}
    elif names.dtype.kind in "iu":
        x_axis |= {**figures.whole_ticks(int(np.ptp(names)) + 1), "zeroline": False}
    layout = {"hovermode": "x unified", "xaxis": x_axis | dict(chart.x.options), "yaxis": chart.y(numbers)}
    return figures.style(traces, layout | figures.mark_places(chart.marks), height=chart.height or 380, legend=True)
