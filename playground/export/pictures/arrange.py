"""A figure laid out on paper: its charts, a legend above them, colour scales beside them, a caption below."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from playground.export.pictures.axis_scales import SMALL, PlotAxis, axis_name, dress_axis, subplots_of
from playground.export.pictures.colour_scale import BAR_APART, BAR_THICK, draw_colour_bar
from playground.export.pictures.draw_notes import draw_annotations, draw_legend, draw_shapes
from playground.export.pictures.draw_traces import draw_bars, draw_heatmap, draw_line
from playground.export.pictures.drawing import Drawing
from playground.export.pictures.glyphs import LACKING_NOTE, Glyphs, wrap
from playground.export.pictures.paper import FRAME, PAGE_WIDTH, PIXELS, TEXT, read_colour
from playground.export.pictures.plain_text import plain_caption
from playground.export.pictures.treemap import draw_treemap

EDGE = 8.0
"""Pixels left free around everything."""

_LINE = 1.4
"""Height of a line of text, in heights of its letters."""


@dataclass
class _Subplot:
    axes: Axes
    domain: Bbox
    """Its share of the room for charts, from the lower left."""
    bar: Axes | None = None


def arrange(figure: go.Figure, caption: str, glyphs: Glyphs, dots: float) -> Drawing:
    """The figure with everything in its place but for the cells of heatmaps; with so many `dots` a pixel."""
    width = float(figure.layout.width or PAGE_WIDTH)
    height = float(figure.layout.height or 420)
    paper = Figure(figsize=(width / PIXELS, height / PIXELS), dpi=dots * PIXELS, facecolor="white")
    canvas: Any = FigureCanvasAgg(paper)
    drawing = Drawing(paper)
    subplots = [_draw_subplot(drawing, figure, x, y, (width, height), glyphs) for x, y in subplots_of(figure)]
    legend = draw_legend(paper, figure, width - 2 * EDGE, glyphs)
    note = figure.layout.meta if isinstance(figure.layout.meta, str) else ""
    lines = wrap(glyphs.fit(plain_caption(f"{caption} {note}")), width - 2 * EDGE, SMALL)
    if glyphs.lacking:
        lines.append(LACKING_NOTE)
    below = len(lines) * _LINE * SMALL * PIXELS / 72 + (EDGE if lines else 0)
    height += below
    paper.set_size_inches(width / PIXELS, height / PIXELS)
    for number, line in enumerate(lines):
        top = below - number * _LINE * SMALL * PIXELS / 72
        paper.text(EDGE / width, top / height, line, fontsize=SMALL, va="top", color=TEXT)
    renderer = canvas.get_renderer()  # of the paper in its final size
    room = Bbox([[EDGE, EDGE + below], [width - EDGE, height - EDGE - legend]])
    _place(subplots, room, (width, height), renderer, dots)
    _leave_out_wide_names(drawing, renderer)
    return drawing


def _draw_subplot(
    drawing: Drawing, figure: go.Figure, x_name: str, y_name: str, size: tuple[float, float], glyphs: Glyphs
) -> _Subplot:
    layout = figure.layout
    axes = drawing.paper.add_axes((0.1, 0.1, 0.8, 0.8), facecolor=read_colour(layout.plot_bgcolor, "#ffffff"))
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set(color=FRAME, linewidth=0.7)
    traces = (
        [trace for trace in figure.data if (trace.xaxis or "x", trace.yaxis or "y") == (x_name, y_name)]
        if not (figure.data and figure.data[0].type == "treemap")
        else list(figure.data)
    )
    if traces and traces[0].type == "treemap":
        room = (size[0] - 2 * EDGE, size[1] - 2 * EDGE)
        draw_treemap(axes, traces[0], room, glyphs)
        return _Subplot(axes, Bbox([[0, 0], [1, 1]]))
    x_layout, y_layout = layout[axis_name(x_name, "x")], layout[axis_name(y_name, "y")]
    domain = Bbox([[(x_layout.domain or (0, 1))[0], (y_layout.domain or (0, 1))[0]],
                   [(x_layout.domain or (0, 1))[1], (y_layout.domain or (0, 1))[1]]])  # fmt: skip
    shared_x = [trace for trace in figure.data if trace.type != "treemap" and _shares(figure, trace.xaxis, x_name, "x")]
    x, y = PlotAxis(x_layout, "x", shared_x), PlotAxis(y_layout, "y", traces)
    bars = [trace for trace in traces if trace.type == "bar"]
    across = bool(bars) and bars[0].orientation == "h"
    heatmaps = [trace for trace in traces if trace.type == "heatmap"]
    tips, inside = draw_bars(axes, bars, x, y, layout, glyphs)
    drawing.inside += inside
    pixels = (0.82 * size[0] * domain.width, 0.75 * size[1] * domain.height)
    cells = [draw_heatmap(axes, trace, x, y, pixels, glyphs) for trace in heatmaps]
    drawing.cells += cells
    curves = [trace for trace in traces if trace.type == "scatter"]
    for trace in curves:
        draw_line(axes, trace, x, y, glyphs)
    for axis, tip_axis, edges in ((x, across, slice(0, 2)), (y, not across, slice(2, 4))):
        numbers: list[Any] = [axis.numbers(trace[axis.letter]) for trace in curves if trace[axis.letter] is not None]
        numbers += [cell.edges[edges] for cell in cells]
        numbers += tips if bars and tip_axis else [axis.numbers(trace[axis.letter]) for trace in bars]
        if axis.is_category:
            numbers.append(np.array([-0.5, len(axis.names) - 0.5]))
        elif bars and not tip_axis:
            numbers.append(np.array([end for each in numbers for end in (np.min(each) - 0.5, np.max(each) + 0.5)]))
        ends = axis.ends(numbers, exact=bool(cells) or (bool(bars) and not tip_axis), from_zero=bool(bars) and tip_axis)
        dress_axis(axes, axis, ends, pixels[axis.letter == "y"], glyphs)
    draw_shapes(axes, figure, (x_name, y_name), (x, y))
    draw_annotations(axes, figure, (x_name, y_name), (x, y), glyphs)
    axes.spines[["top", "right"]].set_visible(bool(cells))
    barred = next((trace for trace in heatmaps if trace.showscale is not False), None)
    return _Subplot(axes, domain, draw_colour_bar(drawing.paper, barred, cells[heatmaps.index(barred)], glyphs)
                    if barred is not None else None)  # fmt: skip


def _shares(figure: go.Figure, axis: str | None, other: str, letter: str) -> bool:
    """Whether an axis is another, or goes along with it."""
    group = [figure.layout[axis_name(name, letter)].matches or name or letter for name in (axis, other)]
    return group[0] == group[1]


def _place(subplots: list[_Subplot], room: Bbox, size: tuple[float, float], renderer: Any, dots: float) -> None:
    """Put charts and their bars into the room, so that all their labels fit in."""
    margins = np.zeros(4)  # left, bottom, right, top
    beside = 0.0
    for subplot in subplots:
        inner, outer = subplot.axes.get_window_extent(renderer), subplot.axes.get_tightbbox(renderer)
        if outer is None:
            continue
        spread = np.array([inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1])
        spread /= dots
        at_edge = [subplot.domain.x0 < 0.01, subplot.domain.y0 < 0.01, subplot.domain.x1 > 0.99,
                   subplot.domain.y1 > 0.99]  # fmt: skip
        margins = np.maximum(margins, np.where(at_edge, np.maximum(spread, 0), 0))
        if subplot.bar is not None:
            bar, around = subplot.bar.get_window_extent(renderer), subplot.bar.get_tightbbox(renderer)
            if around is not None:
                beside = max(beside, BAR_APART + BAR_THICK + (around.x1 - bar.x1) / dots)
                margins[3] = max(margins[3], (around.y1 - bar.y1) / dots)
    left, bottom, right, top = margins.tolist()
    right = max(right, beside)
    inner = Bbox([[room.x0 + left, room.y0 + bottom], [room.x1 - right, room.y1 - top]])
    for subplot in subplots:
        domain = subplot.domain
        x0, y0 = inner.x0 + domain.x0 * inner.width, inner.y0 + domain.y0 * inner.height
        across, up = max(domain.width * inner.width, 20), max(domain.height * inner.height, 20)
        subplot.axes.set_position((x0 / size[0], y0 / size[1], across / size[0], up / size[1]))
        if subplot.bar is not None:
            subplot.bar.set_position(
                ((inner.x1 + BAR_APART) / size[0], y0 / size[1], BAR_THICK / size[0], up / size[1])
            )


def _leave_out_wide_names(drawing: Drawing, renderer: Any) -> None:
    """Hide the words in bars that are smaller than they."""
    for name in drawing.inside:
        (x0, y0), (x1, y1) = name.axes.transData.transform(name.ends)
        words = name.text.get_window_extent(renderer)
        name.text.set_visible(words.width + 4 < abs(x1 - x0) and words.height < abs(y1 - y0) + 4)
