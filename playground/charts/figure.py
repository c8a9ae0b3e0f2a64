"""Figures as plain dictionaries, as Plotly's JSON has them; page colours and fonts come from the app's theme."""

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
"""`data`, a list of traces, and `layout`, by Plotly's names."""

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""Share of a number's size."""

PALE = 0.5

BAND = "band"
"""`meta` of a line whose `customdata` are its band's ends."""

ROOM_ABOVE = 56

LOGARITHMIC_FROM = 100
"""Ratio of the largest to the smallest value."""

SLANT = 55
"""Degrees of names along a horizontal axis."""

LAST_LABEL = 22

_LONGEST_SIDE = 48

_BEHIND_NAMES = "rgba(128, 128, 128, 0.15)"


@dataclass(frozen=True)
class Curve:
    """A line of numbers, with a band from `low` to `high`."""

    name: str
    x: NDArray[Any]
    y: Array
    colour: str
    low: Array | None = None
    high: Array | None = None
    hover: str = "%{y:.4g}"
    band: str = ""
    """Of the hover: `low` is `%{customdata[0]}`, `high` `%{customdata[1]}`."""
    marker: int = 6
    dash: str | None = None


Frame: TypeAlias = tuple[tuple[int, int], tuple[int, int], str, int]
"""First and last row and column of a heatmap to frame; colour and width."""


def length_axis(title: str) -> Callable[[Sequence[Array]], Mapping[str, Any]]:
    """Return an axis of lengths, from 0 or logarithmic."""

    def axis(numbers: Sequence[Array]) -> Mapping[str, Any]:
        positive = np.concatenate([each[each > 0] for each in numbers])
        if positive.size and positive.max() > LOGARITHMIC_FROM * positive.min():
            return {"title": f"{title} (log scale)", "type": "log", "exponentformat": "power"}
        return {"title": title, "rangemode": "tozero"}

    return axis


def whole_ticks(n: int) -> dict[str, Any]:
    """Return about twelve round ticks at most."""
    return {"tickmode": "linear", "tick0": 0, "dtick": round_step(n, 12)}


def round_step(n: int, most: int) -> int:
    """Return the least of 1, 2, 5, 10, … that `n` has no more than `most` of."""
    power = 1
    while n > most * 5 * power:
        power *= 10
    return next(m * power for m in (1, 2, 5) if n <= most * m * power)


def faint(colour: str, opacity: float = 0.16) -> str:
    """Return a palette colour that others show through."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def written_in_cells(values: Array, number: str) -> dict[str, Any]:
    """Write numbers (R, C) in cells; one over six characters gets one digit: `−5e−4`."""

    def write(x: float) -> str:
        text = write_signed(x, number) if math.isfinite(x) else ""
        if len(text) <= 6:
            return text
        digit, _, exponent = f"{x:.0e}".partition("e")
        return with_minus(f"{digit}e{int(exponent)}")

    return {"text": [[write(x) for x in row] for row in values.tolist()], "texttemplate": "%{text}"}


# --- curves


def curve_traces(curve: Curve) -> list[dict[str, Any]]:
    """Return a curve's band, if any, and the curve over it."""
    line = {"color": curve.colour, "width": 2, "dash": curve.dash}
    points = {"type": "scatter", "x": curve.x, "y": curve.y, "name": curve.name, "line": line, **_marker(curve.marker)}
    points |= {"hovertemplate": f"{curve.hover}{curve.band}"}
    if curve.low is None or curve.high is None:
        return [points]
    x, y = (np.concatenate(ends) for ends in ((curve.x, curve.x[::-1]), (curve.high, curve.low[::-1])))
    band: dict[str, Any] = {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": {"width": 0}}
    band |= {"fill": "toself", "fillcolor": faint(curve.colour), "hoverinfo": "skip", "showlegend": False}
    return [band, points | {"customdata": np.stack([curve.low, curve.high], axis=1), "meta": BAND}]


def ghost_traces(curves: Sequence[Curve], side: str) -> list[dict[str, Any]]:
    """Return dotted curves and one entry of the legend for all; `side` names the settings."""
    side = label(side, _LONGEST_SIDE)

    def dotted(x: NDArray[Any], y: NDArray[Any], colour: str, name: str, marker: int = 5) -> dict[str, Any]:
        line = {"color": colour, "width": 1.5, "dash": "dot"}
        return {"type": "scatter", "x": x, "y": y, "name": name, "line": line, **_marker(marker, "circle-open")}

    nothing = np.array([None])  # NaN would be a category of its own
    return [
        dotted(each.x, each.y, each.colour, f"{each.name}, {side}", 5 if each.marker else 0)
        | {"hovertemplate": each.hover, "showlegend": False}
        for each in curves
    ] + [dotted(nothing, nothing, palette.RESIDUAL, f"dotted: {side}")]


def _marker(size: int, symbol: str | None = None) -> dict[str, Any]:
    return {"mode": "lines+markers", "marker": {"size": size, "symbol": symbol}} if size else {"mode": "lines"}


def mark_places(marks: Mapping[str, float]) -> dict[str, Any]:
    """Return a logarithmic axis's vertical lines and their names."""
    line = {"type": "line", "y0": 0, "y1": 1, "yref": "y domain", "line": {"color": palette.RESIDUAL, "dash": "dot"}}
    look = {"yref": "paper", "yanchor": "top", "xanchor": "auto", "showarrow": False, "bgcolor": _BEHIND_NAMES}
    names = [
        {**look, "x": math.log10(at), "y": 1 - 0.1 * number, "text": label(name, _LONGEST_SIDE)}
        for number, (name, at) in enumerate(marks.items())
    ]
    return {"shapes": [{**line, "x0": at, "x1": at} for at in marks.values()], "annotations": names}


def step_line(steps: NDArray[Any], values: Array, name: str, look: Mapping[str, Any], hover: str) -> dict[str, Any]:
    """Return a curve over training steps."""
    hover = f"{hover}<extra>{name}</extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "x": steps,
        "y": values,
        "name": name,
        "line": look,
        "hovertemplate": hover,
    }


def level_line(steps: int, value: float, text: str, *, width: float = 1.5, dash: str = "dash") -> dict[str, Any]:
    """Return a line across all steps with a text at its end."""
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
    """Draw curves over an axis as long as the training."""
    x_axis = {"title": "step", "range": [-0.01 * steps, 1.01 * steps], "zeroline": False}
    return style(lines, {"xaxis": x_axis, "yaxis": y_axis}, height=height, legend=legend, margin={"r": LAST_LABEL})


# --- margins


def room_for_names(rows: Sequence[str], columns: Sequence[str], *, is_signed: bool, is_flat: bool) -> dict[str, int]:
    """Return margins that tokens fit into: else Plotly draws twice."""
    slanted = math.ceil(math.sin(math.radians(SLANT)) * text_width(columns))
    if is_flat:
        return {"l": text_width(rows) + 15, "r": 16, "t": slanted + 20, "b": ROOM_ABOVE}
    return {"l": text_width(rows) + 41, "r": 84 if is_signed else 74, "t": 17, "b": slanted + 44}


def colour_bar(title: str, **options: Any) -> dict[str, Any]:
    """Return a narrow bar beside a heatmap."""
    return {"thickness": 10, "len": 1.0, "xpad": 4, "ypad": 0, "title": {"text": title, "side": "top"}} | options


def flat_bar(title: str, height: int, *, is_below: bool = False, **options: Any) -> dict[str, Any]:
    """Return a flat bar above or below a heatmap."""
    # Measured from the top of a high figure, but from the plot of a low one, else Plotly leaves a gap or overlaps.
    place = {"yref": "container", "yanchor": "top"} if height >= 330 else {"yanchor": "bottom"}
    if is_below:
        place = {"yref": "container", "yanchor": "bottom"}
    return colour_bar(title, orientation="h", xpad=0, ypad=4, y=0.0 if is_below else 1.0, **place, **options)


def style(
    traces: list[dict[str, Any]],
    layout: Mapping[str, Any],
    *,
    height: int,
    legend: bool = False,
    margin: Mapping[str, int] | None = None,
) -> Figure:
    """Return a figure with everyone's margins and legend; `margin` by `l`, `r`, `t` and `b`."""
    styled: dict[str, Any] = {
        **layout,
        "height": height,
        "margin": {"l": 4, "r": 4, "t": 28 if legend else 8, "b": 4, "pad": 0, **(margin or {})},
        "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": None, "traceorder": "normal"},
    }
    for name, axis in styled.items():
        if name.startswith(("xaxis", "yaxis")):
            title = axis.get("title")
            titled = {"text": title} if title and isinstance(title, str) else dict(title or {})  # "" would take room
            styled[name] = {
                **axis,
                "automargin": not {"l", "r", "t", "b"} <= {*(margin or ())},
                "title": {**titled, "standoff": 12 if name[0] == "y" else 6},
            }
    return {"data": traces, "layout": styled}
