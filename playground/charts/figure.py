"""Figures as plain dictionaries, as Plotly's JSON has them; tests validate them, pages don't.

Colours of the page, fonts and the sequential scale come from the app's theme, light or dark, in the browser.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import plotly.io
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.names import label, text_width
from playground.text.wording import with_minus, write_signed

Array: TypeAlias = NDArray[np.floating[Any]]

Figure: TypeAlias = dict[str, Any]
"""`data`, a list of traces, and `layout`, by Plotly's names; arrays are NumPy's."""

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""What numbers may differ by, as a share of their size, and be the same but for rounding."""

SAME_HEIGHT = "Some of these numbers differ by no more than the rounding of 32-bit floats: their axis includes 0."
"""The note of lines on whose axis nothing but rounding would be seen."""

SAME_COLOUR = "These numbers differ by no more than the rounding of 32-bit floats, so they have one colour."
"""The note of a heatmap whose structure would be nothing but rounding."""

PALE = 0.5
"""Opacity of a bar of the pinned settings, beside the present one in full colour."""

BAND = "band"
"""Plotly's `meta` of a line whose `customdata` are the band's lower and upper ends."""

ROOM_ABOVE = 56
"""Pixels that `flat_bar` takes."""

LOGARITHMIC_FROM = 100
"""Where the largest value is this many times the smallest, an axis is logarithmic: small ones would not be seen."""

SLANT = 55
"""Degrees by which the names rise along a horizontal axis."""

SHOWN = 8
"""Numbers of a vector that are drawn."""

MOST_VECTORS = 16
"""Vectors that one figure shows."""

LAST_LABEL = 22
"""Pixels beside a chart for half of the last step's number: Plotly leaves out a label that would be cut."""

_LONGEST_SIDE = 48
"""Letters of the pinned settings' name in a legend."""

_GHOST_MARKER = 5
"""Pixels of the mark at each number of a pinned curve."""


@dataclass(frozen=True)
class Colours:
    """How numbers become colours."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Of Plotly's heatmap: where colours end, and their scale."""
    place: Callable[[Array], Array] | None = None
    """Where a number lies on the scale, if not at itself."""
    ticks: Mapping[str, Any] = field(default_factory=dict)
    """Of the bar beside the heatmap."""


@dataclass(frozen=True)
class Curve:
    """A line of numbers, with a band around it where `low` and `high` are given."""

    name: str
    x: NDArray[Any]
    y: Array
    colour: str
    low: Array | None = None
    high: Array | None = None
    hover: str = "%{y:.4g}"
    band: str = ""
    """What the hover says of the band, after a space: `low` is `%{customdata[0]}`, `high` `%{customdata[1]}`."""
    panel: int = 0
    marker: int = 6
    """Pixels of the mark at each number; 0 draws none."""
    dash: str | None = None
    """Plotly's name of a broken line."""


@dataclass(frozen=True)
class Mark:
    """A vertical line at a number of the horizontal axis, with a name where it has one."""

    at: float
    name: str = ""
    dash: str = "dot"
    colour: str = palette.RESIDUAL


@dataclass(frozen=True)
class Frame:
    """A frame around cells of a heatmap, from the first to the last of these rows and columns."""

    rows: tuple[int, int]
    """By the numbers that the axis counts; with names, from 0."""
    columns: tuple[int, int]
    colour: str
    width: int = 3
    """Of its line, in pixels, half of them outside the cells."""


def draw_frames(frames: Sequence[Frame]) -> list[dict[str, Any]]:
    """The layout's shapes for frames around cells."""
    return [
        {"type": "rect", "xref": "x", "yref": "y",
         "x0": frame.columns[0] - 0.5, "x1": frame.columns[1] + 0.5,
         "y0": frame.rows[0] - 0.5, "y1": frame.rows[1] + 0.5,
         "line": {"color": frame.colour, "width": frame.width}}
        for frame in frames
    ]  # fmt: skip


def from_zero(numbers: Sequence[Array]) -> Colours:
    """Colours from 0 to the largest of these numbers."""
    return Colours({"zmin": 0, "zmax": max(map(largest, numbers))})


def between_ends(numbers: Sequence[Array]) -> Colours:
    """Colours from the smallest to the largest of these numbers; of one subject alone, as Plotly chooses."""
    every = np.concatenate([each[np.isfinite(each)] for each in numbers])
    if len(numbers) == 1 or not every.size or np.ptp(every) <= ROUNDING * np.abs(every).max():
        return Colours()
    return Colours({"zmin": float(every.min()), "zmax": float(every.max())})


def by_length(numbers: Sequence[Array]) -> Colours:
    """As `between_ends`, of the logarithms where numbers lie far apart."""
    if not is_logarithmic(np.concatenate([each.ravel() for each in numbers])):
        return between_ends(numbers)
    powers = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "dtick": 1}
    return Colours(between_ends([_logarithms(each) for each in numbers]).options, _logarithms, powers)


def around_zero(limit: float | None = None) -> Callable[[Sequence[Array]], Colours]:
    """Colours that diverge from 0 and end at ±limit, or at the largest size of the numbers."""

    def colours(numbers: Sequence[Array]) -> Colours:
        end = max(largest(np.abs(each)) for each in numbers) if limit is None else limit
        return Colours({"colorscale": diverging_scale(plotly.io.templates.default), "zmin": -end, "zmax": end})

    return colours


def describe_around_zero(numbers: Sequence[Array]) -> str:
    """A sentence on what the colours of `around_zero` stand for."""
    end = f"{max(largest(np.abs(each)) for each in numbers):.3g}"
    if min(float(np.min(each, where=np.isfinite(each), initial=0)) for each in numbers) >= 0:
        return f"The stronger the violet, the larger the number: up to {end}."
    return f"Violet is more than 0, orange less: the strongest colours stand for {end} and −{end}."


def most_around_zero(numbers: Sequence[Array]) -> Colours:
    """Colours that diverge from 0 and end at ±`limit_of_most`."""
    return around_zero(limit_of_most(numbers))(numbers)


def most_from_zero(numbers: Sequence[Array]) -> Colours:
    """Colours from 0 to `limit_of_most`."""
    return Colours({"zmin": 0.0, "zmax": limit_of_most(numbers)})


def limit_of_most(numbers: Sequence[Array]) -> float:
    """The size that 99 % of the numbers do not exceed, the largest of all subjects'; 1 where it would be 0."""
    return max(float(np.percentile(np.abs(each), 99)) or 1.0 for each in numbers)


@lru_cache(maxsize=4)
def diverging_scale(template: str) -> Any:
    """A theme's colours from negative to positive, by the name that Plotly knows the theme by."""
    return plotly.io.templates[template].layout.colorscale.diverging


def largest(values: NDArray[Any]) -> float:
    """The largest finite value, and never 0: a scale has to have a length."""
    return max(float(np.max(values, where=np.isfinite(values), initial=0)), 1e-6)


def is_logarithmic(values: NDArray[np.floating]) -> bool:
    """Whether numbers lie so far apart that small ones would not be seen."""
    positive = values[values > 0]
    return positive.size > 0 and bool(positive.max() > LOGARITHMIC_FROM * positive.min())


def _logarithms(values: Array) -> Array:
    logarithms: Array = np.log10(values, where=values > 0, out=np.full_like(values, np.nan))
    return logarithms


def length_axis(title: str) -> Callable[[Sequence[Array]], Mapping[str, Any]]:
    """An axis of lengths: from 0, or logarithmic where they lie far apart."""

    def axis(numbers: Sequence[Array]) -> Mapping[str, Any]:
        if is_logarithmic(np.concatenate([each.ravel() for each in numbers])):
            return {"title": f"{title} (log scale)", "type": "log", "exponentformat": "power"}
        return {"title": title, "rangemode": "tozero"}

    return axis


def whole_ticks(n: int) -> dict[str, Any]:
    """Ticks at round whole numbers, twelve or so at most, however many numbers there are."""
    return {"tickmode": "linear", "tick0": 0, "dtick": round_step(n, 12)}


def round_step(n: int, most: int) -> int:
    """The least of 1, 2, 5, 10, 20, … of which `n` has no more than `most`."""
    power = 1
    while n > most * 5 * power:
        power *= 10
    return next(m * power for m in (1, 2, 5) if n <= most * m * power)


def faint(colour: str, opacity: float = 0.16) -> str:
    """A palette colour, `#rrggbb`, that others show through."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def heatmap(
    values: Array,
    *,
    x: Any,
    y: Any,
    hover: str,
    number: str,
    bar: str,
    colours: Colours,
    x_axis: Mapping[str, Any],
    y_axis: Mapping[str, Any],
    height: int,
    magnitude: float | None = None,
    gap: int = 0,
    margin: Mapping[str, int] | None = None,
    empty: str = "",
    written: str = "",
    bar_above: bool = False,
) -> tuple[Figure, str]:
    """Numbers (R, C) as colours, rows from the top; NaN is empty. Returns the figure, and a note for its caption.

    Colours that would end at the numbers themselves, and so at their rounding, get a wider range, and the note says so.
    `magnitude` is that of the numbers that these were computed from, where those were larger, as a difference's are;
    `margin` is as of `style`, `empty` the colour of empty cells, `written` the format of the numbers in the cells.
    """
    z = values if colours.place is None else colours.place(values)
    options = dict(colours.options)
    low, high = _ends(z, from_zero="zmin" in options)
    is_rounding = (magnitude is not None or "zmax" not in options) and (
        high - low <= ROUNDING * (magnitude or max(-low, high))
    )
    if is_rounding:
        z = np.where(np.isfinite(z), z.dtype.type((low + high) / 2), np.nan)
        if magnitude is not None:
            options |= {"zmin": -magnitude if options.get("zmin", 0) < 0 else 0, "zmax": magnitude}
        else:
            twice = (low + high) or 1.0
            options |= {"zmin": min(0.0, twice), "zmax": max(0.0, twice)}
    is_recoloured = z is not values
    source = "customdata" if is_recoloured else "z"
    cells = {
        "type": "heatmap",
        "z": z,
        "x": x,
        "y": y,
        "hovertemplate": f"{hover}: %{{{source}:{number}}}<extra></extra>",
        "hoverongaps": False,
        "xgap": gap,
        "ygap": gap,
        "colorbar": {**(flat_bar(bar, height) if bar_above else colour_bar(bar)), **colours.ticks},
        **({} if bar else {"showscale": False}),
        **(written_in_cells(values, written) if written else {}),
        **({"customdata": values} if is_recoloured else {}),
        **options,
    }
    plain = {"showgrid": False, "zeroline": False}
    axes = {"xaxis": {**plain, **x_axis}, "yaxis": {**plain, "autorange": "reversed", **y_axis}}
    figure = style([cells], axes, height=height, margin=margin)
    if empty:
        figure["layout"]["plot_bgcolor"] = empty
    return figure, SAME_COLOUR if is_rounding and np.isfinite(z).sum() > 1 else ""


def written_in_cells(values: Array, number: str, longest: int | None = None) -> dict[str, Any]:
    """Numbers (R, C) in a heatmap's cells, with the minus that axes have, not Plotly's hyphen, and 0 without a sign.

    What has more characters than `longest` would run into the next cell on a phone: it has one digit, as `−5e−4`.
    """

    def write(x: float) -> str:
        text = write_signed(x, number) if math.isfinite(x) else ""
        if longest is None or len(text) <= longest:
            return text
        digit, _, exponent = f"{x:.0e}".partition("e")
        return with_minus(f"{digit}e{int(exponent)}")

    return {"text": [[write(x) for x in row] for row in values.tolist()], "texttemplate": "%{text}"}


def _ends(z: NDArray[Any], *, from_zero: bool) -> tuple[float, float]:
    """The smallest and the largest finite number, or 0 where that lies beyond them and colours begin there."""
    numbers = z[np.isfinite(z)]
    if from_zero or not numbers.size:
        numbers = np.append(numbers, 0)
    return float(numbers.min()), float(numbers.max())


def vectors(rows: Mapping[str, Array], numbers: str) -> Figure:
    """At most MOST_VECTORS vectors, of any lengths, by their names: the first SHOWN numbers of each in its cells.

    `numbers` is what a column is.
    """
    drawn = dict(list(rows.items())[:MOST_VECTORS])
    z = np.full((len(drawn), min(SHOWN, max(map(len, drawn.values())))), np.nan, np.float32)
    for cells, vector in zip(z, drawn.values(), strict=True):
        n = min(len(cells), len(vector))
        cells[:n] = vector[:n]
    height = 122 + 30 * len(drawn)
    look = written_in_cells(z, ".2g", longest=6)
    look |= {"textfont": {"size": 11}, "colorbar": flat_bar("value", height, nticks=4)}
    look |= around_zero()([z]).options
    margin = {"t": ROOM_ABOVE}
    return number_cells(z, list(drawn), "%{z:.6~g}", look, height=height, margin=margin, numbers=numbers)


def number_cells(
    z: Array,
    names: Sequence[str],
    hover: str,
    look: Mapping[str, Any],
    *,
    height: int,
    margin: Mapping[str, int] | None = None,
    numbers: str = "number in the vector",
) -> Figure:
    """Numbers (R, C) as cells with gaps, a row a vector with its name.

    `look` is of Plotly's heatmap, `numbers` is what a column is.
    """
    n = z.shape[1]
    cells = {
        "type": "heatmap",
        "z": z,
        "x": np.arange(n),
        "y": [label(name, len(name)) for name in names],
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": f"%{{y}}, number %{{x}}: {hover}<extra></extra>",
        "hoverongaps": False,
        **look,
    }
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    layout = {
        "xaxis": {**plain, "title": f"{numbers}, first {n}", "dtick": 1},
        "yaxis": {**plain, "type": "category", "autorange": "reversed"},
        "minreducedheight": 20,  # else the axis of one row or two has no room for its title
    }
    return style([cells], layout, height=height, margin=margin)


def grey_places(is_grey: Sequence[bool]) -> list[dict[str, Any]]:
    """The layout's shapes behind the bars of a figure: grey where a label, by its place on the horizontal axis, is."""
    look = {"type": "rect", "yref": "y domain", "y0": 0, "y1": 1, "fillcolor": palette.MUTED, "line": {"width": 0}}
    return [{**look, "x0": i - 0.5, "x1": i + 0.5, "layer": "below"} for i in np.flatnonzero(is_grey)]


def curve_traces(curve: Curve, *, legend: bool = True) -> list[dict[str, Any]]:
    """A curve's band, where it has one, and the curve over it."""
    line = {"color": curve.colour, "width": 2, "dash": curve.dash}
    points = {"type": "scatter", "x": curve.x, "y": curve.y, "name": curve.name, "line": line, **_marker(curve.marker)}
    points |= {"hovertemplate": f"{curve.hover}{curve.band}", "showlegend": legend, **_panel(curve.panel)}
    if curve.low is None or curve.high is None:
        return [points]
    band = {
        "type": "scatter",
        "x": np.concatenate([curve.x, curve.x[::-1]]),
        "y": np.concatenate([curve.high, curve.low[::-1]]),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": faint(curve.colour),
        "hoverinfo": "skip",
        "showlegend": False,
        **_panel(curve.panel),
    }
    points["line"] = {"color": curve.colour, "width": 2.5, "dash": None}
    return [band, points | {"customdata": np.stack([curve.low, curve.high], axis=1), "meta": BAND}]


def ghost_trace(curve: Curve, side: str) -> dict[str, Any]:
    """A pinned curve beside the present one of this name and colour: dotted; `side` is what the settings are called."""
    name = f"{curve.name}, {label(side, _LONGEST_SIDE)}"
    return _dotted(curve.x, curve.y, curve.colour, name, _GHOST_MARKER if curve.marker else 0) | {
        "hovertemplate": curve.hover,
        "showlegend": False,
        **_panel(curve.panel),
    }


def ghost_entry(side: str) -> dict[str, Any]:
    """The one entry of the legend for all pinned curves of a figure."""
    nothing = np.array([None])  # NaN would be a category of its own
    return _dotted(nothing, nothing, palette.RESIDUAL, f"dotted: {label(side, _LONGEST_SIDE)}")


def _dotted(x: NDArray[Any], y: NDArray[Any], colour: str, name: str, marker: int = _GHOST_MARKER) -> dict[str, Any]:
    line = {"color": colour, "width": 1.5, "dash": "dot"}
    return {"type": "scatter", "x": x, "y": y, "name": name, "line": line, **_marker(marker, "circle-open")}


def _marker(size: int, symbol: str | None = None) -> dict[str, Any]:
    """What draws a mark of so many pixels at each number of a line."""
    return {"mode": "lines+markers", "marker": {"size": size, "symbol": symbol}} if size else {"mode": "lines"}


def mark_places(marks: Sequence[Mark], x: NDArray[Any], *, is_log: bool) -> dict[str, Any]:
    """The layout's vertical lines over curves at `x`, each with its name beside its upper end.

    Each line is longer than those before it, and a name stands where it has more room before the next longer one.
    """
    ends, places = (
        (np.log10(each) if is_log else np.asarray(each)) for each in ([x.min(), x.max()], [m.at for m in marks])
    )
    shapes, names = [], []
    for number, (mark, place) in enumerate(zip(marks, places.tolist(), strict=True), 1):
        longer = np.append(places[number:], ends)
        room = (
            place - longer[longer <= place].max(initial=ends[0]),
            longer[longer >= place].min(initial=ends[1]) - place,
        )
        top = 1 - 0.1 * (len(marks) - number)
        shapes.append(
            {"type": "line", "x0": mark.at, "x1": mark.at, "y0": 0, "y1": top, "yref": "y domain",
             "line": {"color": mark.colour, "width": 1.5, "dash": mark.dash}}
        )  # fmt: skip
        if mark.name:
            is_right = room[1] >= room[0]
            names.append(
                {"x": place, "y": top, "yref": "paper", "yanchor": "top", "xanchor": "left" if is_right else "right",
                 "xshift": 4 if is_right else -4, "text": label(mark.name, 48), "showarrow": False}
            )  # fmt: skip
    return {"shapes": shapes, "annotations": names}


def _panel(number: int) -> dict[str, str]:
    return {"xaxis": "x", "yaxis": "y"} if number == 0 else {"xaxis": "x", "yaxis": f"y{number + 1}"}


def level_line(steps: int, value: float, text: str, *, width: float = 1.5, dash: str = "dash") -> dict[str, Any]:
    """A line across all steps of a training, with what it stands for at its right end."""
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "marker": {"size": 8, "opacity": 0},  # keeps the text off the line
        "x": np.array([0, steps], np.int32),
        "y": np.array([value, value], np.float32),
        "line": {"color": palette.RESIDUAL, "width": width, "dash": dash},
        "text": ["", text],
        "textposition": "top left",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def draw_over_steps(
    lines: list[dict[str, Any]], steps: int, y_axis: Mapping[str, Any], *, height: int, legend: bool = False
) -> Figure:
    """Curves that grow, over an axis as long as a whole training."""
    x_axis = {"title": "step", "range": [-0.01 * steps, 1.01 * steps], "zeroline": False}
    return style(lines, {"xaxis": x_axis, "yaxis": y_axis}, height=height, legend=legend, margin={"r": LAST_LABEL})


def room_for_names(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    is_signed: bool = False,
    bar_above: bool = False,
    is_slanted: bool = True,
) -> dict[str, int]:
    """Margins of a heatmap that its names fit into: where they don't, Plotly draws it once more, with wider ones."""
    slanted = math.ceil(math.sin(math.radians(SLANT)) * text_width(columns))
    if bar_above and is_slanted:
        return {"l": text_width(rows) + 15, "r": 16, "t": ROOM_ABOVE, "b": slanted + 20}
    if bar_above:
        return {"l": text_width(rows), "r": 16, "t": ROOM_ABOVE}
    return {"l": text_width(rows) + 41, "r": 84 if is_signed else 74, "t": 17, "b": slanted + 44}


def colour_bar(title: str, **options: Any) -> dict[str, Any]:
    """A narrow bar beside a heatmap, from its bottom to its top, with what the colours stand for above it."""
    return {"thickness": 10, "len": 1.0, "xpad": 4, "ypad": 0, "title": {"text": title, "side": "top"}} | options


def flat_bar(title: str, height: int, **options: Any) -> dict[str, Any]:
    """A flat bar above a heatmap, which needs all the width there is, with what the colours stand for above the bar.

    It takes `ROOM_ABOVE` pixels of the figure's upper margin. It is measured from the figure's top, as Plotly leaves 30
    pixels blank else; in a figure of less than 330 pixels from the plot, as Plotly writes the title onto the bar else.
    """
    place = {"yref": "container", "yanchor": "top"} if height >= 330 else {"yanchor": "bottom"}
    return colour_bar(title, orientation="h", xpad=0, ypad=4, y=1.0, **place, **options)


def style(
    traces: list[dict[str, Any]],
    layout: Mapping[str, Any],
    *,
    height: int,
    legend: bool = False,
    margin: Mapping[str, int] | None = None,
) -> Figure:
    """A figure with the margins and the legend that every figure has; `margin` in pixels by `l`, `r`, `t` and `b`."""
    styled: dict[str, Any] = {
        **layout,
        "height": height,
        "margin": {"l": 4, "r": 4, "t": 28 if legend else 8, "b": 4, "pad": 0, **(margin or {})},
        "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None, "traceorder": "normal"},
        "uirevision": "keep",
    }
    for name, axis in styled.items():
        if name.startswith(("xaxis", "yaxis")):
            title = axis.get("title")
            titled = {"text": title} if title and isinstance(title, str) else dict(title or {})  # "" would take room
            styled[name] = {**axis, "automargin": True, "title": {**titled, "standoff": 12 if name[0] == "y" else 6}}
    return {"data": traces, "layout": styled}


def include_zero(figure: Figure) -> str:
    """Let axes whose lines differ by rounding alone begin at 0; returns the note that says so, or nothing."""
    note = ""
    for name, axis in figure["layout"].items():
        if not name.startswith("yaxis") or {"range", "type"} & axis.keys() or axis.get("rangemode") == "tozero":
            continue
        place = name.replace("axis", "")
        lines = [each["y"] for each in figure["data"] if each["type"] == "scatter" and each.get("yaxis", "y") == place]
        numbers = np.concatenate([np.asarray(line, np.float64) for line in lines] or [np.zeros(0)])
        numbers = numbers[np.isfinite(numbers)]
        if numbers.size > 1 and np.ptp(numbers) <= ROUNDING * np.abs(numbers).max():
            axis["rangemode"], note = "tozero", SAME_HEIGHT
    return note
