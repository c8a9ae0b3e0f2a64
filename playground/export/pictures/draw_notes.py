"""What lies around the traces of a figure: legend, frames and lines, words."""

from typing import Any

import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Transform, blended_transform_factory

from playground.export.pictures.axis_scales import SMALL, PlotAxis
from playground.export.pictures.glyphs import Glyphs
from playground.export.pictures.looks import bar_colours, line_look
from playground.export.pictures.paper import TEXT, read_colour
from playground.export.pictures.plain_text import plain_label

_ROW = 17.0
"""Pixels of a legend's row."""


def draw_legend(paper: Figure, figure: go.Figure, width: float, glyphs: Glyphs) -> float:
    """A legend in rows above the charts, where the figure has one; returns its height in pixels."""
    if not figure.layout.showlegend:
        return 0.0
    handles: list[Any] = []
    for trace in figure.data:
        if trace.showlegend is False or not trace.name or trace.type not in ("bar", "scatter"):
            continue
        name = glyphs.fit(plain_label(trace.name))
        if trace.type == "bar":
            handles.append(Patch(facecolor=bar_colours(trace, 1)[0], label=name))
        else:
            handles.append(Line2D([], [], label=name, **line_look(trace)))
    if not handles:
        return 0.0
    longest = max(len(handle.get_label()) for handle in handles)
    columns = max(1, min(len(handles), int(width / (longest * 6.2 + 44))))
    rows = -(-len(handles) // columns)
    by_row = [handles[row * columns + column] for column in range(columns) for row in range(rows)
              if row * columns + column < len(handles)]  # fmt: skip
    paper.legend(
        handles=by_row, loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, fontsize=SMALL,
        labelcolor=TEXT, handlelength=2.2, columnspacing=1.6, borderpad=0.4, labelspacing=0.35,
    )  # fmt: skip
    return rows * _ROW + 4


def draw_shapes(axes: Axes, figure: go.Figure, names: tuple[str, str], scales: tuple[PlotAxis, PlotAxis]) -> None:
    """The frames, lines and areas that a figure has on these axes."""
    for shape in figure.layout.shapes:
        transform = _transform(axes, shape, names, figure)
        if transform is None:
            continue
        (x0, x1), (y0, y1) = (
            [_value(end, ref, scale) for end in ends]
            for ends, ref, scale in (
                ((shape.x0, shape.x1), shape.xref, scales[0]),
                ((shape.y0, shape.y1), shape.yref, scales[1]),
            )
        )
        line = 0.75 * (shape.line.width if shape.line.width is not None else 2)
        dash: Any = {"dot": ":", "dash": "--"}.get(shape.line.dash or "", "-")
        colour = read_colour(shape.line.color)
        above = 0.5 if shape.layer == "below" else 3.5
        if shape.type == "line":
            axes.add_artist(
                Line2D(
                    [x0, x1], [y0, y1], color=colour, linewidth=line, linestyle=dash, transform=transform, zorder=above
                )
            )
        else:
            fill = read_colour(shape.fillcolor) if shape.fillcolor else "none"
            axes.add_artist(
                Rectangle(
                    (x0, y0),
                    x1 - x0,
                    y1 - y0,
                    facecolor=fill,
                    edgecolor=colour if line else "none",
                    linewidth=line,
                    transform=transform,
                    zorder=above,
                    clip_on=bool(shape.fillcolor),
                )
            )


def draw_annotations(
    axes: Axes, figure: go.Figure, names: tuple[str, str], scales: tuple[PlotAxis, PlotAxis], glyphs: Glyphs
) -> None:
    """The words that a figure has at places of these axes."""
    for note in figure.layout.annotations:
        transform = _transform(axes, note, names, figure)
        if transform is None:
            continue
        x, y = (
            10.0 ** float(value) if scale.is_log and "paper" not in ref and "domain" not in ref
            else _value(value, ref, scale)
            for value, ref, scale in ((note.x, note.xref or "x", scales[0]), (note.y, note.yref or "y", scales[1]))
        )  # fmt: skip
        side: Any = note.xanchor if note.xanchor in ("left", "right") else "center"
        height: Any = note.yanchor if note.yanchor in ("top", "bottom") else "center"
        weight = "bold" if "<b>" in (note.text or "") else "normal"
        axes.text(
            x, y, f" {glyphs.fit(plain_label(note.text))} ", transform=transform, ha=side, va=height, fontsize=SMALL,
            fontweight=weight, color=TEXT, clip_on=False, zorder=6,
        )  # fmt: skip


def _value(value: Any, ref: str | None, scale: PlotAxis) -> float:
    reference = ref or scale.letter
    return float(value) if "paper" in reference or "domain" in reference else scale.place(value)


def _transform(axes: Axes, item: Any, names: tuple[str, str], figure: go.Figure) -> Transform | None:
    """How an item's coordinates become places; None where it belongs to other axes."""
    sides: list[Transform] = []
    for letter, ref, name in (("x", item.xref, names[0]), ("y", item.yref, names[1])):
        reference = ref or letter
        if reference == "paper":
            sides.append(axes.transAxes)
        elif reference.removesuffix(" domain") != name:
            return None
        else:
            sides.append(axes.transAxes if reference.endswith("domain") else axes.transData)
    if sides[0] is sides[1]:
        return sides[0]
    return blended_transform_factory(*sides)
