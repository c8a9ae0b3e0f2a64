"""What a renderer shows of a chart, in words too."""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, CellRanges, Chart, Table
from playground.charts.figure import Figure
from playground.charts.scene import Scene

S = TypeVar("S")

Side: TypeAlias = Literal["", "pinned", "difference"]

_ALTS: Mapping[Side, str] = {"pinned": "The same chart of the pinned settings.", "difference": "Its change."}


@dataclass(frozen=True)
class Drawn:
    """One side of a chart, for a renderer."""

    chart: Chart[Any]
    subject: Any
    side: Side
    draw: Callable[[], Figure]
    caption: str
    numbers: Callable[[], pd.DataFrame] | None = None
    cells: CellRanges | None = None
    least_width: int = 0
    """Pixels; a phone scrolls a wider figure."""

    @cached_property
    def figure(self) -> Figure:
        """The figure, drawn once."""
        return self.draw()

    @property
    def key(self) -> str:
        """Of its container."""
        return f"{self.chart.beside_key or self.chart.key}_{self.side}" if self.side else self.chart.key

    @property
    def alt(self) -> str:
        """Its name for those who cannot see it."""
        return _ALTS.get(self.side, self.chart.alt)

    @property
    def saved_as(self) -> str:
        """Name of saved files; empty for the key."""
        chart = self.chart
        return f"{chart.saved_as or chart.beside_key or chart.key}_{self.side}" if self.side else chart.saved_as

    @property
    def table(self) -> Callable[[], pd.DataFrame] | None:
        """The numbers to read and copy."""
        return self.numbers if self.chart.is_tabulated else None


@dataclass(frozen=True)
class Drawing:
    """A chart of a scene."""

    now: Drawn
    beside: tuple[Drawn, ...] = ()
    """The pinned subject's, and the difference."""
    note: str = ""
    in_one_row: bool = False


def draw_one(
    chart: Chart[S],
    scene: Scene[S],
    draw: Callable[[], Figure],
    *sentences: str,
    cells: CellRanges | None = None,
    numbers: Callable[[], pd.DataFrame] | None = None,
) -> Drawn:
    """Return the present side, with its caption and table."""
    caption = join_sentences(chart.caption, chart.reading(scene.now), *sentences)
    if chart.table is not None:
        numbers = partial(draw_table, Table[S](key=chart.key, frame=chart.table), scene)
    return Drawn(chart, scene.now, "", draw, caption, numbers, cells if chart.click else None)


def compare_tables(now: pd.DataFrame, pinned: pd.DataFrame | None) -> pd.DataFrame:
    """Return a table with pinned numbers and differences behind each shared column."""
    if pinned is None:
        return now
    columns: dict[str, Any] = {}
    every = now.index.union(pinned.index, sort=False)
    for name in now:
        values = now[name].reindex(every)
        if name not in pinned or not pd.api.types.is_numeric_dtype(now[name]):
            columns[str(name)] = values
            continue
        before = pinned[name].reindex(every)
        if name == "now":
            columns |= {"pinned": before, "now": values, "now − pinned": values - before}
        else:
            columns |= {str(name): values, f"{name}, pinned": before, f"{name}, now − pinned": values - before}
    table = pd.DataFrame(columns)
    table.index.name = now.index.name
    return table


def draw_table(table: Table[S], scene: Scene[S]) -> pd.DataFrame:
    """Return what a table shows of a scene."""
    pinned = None if scene.pinned is None or not table.compares else table.frame(scene.pinned)
    return compare_tables(table.frame(scene.now), pinned)


def join_sentences(*sentences: str) -> str:
    """Join sentences that are not empty."""
    return " ".join(filter(None, (each.strip() for each in sentences)))


def find_places(axis: Axis[S], subject: S, size: int) -> tuple[str, Mapping[int, int]] | None:
    """Return the place of an axis, and Plotly's cell → its number."""
    if not axis.place:
        return None
    numbers = range(size) if axis.numbers is None else axis.numbers(subject)
    first = axis.first if axis.names is None else 0
    return axis.place, {first + cell: number for cell, number in enumerate(numbers) if number is not None}


# --- in words

_MOST_TRACES = 8
_DARKEST = 255


def chart_label(name: str, figure: Figure) -> str:
    """Return the name, the largest cell and bar with their places, the ends of lines."""
    drawn = [text for trace in figure["data"] if (text := _describe_trace(trace, figure["layout"]))]
    more = "" if len(drawn) <= _MOST_TRACES else f" {len(drawn) - _MOST_TRACES} more are drawn."
    told = html.unescape(re.sub("<[^>]+>", " ", " ".join(drawn[:_MOST_TRACES])))
    return f"{name.rstrip('.')}. {told}".strip() + more


def _describe_trace(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    match trace["type"]:
        case "heatmap" if np.asarray(trace["z"]).dtype == np.uint8:  # a mosaic's shades, or a mask's two
            return _describe_thumbnails(trace, layout) if trace.get("zmax") == _DARKEST else ""
        case "heatmap":
            return _largest_cell(trace, layout)
        case "bar":
            return _largest_bar(trace)
        case "scatter" if trace.get("y") is not None and trace.get("hoverinfo") != "skip":
            return _ends_of_line(trace)
    return ""


def _largest_cell(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    z = np.asarray(trace["z"]).astype(float)
    if np.shape(trace.get("customdata", ())) == z.shape:  # the numbers, where colours stand for something else
        z = np.where(np.isfinite(z), trace["customdata"], np.nan)
    if not np.isfinite(z).any():
        return ""
    at = np.unravel_index(np.nanargmax(z), z.shape)
    places = [
        f"{layout.get(f'{letter}axis', {}).get('title', {}).get('text') or side} {_name(trace.get(letter), int(place))}"
        for letter, side, place in zip("yx", ("row", "column"), at, strict=True)
    ]
    return f"The largest of {z.size:,} values is {_number(z[at])}, at {places[0]}, {places[1]}."


def _describe_thumbnails(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    """The palest thumbnail and the darkest."""
    n_rows, n_columns = len(layout["yaxis"]["ticktext"]), len(layout["xaxis"]["ticktext"])
    z = np.asarray(trace["z"])
    means = z.reshape(n_rows, -1, n_columns, z.shape[1] // n_columns).mean(axis=(1, 3))
    narrow, wide = (np.unravel_index(place, means.shape) for place in (means.argmin(), means.argmax()))
    return (
        f"Layer {narrow[0]}, head {narrow[1]} gives its weight to the fewest keys; "
        f"layer {wide[0]}, head {wide[1]} spreads it most."
    )


def _largest_bar(trace: Mapping[str, Any]) -> str:
    sizes, names = (trace["x"], trace["y"]) if trace.get("orientation") == "h" else (trace["y"], trace["x"])
    sizes = np.asarray(sizes, dtype=float)
    if len(sizes) < 2 or not np.isfinite(sizes).any():  # a stack's pieces are a trace each, and named by the page
        return ""
    place = int(np.nanargmax(sizes))
    subject = f"{trace['name']}: the" if trace.get("name") else "The"
    return f"{subject} longest bar is {_number(sizes[place])}, at {_name(names, place)}."


def _ends_of_line(trace: Mapping[str, Any]) -> str:
    y, names = np.asarray(trace["y"], dtype=float), trace.get("x")
    finite = np.flatnonzero(np.isfinite(y))
    if len(finite) < 2:
        return ""
    if trace.get("mode") == "markers":
        return f"{trace.get('name') or 'Points'}: {len(finite)}, up to {_number(y[finite].max())}."
    first, last, top = finite[0], finite[-1], finite[np.argmax(y[finite])]
    ends = f"from {_number(y[first])} at {_name(names, first)} to {_number(y[last])} at {_name(names, last)}"
    peak = "" if top in (first, last) else f", at most {_number(y[top])} at {_name(names, top)}"
    return f"{trace.get('name') or 'The line'}: {ends}{peak}."


def _name(names: Any, place: int) -> str:
    if names is None:
        return str(place)
    name = names[place]
    return name if isinstance(name, str) else _number(name)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
