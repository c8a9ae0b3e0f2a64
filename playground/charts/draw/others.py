"""Pictures, heads as thumbnails and as lines, and labelled bars."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts.bars import LabelledRows
from playground.charts.chart import CellRanges, HeadGrid, HeadLines, LabelledBars, Picture
from playground.charts.draw.drawn import Drawing, Drawn, SavedHeads, Side, join_sentences, scene_table
from playground.charts.figure import Figure
from playground.charts.head_lines import lines_figure
from playground.charts.head_map import head_grid
from playground.charts.markdown import escape_markdown
from playground.charts.names import label
from playground.charts.scene import Scene

S = TypeVar("S")


def draw_picture(chart: Picture[S], scene: Scene[S]) -> Drawing:
    """A figure of its own kind, the pinned subject's beside it."""
    table = partial(scene_table, chart, scene) if chart.table else None
    caption = join_sentences(chart.caption, chart.reading(scene.now))
    now = Drawn(chart, "", chart.figure(scene.now), caption, table)
    if scene.pinned is None:
        return Drawing(now)
    name = escape_markdown(scene.pinned_name)
    caption = join_sentences(f"**{name}.**", chart.reading(scene.pinned))
    return Drawing(now, (Drawn(chart, "pinned", chart.figure(scene.pinned), caption),))


def draw_head_grid(chart: HeadGrid[S], scene: Scene[S]) -> Drawing:
    """All heads as thumbnails."""
    subject, thumbnails = scene.now, chart.thumbnails(scene.now)
    n_layers, n_heads = thumbnails.shape[:2]
    figure = head_grid(thumbnails, chart.scale, height=chart.height)
    rows, columns = (
        (place, {n: n for n in range(size)}) for place, size in zip(chart.places, (n_layers, n_heads), strict=True)
    )
    heads = SavedHeads(partial(chart.weights, subject), chart.queries(subject), chart.keys(subject), n_layers * n_heads)
    caption, table = join_sentences(chart.caption, chart.reading(subject)), None
    if chart.table:
        table = partial(chart.table, subject)
    cells = CellRanges(rows, columns, is_mosaic=True, opens=chart.opens) if chart.click else None
    return Drawing(Drawn(chart, "", figure, caption, table, cells, heads))


def draw_head_lines(chart: HeadLines[S], scene: Scene[S]) -> Drawing:
    """The present lines, the pinned ones in a row with them."""
    table = partial(scene_table, chart, scene) if chart.table else None
    now = _lines_of(chart, "", scene.now, join_sentences(chart.caption, chart.reading(scene.now)), table)
    if scene.pinned is None:
        return Drawing(now)
    name = escape_markdown(scene.pinned_name)
    caption = join_sentences(f"**{name}.**", chart.nearest(scene.pinned), "The same width for the same weight.")
    return Drawing(now, (_lines_of(chart, "pinned", scene.pinned, caption),), in_one_row=True)


def _lines_of(
    chart: HeadLines[S], side: Side, subject: S, caption: str, table: Callable[[], pd.DataFrame] | None = None
) -> Drawn:
    lines = chart.lines(subject)
    weights, figure = partial(chart.weights, subject), partial(lines_figure, lines)
    return Drawn(chart, side, figure, caption, table, live=lines, saved_table=weights)


def draw_labelled_bars(chart: LabelledBars[S], scene: Scene[S]) -> Drawing:
    """The bars; their figure is made when asked for."""
    bars = chart.bars(scene.now)
    caption = join_sentences(chart.caption, chart.reading(scene.now))
    table = partial(chart.table, scene.now) if chart.table else None
    return Drawing(Drawn(chart, "", partial(_labelled_bars_figure, bars), caption, table, live=bars))


def _labelled_bars_figure(bars: LabelledRows) -> Figure:
    values = np.array(bars.values, np.float64)
    finite = np.append(values[np.isfinite(values)], 0)
    low, high = float(finite.min()), float(finite.max())
    room = 0.18 * ((high - low) or 1)  # for the texts behind the bars
    trace = {
        "type": "bar",
        "x": values,
        "y": [label(name, len(name)) for name in bars.labels],
        "orientation": "h",
        "marker": {"color": list(bars.colours)},
        "text": list(bars.texts),
        "textposition": "outside",
    }
    layout = {
        "xaxis": {"title": bars.title, "range": [low - room * (low < 0), high + room]},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False},
    }
    return figures.style([trace], layout, height=70 + 22 * len(bars.labels))
