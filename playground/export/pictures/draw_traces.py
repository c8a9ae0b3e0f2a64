"""Bars, lines and heatmaps of a figure on matplotlib's axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from playground.export.pictures.axis_scales import SMALL, PlotAxis
from playground.export.pictures.cells import shades_of
from playground.export.pictures.drawing import Cells, NameInBar
from playground.export.pictures.glyphs import Glyphs
from playground.export.pictures.looks import POINTS, bar_colours, line_look
from playground.export.pictures.paper import TEXT, ink_on, ramp_of, read_colour
from playground.export.pictures.plain_text import plain_label

_BAR_WIDTH = 0.8
_NAMED = 7.0
"""Points of letters inside cells and bars."""


def draw_heatmap(
    axes: Axes, trace: go.Heatmap, x: PlotAxis, y: PlotAxis, size: tuple[float, float], glyphs: Glyphs
) -> Cells:
    """What the cells of a heatmap are, with the numbers in them drawn; the axes are `size` pixels wide and high."""
    z = np.asarray(trace.z, None if isinstance(trace.z, np.ndarray) and trace.z.dtype.kind == "f" else np.float64)
    finite = z[np.isfinite(z)] if trace.zmin is None or trace.zmax is None else z[:0]
    low = float(trace.zmin) if trace.zmin is not None else float(finite.min()) if finite.size else 0.0
    high = float(trace.zmax) if trace.zmax is not None else float(finite.max()) if finite.size else 1.0
    shades = shades_of(z, low, high)
    columns, rows = x.numbers(trace.x, z.shape[1]), y.numbers(trace.y, z.shape[0])
    edges = (*_outer_edges(columns), *_outer_edges(rows))
    gaps = (
        min(0.5, (trace.xgap or 0) * z.shape[1] / size[0]),
        min(0.5, (trace.ygap or 0) * z.shape[0] / size[1]),
    )
    cells = Cells(axes, shades, ramp_of(trace), (low, high), gaps, edges)
    if trace.texttemplate:
        number = trace.texttemplate.removeprefix("%{z:").removesuffix("}")
        for (row, column), value in np.ndenumerate(z):
            if np.isfinite(value):
                colour = ink_on((cells.ramp[shades[row, column]] / 255).tolist())
                text = format(value, number).replace("-", "−")
                axes.text(
                    float(columns[column]),
                    float(rows[row]),
                    text,
                    color=colour,
                    fontsize=_NAMED,
                    ha="center",
                    va="center",
                )
    return cells


def _outer_edges(places: NDArray[np.float64]) -> tuple[float, float]:
    """Where the first and the last cell end, half a cell beyond their middles."""
    half = (places[-1] - places[0]) / (2 * (len(places) - 1)) if len(places) > 1 else 0.5
    return float(places[0] - half), float(places[-1] + half)


def paint_cells(cells: Cells) -> None:
    """Draw cells for a PNG or a PDF: as rectangles where there are gaps between them, else as an image."""
    left, right, first, last = cells.edges
    rgba = cells.colours()
    n_rows, n_columns = cells.shades.shape
    if not any(cells.gaps):
        cells.axes.imshow(
            rgba,
            extent=(left, right, last, first),
            aspect="auto",
            interpolation="none" if n_columns < 400 else "antialiased",
            zorder=1,
        )
        return
    rows, columns = np.nonzero(cells.shades >= 0)
    width, height = (right - left) / n_columns, (last - first) / n_rows
    x0, y0 = left + (columns + cells.gaps[0] / 2) * width, first + (rows + cells.gaps[1] / 2) * height
    x1, y1 = x0 + (1 - cells.gaps[0]) * width, y0 + (1 - cells.gaps[1]) * height
    corners = np.stack([np.stack(pair, -1) for pair in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))], axis=1)
    cells.axes.add_collection(
        PolyCollection(list(corners), facecolors=rgba[rows, columns] / 255, edgecolors="none", zorder=1), autolim=False
    )


def draw_line(axes: Axes, trace: go.Scatter, x: PlotAxis, y: PlotAxis, glyphs: Glyphs) -> None:
    """A curve, its markers and the words at its points; or a filled area."""
    if trace.y is None or trace.visible is False or trace.opacity == 0:
        return
    across, up = x.numbers(trace.x, len(trace.y)), y.numbers(trace.y)
    mode = trace.mode or "lines"
    if trace.fill == "toself":
        axes.fill(across, up, facecolor=read_colour(trace.fillcolor), edgecolor="none", zorder=1.5)
        return
    look = line_look(trace)
    above: dict[str, Any] = {"clip_on": False, "zorder": 4} if trace.cliponaxis is False else {"zorder": 3}
    if "lines" in mode or "markers" in mode:
        axes.plot(across, up, solid_capstyle="butt" if trace.hoverinfo == "skip" else "round", **look, **above)
    if "markers" in mode and not isinstance(trace.marker.color, str | None):  # a colour for each point
        for place, height, own_colour in zip(across, up, map(read_colour, trace.marker.color), strict=True):
            painted = {"color": own_colour, "markerfacecolor": own_colour, "markeredgecolor": own_colour}
            axes.plot([place], [height], **look | painted, **above)
    if "text" in mode and trace.text is not None:
        own = trace.textfont.color
        colour = read_colour(own) if isinstance(own, str) else look["color"]
        words, sides = (
            np.broadcast_to(each, across.shape) for each in (trace.text, trace.textposition or "middle center")
        )
        for place, height, text, side in zip(across, up, words, sides, strict=True):
            if text and np.isfinite(place) and np.isfinite(height):
                axes.annotate(
                    glyphs.fit(plain_label(str(text))), (place, height), textcoords="offset points",
                    fontsize=_NAMED, color=colour, annotation_clip=False, **_beside(side),
                )  # fmt: skip


def _beside(side: str) -> dict[str, Any]:
    """Where a text stands at a point, in Matplotlib's words, from Plotly's, such as `top center`."""
    vertical, _, horizontal = side.partition(" ")
    return {
        "xytext": (5 * {"left": -1, "right": 1}.get(horizontal, 0), 3 * {"top": 1, "bottom": -1}.get(vertical, 0)),
        "ha": {"left": "right", "right": "left"}.get(horizontal, "center"),
        "va": {"top": "bottom", "bottom": "top"}.get(vertical, "center"),
    }


def draw_bars(
    axes: Axes, traces: Sequence[go.Bar], x: PlotAxis, y: PlotAxis, layout: Any, glyphs: Glyphs
) -> tuple[list[NDArray[np.float64]], list[NameInBar]]:
    """All bars of a subplot, beside each other or stacked; returns the places of their ends, and the names in them."""
    across = bool(traces) and traces[0].orientation == "h"
    names, sizes = (y, x) if across else (x, y)
    stacked = layout.barmode == "stack"
    room = 1 - (layout.bargap if layout.bargap is not None else 1 - _BAR_WIDTH)
    width = room if stacked else room / max(1, len(traces))
    tops: dict[tuple[float, bool], float] = {}
    ends, inside = [], []
    for number, trace in enumerate(traces):
        lengths = sizes.numbers(trace.x if across else trace.y)
        middles = names.numbers(trace.y if across else trace.x, len(lengths))
        begins = np.zeros(len(lengths))
        if stacked:
            for i, (place, length) in enumerate(zip(middles.tolist(), np.nan_to_num(lengths).tolist(), strict=True)):
                begins[i] = tops.get((place, length < 0), 0.0)
                tops[place, length < 0] = begins[i] + length
        else:
            middles = middles - room / 2 + width * (number + 0.5)
        tips = begins + lengths
        if sizes.is_log:
            begins = np.full(len(lengths), np.nanmin(lengths, initial=1.0) * 1e-30)
        inside += _draw_bars(axes, trace, np.stack([middles, begins, tips], axis=1), width, glyphs, across=across)
        ends.append(tips)
    return ends, inside


def _draw_bars(
    axes: Axes, trace: go.Bar, places: NDArray[np.float64], width: float, glyphs: Glyphs, *, across: bool
) -> list[NameInBar]:
    """One trace's bars, of each its middle, its beginning and its end: (n, 3); returns the names inside them."""
    edge, inside = trace.marker.line, []
    border = {"edgecolor": read_colour(edge.color), "linewidth": POINTS * edge.width} if edge.width else {}
    texts = np.broadcast_to("" if trace.text is None else trace.text, len(places))
    for (middle, begin, end), colour, text in zip(places, bar_colours(trace, len(places)), texts, strict=True):
        if not (np.isfinite(middle) and np.isfinite(end)):
            continue
        corner, opposite = (middle - width / 2, begin), (middle + width / 2, end)
        corner, opposite = (corner[::-1], opposite[::-1]) if across else (corner, opposite)
        axes.add_patch(
            Rectangle(corner, opposite[0] - corner[0], opposite[1] - corner[1], facecolor=colour, zorder=2, **border)
        )
        if not text:
            continue
        sign = 1 if end >= begin else -1
        look: dict[str, Any] = {"xytext": (0, 0), "ha": "center", "fontsize": _NAMED, "color": ink_on(colour)}
        at = (begin + end) / 2
        if trace.textposition == "outside":
            at, look["color"], look["fontsize"] = end, TEXT, SMALL
            look |= {"xytext": (4 * sign, 0), "ha": "left" if sign > 0 else "right"} if across else {}
        place = (at, middle) if across else (middle, at)
        words = axes.annotate(
            glyphs.fit(plain_label(str(text))), place, textcoords="offset points", va="center",
            annotation_clip=False, zorder=5, **look,
        )  # fmt: skip
        if trace.textposition != "outside":
            inside.append(NameInBar(axes, words, (corner, opposite)))
    return inside
