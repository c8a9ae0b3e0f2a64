"""A figure's axes as matplotlib draws them: where they begin and end, their ticks, and what stands at these."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from playground.export.pictures.glyphs import Glyphs
from playground.export.pictures.paper import FAINT_TEXT, GRID, TEXT, read_colour
from playground.export.pictures.plain_text import plain_label, raised

ROOM = 0.04
"""Free beyond the outermost numbers, as a share of the axis."""

SMALL = 8.0
"""Points of the letters at ticks and in the caption; titles have MEDIUM."""
MEDIUM = 8.5

_PAD = 4.0
"""Points between an axis and the words at it."""

_PIXELS_A_TICK = {"x": 60, "y": 34}
_PIXELS_A_NAME = 12
_PREFIXES = {-3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P", 6: "E", 7: "Z"}


class PlotAxis:
    """One axis of a figure: what lies on it, as numbers."""

    def __init__(self, layout: Any, letter: Literal["x", "y"], traces: Sequence[Any]) -> None:
        """Of these traces, all of which lie on the axis of this layout."""
        self.layout = layout
        self.letter: Literal["x", "y"] = letter
        values = [trace[letter] for trace in traces if trace[letter] is not None]
        named = any(isinstance(value, str) for each in values for value in each)
        self.is_category = layout.type == "category" or (named and layout.type is None)
        self.is_log = layout.type == "log"
        self.is_whole = bool(traces) and all(_counts(trace[letter]) for trace in traces)
        self.names: list[str] = []
        if self.is_category:
            ordered = list(layout.categoryarray) if layout.categoryarray is not None else []
            seen = [value for each in values for value in each if value is not None]
            self.names = list(dict.fromkeys(str(value) for value in (*ordered, *seen)))
        self._places = {name: place for place, name in enumerate(self.names)}

    def numbers(self, values: Any, n: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Values on this axis as numbers; None counts from 0 to n − 1, and a gap is NaN."""
        if values is None:
            return np.arange(n, dtype=np.float64)
        if self.is_category:
            return np.array([self.place(value) for value in values])
        return np.array([np.nan if value is None else value for value in values], np.float64)

    def place(self, value: Any) -> float:
        """One value as a number: a name is its place among the names; a number between two names stays."""
        if value is None:
            return math.nan
        if self.is_category:
            return float(self._places.get(str(value), value if isinstance(value, int | float) else math.nan))
        return float(value)

    def ends(self, numbers: Sequence[Any], *, exact: bool, from_zero: bool) -> tuple[float, float]:
        """Where the axis begins and ends, around all numbers on it; `exact` leaves no room beyond them."""
        if self.layout.range is not None:
            low, high = (10.0**end if self.is_log else float(end) for end in self.layout.range)
            return low, high
        every = np.concatenate([*(np.ravel(each) for each in numbers), np.zeros(0)]).astype(np.float64)
        include = self.layout.autorangeoptions.include
        if include is not None:
            every = np.append(every, np.atleast_1d(np.asarray(include, np.float64)))
        every = every[np.isfinite(every) & ((every > 0) | (not self.is_log))]
        low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
        if from_zero or self.layout.rangemode == "tozero":
            low, high = (min(low, 0.0), max(high, 0.0)) if not self.is_log else (low, high)
        low, high = _widened(low, high, self.is_log, exact=exact or self.is_category)
        return (high, low) if self.layout.autorange == "reversed" else (low, high)


def _counts(values: Any) -> bool:
    """Whether places on an axis are whole numbers, which have nothing between them."""
    return values is None or np.asarray(values).dtype.kind in "iu"


def _widened(low: float, high: float, is_log: bool, *, exact: bool) -> tuple[float, float]:
    if exact:
        return low, high
    if is_log:
        room = 10 ** max(ROOM * math.log10(high / low), 0.05)
        return low / room, high * room
    room = ROOM * (high - low) or abs(high) or 1.0
    return low - room * (low != 0), high + room * (high != 0 or low == 0)


def dress_axis(axes: Axes, axis: PlotAxis, ends: tuple[float, float], pixels: float, glyphs: Glyphs) -> None:
    """Give one axis of `axes` its scale, ends, ticks, grid and title; `pixels` is about how long it will be."""
    layout, drawn = axis.layout, axes.xaxis if axis.letter == "x" else axes.yaxis
    if axis.is_log:
        (axes.set_xscale if axis.letter == "x" else axes.set_yscale)("log")
    (axes.set_xlim if axis.letter == "x" else axes.set_ylim)(*ends)
    drawn.set_major_locator(NullLocator())  # its ticks are several times as slow as these words and lines
    drawn.set_minor_locator(NullLocator())
    low, high = sorted(ends)
    ticks = [(place, text) for place, text in _ticks(axis, (low, high), pixels) if low <= place <= high]
    room = 0.0
    if layout.showticklabels is False:
        axes.spines["bottom" if axis.letter == "x" else "left"].set_visible(False)
    else:
        room = _write_ticks(axes, axis, [(place, glyphs.fit(text)) for place, text in ticks])
    if layout.showgrid is not False and not axis.is_category:
        _draw_grid(axes, axis, [place for place, _ in ticks])
    title = layout.title.text
    if title:
        weight = "bold" if "<b>" in title else "normal"
        colour = read_colour(layout.title.font.color, TEXT)
        drawn.set_label_text(glyphs.fit(plain_label(title)), fontsize=MEDIUM, color=colour, fontweight=weight)
        drawn.labelpad = room + 5


def _write_ticks(axes: Axes, axis: PlotAxis, ticks: Sequence[tuple[float, str]]) -> float:
    """Write the words at an axis; returns how far from it they reach, in points."""
    paper: Any = axes.get_figure(root=True)
    renderer, angle = paper.canvas.get_renderer(), -(axis.layout.tickangle or 0)
    is_slanted = 0 < angle < 90
    look: dict[str, Any] = {"fontsize": SMALL, "color": FAINT_TEXT, "rotation": angle, "rotation_mode": "anchor"}
    if axis.letter == "x":
        look |= {"ha": "right", "va": "center"} if is_slanted else {"ha": "center", "va": "top"}
        look["transform"] = axes.get_xaxis_transform() + ScaledTranslation(0, -_PAD / 72, paper.dpi_scale_trans)
    else:
        look |= {"ha": "right", "va": "center"}
        look["transform"] = axes.get_yaxis_transform() + ScaledTranslation(-_PAD / 72, 0, paper.dpi_scale_trans)
    longest = 0.0
    for place, text in ticks:
        at = (place, 0.0) if axis.letter == "x" else (0.0, place)
        box = axes.text(*at, text, **look).get_window_extent(renderer)
        longest = max(longest, box.height if axis.letter == "x" else box.width)
    return _PAD + longest * 72 / float(paper.dpi)


def _draw_grid(axes: Axes, axis: PlotAxis, places: Sequence[float]) -> None:
    """Faint lines across the axes."""
    across = axis.letter == "x"
    lines = [[(place, 0), (place, 1)] if across else [(0, place), (1, place)] for place in places]
    transform = axes.get_xaxis_transform() if across else axes.get_yaxis_transform()
    axes.add_collection(
        LineCollection(lines, colors=GRID, linewidths=0.7, transform=transform, zorder=0.4), autolim=False
    )


def _ticks(axis: PlotAxis, ends: tuple[float, float], pixels: float) -> list[tuple[float, str]]:
    """Where something stands at an axis of about so many pixels, and what."""
    layout = axis.layout
    if layout.tickvals is not None:
        places = [axis.place(value) for value in layout.tickvals]
        if layout.ticktext is not None:
            return [(place, plain_label(text)) for place, text in zip(places, layout.ticktext, strict=True)]
    elif axis.is_category:
        skip = max(1, math.ceil(len(axis.names) * _PIXELS_A_NAME / max(pixels, 1)))
        return [(float(place), plain_label(axis.names[place])) for place in range(0, len(axis.names), skip)]
    elif axis.is_log:
        places = _decades(ends, layout.dtick)
    else:
        most = max(2, int(pixels / _PIXELS_A_TICK[axis.letter]))
        places = even_ticks(ends, layout.dtick, 2 * most, min(most, layout.nticks or most), whole=axis.is_whole)
    return [(place, tick_text(place, layout, is_log=axis.is_log)) for place in places]


def even_ticks(ends: tuple[float, float], step: Any, most_steps: int, most: int, *, whole: bool = False) -> list[float]:
    """Round numbers between two ends: `step` apart if those are not too many, else at most `most`."""
    low, high = ends
    if isinstance(step, int | float) and (high - low) / step <= most_steps:
        first = math.ceil(low / step - 1e-9)
        return [step * n for n in range(first, math.floor(high / step + 1e-9) + 1)]
    places: Any = MaxNLocator(most, steps=[1, 2, 5, 10], integer=whole).tick_values(low, high)
    return [place + 0.0 for place in places.tolist() if low <= place <= high]


def _decades(ends: tuple[float, float], dtick: Any) -> list[float]:
    """Powers of ten, as many as are read easily; where there is at most one, also numbers between them."""
    low, high = sorted(math.log10(end) for end in ends)
    powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    step = max(1, math.ceil(len(powers) / 8), int(dtick) if isinstance(dtick, int | float) else 1)
    if len(powers) > 2:
        return [10.0**power for power in powers if power % step == 0]
    between = [n * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for n in (1, 2, 5)]
    return [number for number in between if 10**low * 0.999 <= number <= 10**high * 1.001]


def tick_text(value: float, layout: Any, *, is_log: bool = False) -> str:
    """A number at a tick as the page writes it: as a percentage, with a prefix, or as a power of ten."""
    before, after = plain_label(layout.tickprefix), plain_label(layout.ticksuffix)
    if "<sup>" in (layout.tickprefix or ""):
        return before.removesuffix("<sup>") + raised(f"{value:.3g}")
    if "%" in (layout.tickformat or ""):
        return f"{100 * value:.3g} %"
    size = abs(value)
    if layout.exponentformat in ("SI", "B") and size >= 1000:
        thousands = int(math.log10(size) // 3)
        prefix = "B" if layout.exponentformat == "B" and thousands == 3 else _PREFIXES.get(thousands, "")
        return f"{before}{value / 1000**thousands:.3g}{prefix}{after}"
    is_far = size >= 1e5 or 0 < size < 1e-3
    if is_far or (is_log and layout.exponentformat == "power" and size not in (1, 10, 100)):
        exponent = math.floor(math.log10(size) + 1e-9)
        digits = value / 10**exponent
        power = f"10{raised(exponent)}"
        return f"{before}{power if abs(digits - 1) < 1e-6 else f'{digits:.3g}·{power}'}{after}"
    return f"{before}{f'{value:.6g}'.replace('-', '−')}{after}"


def axis_name(axis: str | None, letter: str) -> str:
    """The property of a layout that holds an axis such as `x2`."""
    return f"{letter}axis{(axis or letter).removeprefix(letter)}"


def subplots_of(figure: go.Figure) -> list[tuple[str, str]]:
    """The pairs of axes that traces lie on, such as (`x`, `y2`), in their order."""
    pairs = [(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data if trace.type != "treemap"]
    return list(dict.fromkeys(pairs)) or [("x", "y")]
