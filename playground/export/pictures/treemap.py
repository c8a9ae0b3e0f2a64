"""A treemap: the whole as a rectangle, cut into its parts, and these into theirs."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from playground.export.pictures.glyphs import Glyphs
from playground.export.pictures.paper import ink_on, read_colour
from playground.export.pictures.plain_text import plain_label

_HEADER = 15.0
"""Pixels above the parts of a rectangle, for its name."""
_PAD = 2.0
_LETTER = 5.2
"""Pixels that a letter takes, about."""


class Box(NamedTuple):
    """A rectangle in pixels, from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


def draw_treemap(axes: Axes, trace: go.Treemap, size: tuple[float, float], glyphs: Glyphs) -> None:
    """All rectangles with their names and shares, on axes that are `size` pixels wide and high."""
    axes.set(xlim=(0, size[0]), ylim=(size[1], 0))
    axes.axis("off")
    children: dict[str, list[int]] = defaultdict(list)
    for place, parent in enumerate(trace.parents):
        children[parent].append(place)
    (root,) = children[""]
    total = float(trace.values[root])
    texts = trace.text if trace.text is not None else [""] * len(trace.ids)

    def draw(place: int, box: Box, depth: int) -> None:
        colour = read_colour(trace.marker.colors[place])
        faint = tuple(1 - colour[3] * (1 - channel) for channel in colour[:3])
        axes.add_patch(Rectangle(box[:2], box.width, box.height, facecolor=faint, edgecolor="white", linewidth=0.8))
        share = f"{float(trace.values[place]) / total:.3g}" if total else "–"
        share = f"{100 * float(share):.3g} %" if total else share
        parts = sorted(children[trace.ids[place]], key=lambda part: -float(trace.values[part]))
        inside = Box(box.x + _PAD, box.y + _HEADER, box.width - 2 * _PAD, box.height - _HEADER - _PAD)
        goes_on = bool(parts) and depth < (trace.maxdepth or 99) and min(inside[2:]) > 8
        words = [plain_label(str(trace.labels[place])), share, str(texts[place] or "")]
        lines = [" · ".join(filter(None, words))] if goes_on or box.height < 34 else [line for line in words if line]
        letters = int((box.width - 6) / _LETTER)
        if len(lines[0]) > letters and len(lines) == 1:
            lines = [words[0]]
        if letters >= len(lines[0]) and box.height >= 12:
            shown = "\n".join(line for line in lines if len(line) <= letters)
            axes.text(box.x + 4, box.y + 2, glyphs.fit(shown), fontsize=7.5, va="top", color=ink_on(faint),
                      linespacing=1.15)  # fmt: skip
        if goes_on:
            for part, its_box in zip(parts, divide(inside, [float(trace.values[part]) for part in parts]), strict=True):
                draw(part, its_box, depth + 1)

    draw(root, Box(0, 0, *size), 1)


def divide(box: Box, sizes: Sequence[float]) -> list[Box]:
    """Boxes that fill a box, in proportion to sizes, the largest first, each about as high as wide.

    Rows along the shorter side, each as long as that makes its boxes squarer (Bruls, Huizing & van Wijk 2000).
    """
    scale = box.width * box.height / (sum(sizes) or 1.0)
    areas, boxes = [size * scale for size in sizes], []
    while areas:
        short = max(min(box.width, box.height), 1e-9)
        n = 1
        while n < len(areas) and _worst(areas[: n + 1], short) <= _worst(areas[:n], short):
            n += 1
        row, areas = areas[:n], areas[n:]
        thick = sum(row) / short
        at = 0.0
        for area in row:
            long = area / thick if thick else 0.0
            if box.width >= box.height:
                boxes.append(Box(box.x, box.y + at, thick, long))
            else:
                boxes.append(Box(box.x + at, box.y, long, thick))
            at += long
        if box.width >= box.height:
            box = Box(box.x + thick, box.y, box.width - thick, box.height)
        else:
            box = Box(box.x, box.y + thick, box.width, box.height - thick)
    return boxes


def _worst(row: Sequence[float], short: float) -> float:
    """The largest ratio of two sides among the boxes of a row."""
    thick = sum(row) / short
    return max((max(thick**2 / area, area / thick**2) for area in row if area > 0), default=1.0) if thick else 1.0
