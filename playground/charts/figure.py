"""Figures as plain dictionaries, as Plotly's JSON has them; tests validate them, pages don't.

Colours of the page, fonts and the sequential scale come from the app's theme, light or dark, in the browser.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
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

_LONGEST_SIDE = 48
"""Letters of the pinned settings' name in a legend."""

_GHOST_MARKER = 5
"""Pixels of the mark at each number of a pinned curve."""


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


def is_logarithmic(values: NDArray[np.floating]) -> bool:
    """Whether numbers lie so far apart that small ones would not be seen."""
    positive = values[values > 0]
    return positive.size > 0 and bool(positive.max() > LOGARITHMIC_FROM * positive.min())


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


def room_for_names(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    is_signed: bool = False,
    flat_bar: bool = False,
    is_slanted: bool = True,
) -> dict[str, int]:
    """Margins of a heatmap that its names fit into: where they don't, Plotly draws it once more, with wider ones."""
    slanted = math.ceil(math.sin(math.radians(SLANT)) * text_width(columns))
    if flat_bar and is_slanted:
        return {"l": text_width(rows) + 15, "r": 16, "t": slanted + 20, "b": ROOM_ABOVE}
    if flat_bar:
        return {"l": text_width(rows), "r": 16, "t": ROOM_ABOVE}
    return {"l": text_width(rows) + 41, "r": 84 if is_signed else 74, "t": 17, "b": slanted + 44}


def colour_bar(title: str, **options: Any) -> dict[str, Any]:
    """A narrow bar beside a heatmap, from its bottom to its top, with what the colours stand for above it."""
    return {"thickness": 10, "len": 1.0, "xpad": 4, "ypad": 0, "title": {"text": title, "side": "top"}} | options


def flat_bar(title: str, height: int, *, is_below: bool = False, **options: Any) -> dict[str, Any]:
    """A flat bar above or below a heatmap that needs all the width there is, with its title above the bar.

    It takes `ROOM_ABOVE` pixels of the figure's margin there. Above, it is measured from the figure's top, as Plotly
    leaves 30 pixels blank else; in a figure of less than 330 pixels from the plot, as Plotly writes the title onto the
    bar else.
    """
    place = {"yref": "container", "yanchor": "top"} if height >= 330 else {"yanchor": "bottom"}
    if is_below:
        place = {"yanchor": "top"}
    return colour_bar(title, orientation="h", xpad=0, ypad=4, y=0.0 if is_below else 1.0, **place, **options)


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
