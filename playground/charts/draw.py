"""A chart of a scene, for any renderer: the present subject's figure, the pinned one's beside it, the difference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.bars import LabelledRows
from playground.charts.chart import (
    Axis,
    Bars,
    CellRanges,
    Chart,
    Curves,
    HeadGrid,
    HeadLines,
    Heatmap,
    LabelledBars,
    Mask,
    Picture,
    Table,
    Vectors,
)
from playground.charts.figure import PALE, Array, Colours, Figure
from playground.charts.head_lines import Lines, lines_figure
from playground.charts.head_map import head_grid
from playground.charts.markdown import escape_markdown
from playground.charts.names import label, token_names
from playground.charts.scene import Scene
from playground.charts.weights import WeightScale
from playground.text.wording import upper_first

S = TypeVar("S")

_Names: TypeAlias = Sequence[str] | range
"""Of an axis's cells."""

_WIDEST = 1_400
"""Pixels of a map's cells, where they are so many that it is scrolled: beyond that they are narrower."""


@dataclass(frozen=True)
class SavedHeads:
    """All heads' weights, to be saved in place of their thumbnails."""

    weights: Callable[[], Array]
    queries: Sequence[str]
    keys: Sequence[str]
    n_heads: int
    scale: WeightScale


Side: TypeAlias = Literal["", "pinned", "difference"]
"""Whose numbers are drawn: the present subject's, the pinned one's, or the difference of both."""

_ALTS: Mapping[tuple[type, Side], str] = {
    (Heatmap, "pinned"): "The same heatmap of the pinned settings.",
    (Heatmap, "difference"): "Its change.",
    (Picture, "pinned"): "The same chart of the pinned settings.",
    (HeadLines, "pinned"): "The same lines of the pinned settings.",
}
"""What is drawn beside a chart is called, for whoever cannot see it, by the chart's kind."""


@dataclass(frozen=True)
class Drawn:
    """What a renderer shows of one side of a chart."""

    chart: Chart[Any]
    side: Side
    plotted: Figure | Callable[[], Figure]
    """The figure; or what makes it, where a live page draws the chart without Plotly and few ask for the figure."""
    caption: str
    """Markdown."""
    numbers: Callable[[], pd.DataFrame] | None = None
    """Makes the table, which is shown where the chart has one below it."""
    cells: CellRanges | None = None
    """What a click on the figure chooses."""
    live: LabelledRows | Lines | SavedHeads | None = None
    """What a live page draws without Plotly in place of the figure, or saves in its place."""
    saved_table: Callable[[], pd.DataFrame] | None = None
    """What is saved as numbers, where the figure does not have them."""
    least_width: int = 0
    """Pixels: on a phone, a figure that is wider than the page is scrolled sideways; 0: it is as wide as the page."""

    @cached_property
    def figure(self) -> Figure:
        """What notebooks show and what is saved; on most pages also what is seen."""
        return self.plotted() if callable(self.plotted) else self.plotted

    @property
    def key(self) -> str:
        """Of its container."""
        return f"{self.chart.beside_key or self.chart.key}_{self.side}" if self.side else self.chart.key

    @property
    def alt(self) -> str:
        """Its name for whoever cannot see it."""
        return _ALTS[type(self.chart), self.side] if self.side else self.chart.alt

    @property
    def saved_as(self) -> str:
        """Name of the saved files, without their ending; where it is empty, the key."""
        chart = self.chart
        return f"{chart.saved_as or chart.beside_key or chart.key}_{self.side}" if self.side else chart.saved_as

    @property
    def table(self) -> Callable[[], pd.DataFrame] | None:
        """The numbers to read and copy."""
        return self.numbers if self.chart.is_tabulated else None

    @property
    def table_title(self) -> str:
        """The heading of the table."""
        return "The numbers" if self.side else self.chart.table_title

    @property
    def on_row(self) -> Callable[[Any], Mapping[str, Any]] | None:
        """What a click on a row of the table chooses."""
        return None if self.side else self.chart.on_row

    @property
    def chosen(self) -> Mapping[str, int]:
        """The numbers of places that are the page's own, where the frame stands."""
        return {} if self.side else self.chart.chosen

    @property
    def grows(self) -> bool:
        """Whether a live page draws it without Plotly, as it will change."""
        return self.chart.grows and not self.side


@dataclass(frozen=True)
class Drawing:
    """A chart of a scene."""

    now: Drawn
    beside: tuple[Drawn, ...] = ()
    """The pinned subject's, and the difference, to stand side by side below."""
    note: str = ""
    """Why something of the pinned subject is not shown; markdown."""
    in_one_row: bool = False
    """Whether the pinned subject's stand in a row with the present one, and not below it."""


def draw_chart(chart: Chart[S], scene: Scene[S]) -> Drawing:
    """A chart of the present subject and, where one is pinned, what its kind has for two."""
    if not chart.compares:
        scene = Scene(scene.now, scene.focus)
    if scene.pinned is not None and chart.needs_tokens and not scene.same_tokens:
        alone = Scene(scene.now, scene.focus)
        note = (
            f"The pinned settings read other tokens, so {chart.needs_tokens} are shown for the present settings alone."
        )
        return Drawing(_draw_kind(chart, alone).now, note=note)
    return _draw_kind(chart, scene)


def _draw_kind(chart: Chart[S], scene: Scene[S]) -> Drawing:
    match chart:
        case Heatmap():
            return _draw_heatmap(chart, scene)
        case Curves():
            return Drawing(_draw_curves(chart, scene))
        case Bars():
            return Drawing(_draw_bars(chart, scene))
        case Vectors():
            return Drawing(_draw_vectors(chart, scene))
        case Picture():
            return _draw_picture(chart, scene)
        case HeadGrid():
            return Drawing(_draw_head_grid(chart, scene.now))
        case HeadLines():
            return _draw_head_lines(chart, scene)
        case LabelledBars():
            return Drawing(_draw_labelled_bars(chart, scene.now))
    raise TypeError(f"{type(chart).__name__} is no kind of chart")


def compare_tables(now: pd.DataFrame, pinned: pd.DataFrame | None) -> pd.DataFrame:
    """A table; beside a pinned one, with its numbers and the differences behind each column that both have.

    Where the only column is called `now`, those of the pinned one and of the differences need no more of a name.
    """
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
    """What a table shows of a scene."""
    pinned = None if scene.pinned is None or not table.compares else table.frame(scene.pinned)
    return compare_tables(table.frame(scene.now), pinned)


def _join(*sentences: str) -> str:
    return " ".join(filter(None, (each.strip() for each in sentences)))


def _draw_heatmap(chart: Heatmap[S], scene: Scene[S]) -> Drawing:
    """The present numbers; below them the pinned ones in the same colours, and the difference where both have cells."""
    now, shown = chart.values(scene.now), chart.shown(scene.now) if chart.shown else None
    caption = _join(chart.caption, chart.reading(scene.now))
    if scene.pinned is None:
        return Drawing(_heatmap_of(chart, scene.now, now, chart.colours([_colour(now, shown)]), caption, shown=shown))
    before, shown_before = chart.values(scene.pinned), chart.shown(scene.pinned) if chart.shown else None
    colours = chart.colours([_colour(now, shown), _colour(before, shown_before)])
    first = _heatmap_of(chart, scene.now, now, colours, caption, shown=shown)
    is_clicked = chart.clicks_beside and scene.same_tokens
    name = escape_markdown(scene.pinned_name)
    caption = _join(
        f"**{upper_first(name)}.** In the same colours.",
        chart.nearest(scene.pinned),
        chart.reading(scene.pinned),
    )
    pinned = _heatmap_of(
        chart, scene.pinned, before, colours, caption, "pinned", shown=shown_before, is_clicked=is_clicked
    )
    if not scene.same_tokens and (chart.rows.of_tokens or chart.columns.of_tokens):
        note = "There is no map of the difference, as the two read different tokens."
        return Drawing(first, (pinned,), note, chart.in_one_row)
    rows, columns = (min(sizes) for sizes in zip(now.shape, before.shape, strict=True))
    change = now[:rows, :columns] - before[:rows, :columns]
    caption = _join(
        f"**Now − pinned.** Violet: {chart.more} now. Orange: {chart.more} in the pinned settings.",
        chart.change(scene.now, scene.pinned),
    )
    magnitude = chart.magnitude or float(max(figures.largest(np.abs(each)) for each in (now, before)))
    either = None
    if shown is not None and shown_before is not None:
        either = shown[:rows, :columns] | shown_before[:rows, :columns]
    difference = _heatmap_of(
        chart, scene.now, change, chart.change_colours([_colour(change, either)]), caption, "difference", magnitude,
        shown=either, is_clicked=is_clicked,
    )  # fmt: skip
    return Drawing(first, (pinned, difference))


def _heatmap_of(
    chart: Heatmap[S], subject: S, values: Array, colours: Colours, caption: str, side: Side = "",
    magnitude: float | None = None, *, shown: Mask | None = None, is_clicked: bool = False,
) -> Drawn:  # fmt: skip
    """One heatmap of a subject's `values`; `magnitude` is that of the numbers whose difference they are."""
    is_change = side == "difference"
    rows, columns = (
        _cell_names(axis, subject, size) for axis, size in zip((chart.rows, chart.columns), values.shape, strict=True)
    )
    margin = {"t": figures.ROOM_ABOVE} if chart.bar_above else None
    are_tokens = chart.rows.of_tokens and chart.columns.of_tokens  # longer names are measured by Plotly
    is_measured = are_tokens or chart.bar_above
    if is_measured and not isinstance(rows, range) and not isinstance(columns, range):
        is_signed = is_change or chart.number.startswith("+")
        margin = figures.room_for_names(
            rows, columns, is_signed=is_signed, bar_above=chart.bar_above, is_slanted=are_tokens
        )
    figure, note = _heatmap_figure(
        chart, _colour(values, shown), (rows, columns), colours, side=side, margin=margin,
        magnitude=magnitude if is_change else chart.magnitude,
    )  # fmt: skip
    least_width = 0
    if chart.least_cell:
        figure["layout"]["dragmode"] = False  # a finger scrolls it, and the page
        beside = sum((margin or {}).get(edge, 0) for edge in "lr")
        least_width = min(chart.least_cell * values.shape[1], _WIDEST) + beside
    if frames := figures.draw_frames(chart.frames(subject)):
        figure["layout"]["shapes"] = frames
    table = partial(_heatmap_table, chart, values, (rows, columns))
    if chart.table is not None and not is_change:
        table = partial(chart.table, subject)
    cells = _clickable(chart.rows, chart.columns, subject, values.shape)
    return Drawn(
        chart,
        side,
        figure,
        _join(caption, note),
        table,
        cells if chart.click and (is_clicked or not side) else None,
        least_width=least_width,
    )


def _heatmap_figure(
    chart: Heatmap[Any], values: Array, names: tuple[_Names, _Names], colours: Colours, *, side: Side,
    margin: Mapping[str, int] | None, magnitude: float | None,
) -> tuple[Figure, str]:  # fmt: skip
    """Numbers (R, C) as colours, rows from the top; NaN is empty. Returns the figure, and a note for its caption.

    `names` are of the rows and of the columns; `margin` is as of `style`, `magnitude` as of `_widen_colours`.
    """
    is_change, height = side == "difference", chart.height or chart.height_of(len(values))
    number, written = (
        f"+{each.removeprefix('+')}" if is_change and each else each for each in (chart.number, chart.written)
    )
    bar = "change" if is_change else chart.bar
    z, options, note = _widen_colours(
        values if colours.place is None else colours.place(values), colours.options, magnitude
    )
    is_recoloured = z is not values
    cells = {
        "type": "heatmap",
        "z": z,
        "x": _on_axis(names[1]),
        "y": _on_axis(names[0]),
        "hovertemplate": f"{chart.hover}: %{{{'customdata' if is_recoloured else 'z'}:{number}}}<extra></extra>",
        "hoverongaps": False,
        "xgap": chart.gap,
        "ygap": chart.gap,
        "colorbar": {
            **(figures.flat_bar(bar, height) if chart.bar_above else figures.colour_bar(bar)),
            **colours.ticks,
        },
        **({} if bar else {"showscale": False}),
        **(figures.written_in_cells(values, written) if written else {}),
        **({"customdata": values} if is_recoloured else {}),
        **options,
    }
    plain = {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": {**plain, **_axis_look(chart.columns, values.shape[1], slanted=True)},
        "yaxis": {**plain, "autorange": "reversed", **_axis_look(chart.rows, values.shape[0])},
    }
    figure = figures.style([cells], axes, height=height, margin=margin)
    if chart.shown:
        figure["layout"]["plot_bgcolor"] = palette.MUTED
    return figure, note


def _widen_colours(
    z: Array, options: Mapping[str, Any], magnitude: float | None
) -> tuple[Array, Mapping[str, Any], str]:
    """The numbers, Plotly's options of their colours, and a note for the caption, or nothing.

    Numbers that differ by rounding alone get one colour, in a wider range, and the note says so. `magnitude` is that of
    the numbers that these were computed from, where those were larger, as a difference's are.
    """
    low, high = _ends(z, from_zero="zmin" in options)
    is_rounding = (magnitude is not None or "zmax" not in options) and (
        high - low <= figures.ROUNDING * (magnitude or max(-low, high))
    )
    if not is_rounding:
        return z, options, ""
    if magnitude is not None:
        ends = {"zmin": -magnitude if options.get("zmin", 0) < 0 else 0, "zmax": magnitude}
    else:
        twice = (low + high) or 1.0
        ends = {"zmin": min(0.0, twice), "zmax": max(0.0, twice)}
    known = np.isfinite(z)
    even = np.where(known, z.dtype.type((low + high) / 2), np.nan)
    return even, {**options, **ends}, figures.SAME_COLOUR if known.sum() > 1 else ""


def _ends(z: Array, *, from_zero: bool) -> tuple[float, float]:
    """The smallest and the largest finite number, or 0 where that lies beyond them and colours begin there."""
    numbers = z[np.isfinite(z)]
    if from_zero or not numbers.size:
        numbers = np.append(numbers, 0)
    return float(numbers.min()), float(numbers.max())


def _colour(values: Array, shown: Mask | None) -> Array:
    """The numbers that have a colour; NaN elsewhere."""
    coloured: Array = values if shown is None else np.where(shown, values, values.dtype.type(np.nan))
    return coloured


def _heatmap_table(chart: Heatmap[Any], values: Array, names: tuple[_Names, _Names]) -> pd.DataFrame:
    table = pd.DataFrame(values, index=pd.Index(names[0]), columns=pd.Index(names[1]))
    titles = [None if axis.names else axis.title for axis in (chart.rows, chart.columns)]
    return table.rename_axis(titles[0]).rename_axis(titles[1], axis=1)


def _cell_names(axis: Axis[S], subject: S, size: int) -> _Names:
    return range(axis.first, axis.first + size) if axis.names is None else list(axis.names(subject))[:size]


def _on_axis(names: _Names) -> Any:
    """Names as Plotly shows them, letter by letter; numbers as they are."""
    return np.array(names) if isinstance(names, range) else [label(name, len(name)) for name in names]


def _axis_look(axis: Axis[S], size: int, *, slanted: bool = False) -> Mapping[str, Any]:
    if axis.names is None:
        return {"title": axis.title, **figures.whole_ticks(size), **axis.options}
    return {
        "title": axis.title,
        "type": "category",
        **({"tickangle": -figures.SLANT} if slanted else {}),
        **axis.options,
    }


def _clickable(rows: Axis[S], columns: Axis[S], subject: S, shape: tuple[int, ...]) -> CellRanges:
    return CellRanges(_places(rows, subject, shape[0]), _places(columns, subject, shape[1]))


def _places(axis: Axis[S], subject: S, size: int) -> tuple[str, Mapping[int, int]] | None:
    """The place that an axis's cells stand for: what Plotly calls a cell → the place's number."""
    if not axis.place:
        return None
    numbers = range(size) if axis.numbers is None else axis.numbers(subject)
    first = axis.first if axis.names is None else 0
    return axis.place, {first + cell: number for cell, number in enumerate(numbers) if number is not None}


def _draw_curves(chart: Curves[S], scene: Scene[S]) -> Drawn:
    """The present curves and, dotted, the pinned ones on the same axes."""
    curves = list(chart.curves(scene.now))
    ghosts = [] if scene.pinned is None else list(chart.curves(scene.pinned))
    named: set[str] = set()
    traces: list[dict[str, Any]] = []
    for curve in curves:
        traces += figures.curve_traces(curve, legend=curve.name not in named)
        named.add(curve.name)
    if ghosts:
        traces += [figures.ghost_trace(each, scene.pinned_name) for each in ghosts]
        traces.append(figures.ghost_entry(scene.pinned_name))
    layout: dict[str, Any] = {"hovermode": "x unified"} if len(chart.y) == 1 else {}
    bottom, gap = 1.0, 0.06
    room = 1 - gap * (len(chart.y) - 1)
    for panel, (axis, share) in enumerate(zip(chart.y, chart.shares, strict=True)):
        shown = [each for each in (*curves, *ghosts) if each.panel == panel]
        numbers = [ends for each in shown for ends in (each.y, each.high) if ends is not None]
        top, bottom = bottom, bottom - room * share
        domain = {} if len(chart.y) == 1 else {"domain": [max(bottom, 0.0), top]}
        layout[f"yaxis{panel + 1 if panel else ''}"] = {**axis(numbers), **domain}
        bottom -= gap
    layout["xaxis"] = _curve_axis(chart, curves, ghosts)
    if chart.marks and curves:
        x = np.concatenate([each.x for each in curves])
        layout |= figures.mark_places(chart.marks, x, is_log=layout["xaxis"].get("type") == "log")
    figure = figures.style(traces, layout, height=chart.height or 380, legend=True)
    note = figures.include_zero(figure)
    dotted = f"Dotted lines, on the same axes: {escape_markdown(scene.pinned_name)}." if ghosts else ""
    places = _places(chart.x, scene.now, max((len(curve.x) for curve in curves), default=0))
    cells = CellRanges(None, places) if chart.click and places else None
    caption = _join(chart.caption, chart.reading(scene.now), dotted, note)
    table = partial(_table_of, chart, scene) if chart.table else None
    return Drawn(chart, "", figure, caption, table, cells)


def _curve_axis(
    chart: Curves[S], curves: Sequence[figures.Curve], ghosts: Sequence[figures.Curve]
) -> Mapping[str, Any]:
    """The horizontal axis that all panels share, below the last of them."""
    last = len(chart.y)
    below: dict[str, Any] = {"title": chart.x.title, "anchor": f"y{last}" if last > 1 else "y"}
    names = np.concatenate([each.x for each in (*curves, *ghosts)]) if curves else np.zeros(0)
    if names.dtype.kind in "UO":
        below |= {"type": "category", "tickangle": -figures.SLANT, "showgrid": False}
        if ghosts and chart.order is not None:
            below |= {"categoryorder": "array", "categoryarray": sorted(set(names), key=chart.order)}
    elif names.dtype.kind in "iu":
        below |= {**figures.whole_ticks(int(np.ptp(names)) + 1), "zeroline": False}
    return below | dict(chart.x.options)


def _table_of(chart: Chart[S], scene: Scene[S]) -> pd.DataFrame:
    return draw_table(Table[S](key=chart.key, frame=chart.table or (lambda _: pd.DataFrame())), scene)


def _draw_bars(chart: Bars[S], scene: Scene[S]) -> Drawn:
    """The present bars and, paler beside each, the pinned ones."""
    bars, before = chart.bars(scene.now), None if scene.pinned is None else chart.bars(scene.pinned)
    labels = _bar_labels(chart, bars, before or {})
    axis: dict[str, Any] = {"title": chart.labels.title, "type": "category"}
    layout: dict[str, Any] = {"barmode": "group"}
    if chart.stacked:
        axis |= {"showgrid": False, "categoryorder": "array"}
        layout = {"barmode": "stack", "bargap": 0.25, "uniformtext": {"minsize": 10, "mode": "hide"}}
    if not chart.stacked:
        traces, paler = _paired_bars(chart, bars, before), "The paler bar beside each"
        height = 110 + (22 if before is None else 32) * len(labels) * max(1, len(bars)) if chart.horizontal else 380
    elif chart.horizontal:
        traces, rows = _stacked_rows(chart, scene, labels)
        axis["categoryarray"], height, paler = rows, 70 + 44 * len(rows), "The paler bar below each"
    else:
        traces = [_bar_trace(chart, series, numbers) for series, numbers in bars.items()]
        traces += [_rings(chart, before)] if before else []
        axis |= {"categoryarray": [label(name, len(name)) for name in labels], "tickangle": 0}
        height, paler = 340, "Rings, where these bars end"
    if chart.horizontal:
        layout |= {"xaxis": dict(chart.value), "yaxis": {"autorange": "reversed", **axis, **chart.labels.options}}
    else:
        layout |= {"xaxis": {"tickangle": -figures.SLANT, **axis, **chart.labels.options}, "yaxis": dict(chart.value)}
    if chart.grey is not None:
        sides = [chart.grey(subject) for subject in (scene.now, scene.pinned) if subject is not None]
        layout["shapes"] = figures.grey_places(np.all(sides, axis=0).tolist())
    has_legend = len(bars) > 1 and not (chart.stacked and chart.horizontal)
    figure = figures.style(traces, layout, height=chart.height or height, legend=has_legend)
    places = _places(chart.labels, scene.now, len(labels))
    cells = None
    if chart.click and places:
        cells = CellRanges(places, None) if chart.horizontal else CellRanges(None, places)
    table = partial(_table_of, chart, scene) if chart.table else partial(_bars_table, bars, before)
    pinned = "" if before is None else f"{paler}: {escape_markdown(scene.pinned_name)}."
    caption = _join(chart.caption, chart.reading(scene.now), pinned)
    return Drawn(chart, "", figure, caption, table, cells)


def _bar_labels(chart: Bars[S], *subjects: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The labels that any of the subjects has."""
    labels = dict.fromkeys(name for bars in subjects for numbers in bars.values() for name in numbers)
    return list(labels) if chart.order is None else sorted(labels, key=chart.order)


def _paired_bars(
    chart: Bars[S], bars: Mapping[str, Mapping[str, float]], before: Mapping[str, Mapping[str, float]] | None
) -> list[dict[str, Any]]:
    """Each series, and behind it the pinned one, so that their bars stand side by side."""
    traces = []
    for series in dict.fromkeys((*bars, *(before or ()))):
        if series in bars:
            traces.append(_bar_trace(chart, series, bars[series]))
        if before is not None and series in before:
            name = f"{series}, pinned" if series else "pinned"
            pale = {"opacity": PALE, "name": label(name, len(name)), "showlegend": False}
            traces.append(_bar_trace(chart, series, before[series], "pinned") | pale)
    return traces


def _stacked_rows(chart: Bars[S], scene: Scene[S], labels: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Pieces end to end, each with its series' name in it, and the rows that they lie in, from the top."""
    sides = [("", scene.now, scene.pinned)]
    if scene.pinned is not None:
        sides.append((", pinned", scene.pinned, None))
    traces: list[dict[str, Any]] = []
    rows: dict[tuple[str, str], str] = {}
    for side, subject, other in sides:
        notes = chart.notes(subject, other) if chart.notes else {}
        for name in labels:
            note = f"<br>{label(notes[name], len(notes[name]))}" if name in notes else ""
            rows[name, side] = f"{label(name, len(name))}{side}{note}"
        bars = chart.bars(subject)
        total = sum(sum(numbers.values()) for numbers in bars.values())
        for series, numbers in bars.items():
            trace = _bar_trace(chart, series, numbers)
            trace["y"] = [rows[name, side] for name in numbers]
            trace["customdata"] = [number / total if total else 0 for number in numbers.values()]
            hover = f"%{{y}}<br>{trace['name']}: %{{x:{chart.number}}} {chart.unit}, %{{customdata:.2%}}<extra></extra>"
            trace["hovertemplate"] = hover
            trace["marker"] |= {"line": {"width": 1, "color": "rgba(255, 255, 255, 0.55)"}}
            trace |= {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
            texts = ["" if name == series else trace["name"] for name in numbers]  # a row has its own name beside it
            trace |= {"opacity": PALE} if side else {"text": texts}
            traces.append(trace)
    return traces, [rows[name, side] for name in labels for side, *_ in sides]


def _rings(chart: Bars[S], before: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Where a pinned subject's stacked bars end."""
    ends: dict[str, float] = {}
    for numbers in before.values():
        for name, number in numbers.items():
            ends[name] = ends.get(name, 0) + number
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [label(name, len(name)) for name in ends],
        "y": np.array(list(ends.values()), np.float64),
        "name": "pinned, whole bars",
        "marker": {"size": 9, "symbol": "circle-open", "color": palette.RESIDUAL},
        "hovertemplate": f"%{{x}}<br>pinned: %{{y:{chart.number}}} {chart.unit}<extra></extra>",
    }


def _bar_trace(chart: Bars[S], series: str, numbers: Mapping[str, float], side: str = "") -> dict[str, Any]:
    names, values = [label(name, len(name)) for name in numbers], np.array(list(numbers.values()), np.float64)
    x, y = (values, names) if chart.horizontal else (names, values)
    value, name = ("%{x", "%{y}") if chart.horizontal else ("%{y", "%{x}")
    unit = f" {chart.unit}" if chart.unit else ""
    whose = "".join(f", {each}" for each in (label(series), side) if each)
    hover = f"{name}{whose}: {value}:{chart.number}}}{unit}<extra></extra>"
    return {
        "type": "bar",
        "x": x,
        "y": y,
        "orientation": "h" if chart.horizontal else "v",
        "name": label(series),
        "marker": {"color": chart.colours[series]},
        "hovertemplate": hover,
    }


def _bars_table(bars: Mapping[str, Any], before: Mapping[str, Any] | None) -> pd.DataFrame:
    now = pd.DataFrame(bars)
    return compare_tables(now, None if before is None else pd.DataFrame(before))


def _draw_vectors(chart: Vectors[S], scene: Scene[S]) -> Drawn:
    """The present vectors, each between the pinned one of its name and the difference."""
    rows = dict(chart.rows(scene.now))
    paired = ""
    if scene.pinned is not None:
        rows = _pair_vectors(rows, chart.rows(scene.pinned))
        paired = f"The rows that are pinned: {escape_markdown(scene.pinned_name)}."
    lengths = set(map(len, rows.values()))
    cut = ""
    if max(lengths) > figures.SHOWN:
        up_to = "up to " * (len(lengths) > 1)
        cut = f"Drawn: the first {figures.SHOWN} of {up_to}{max(lengths):,} numbers."
    caption = _join(chart.caption, chart.reading(scene.now), paired, cut)
    table = partial(_vectors_table, rows)
    return Drawn(chart, "", figures.vectors(rows, chart.numbers), caption, table)


def _pair_vectors(now: Mapping[str, Array], pinned: Mapping[str, Array]) -> dict[str, Array]:
    rows: dict[str, Array] = {}
    for name, vector in now.items():
        before = pinned.get(name)
        if before is not None:
            rows[f"{name}, pinned"] = before
        rows[f"{name}, now"] = vector
        if before is not None and len(before) == len(vector):
            rows[f"{name}, now − pinned"] = vector - before
    return rows


def _vectors_table(rows: Mapping[str, Array]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(vector) for name, vector in rows.items()}).rename_axis("number")


def _draw_picture(chart: Picture[S], scene: Scene[S]) -> Drawing:
    """A figure of its own kind, and the pinned subject's beside it."""
    table = partial(_table_of, chart, scene) if chart.table else None
    caption = _join(chart.caption, chart.reading(scene.now))
    now = Drawn(chart, "", chart.figure(scene.now), caption, table)
    if scene.pinned is None:
        return Drawing(now)
    name = escape_markdown(scene.pinned_name)
    caption = _join(f"**{name}.**", chart.reading(scene.pinned))
    return Drawing(now, (Drawn(chart, "pinned", chart.figure(scene.pinned), caption),))


def _draw_head_grid(chart: HeadGrid[S], subject: S) -> Drawn:
    """All heads as thumbnails; a click on one chooses its layer and head."""
    thumbnails = chart.thumbnails(subject)
    n_layers, n_heads = thumbnails.shape[:2]
    figure = head_grid(thumbnails, chart.scale, height=chart.height)
    rows, columns = (
        (place, {n: n for n in range(size)}) for place, size in zip(chart.places, thumbnails.shape[:2], strict=True)
    )
    heads = SavedHeads(
        partial(chart.weights, subject), chart.queries(subject), chart.keys(subject), n_layers * n_heads, chart.scale
    )
    return Drawn(
        chart,
        "",
        figure,
        _join(chart.caption, chart.reading(subject)),
        partial(chart.table, subject) if chart.table else None,
        CellRanges(rows, columns, is_mosaic=True, opens=chart.opens) if chart.click else None,
        heads,
    )


def _draw_head_lines(chart: HeadLines[S], scene: Scene[S]) -> Drawing:
    """The present lines, and in a row with them the pinned ones."""
    table = partial(_table_of, chart, scene) if chart.table else None
    now = _lines_of(chart, "", scene.now, _join(chart.caption, chart.reading(scene.now)), table)
    if scene.pinned is None:
        return Drawing(now)
    name = escape_markdown(scene.pinned_name)
    caption = _join(f"**{name}.**", chart.nearest(scene.pinned), "The same width for the same weight.")
    return Drawing(now, (_lines_of(chart, "pinned", scene.pinned, caption),), in_one_row=True)


def _lines_of(
    chart: HeadLines[S], side: Side, subject: S, caption: str, table: Callable[[], pd.DataFrame] | None = None
) -> Drawn:
    lines = chart.lines(subject)
    weights, figure = partial(chart.weights, subject), partial(lines_figure, lines)
    return Drawn(chart, side, figure, caption, table, live=lines, saved_table=weights)


def _draw_labelled_bars(chart: LabelledBars[S], subject: S) -> Drawn:
    bars = chart.bars(subject)
    caption = _join(chart.caption, chart.reading(subject))
    table = partial(chart.table, subject) if chart.table else None
    figure = partial(_labelled_bars_figure, bars)
    return Drawn(chart, "", figure, caption, table, live=bars)


def _labelled_bars_figure(bars: LabelledRows) -> Figure:
    """Labelled bars as a figure, for pictures and notebooks."""
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


def token_axis(tokens: Callable[[S], Sequence[str]], place: str = "query", title: str = "token") -> Axis[S]:
    """An axis with a cell a token, each with its position below the line."""
    return Axis(title, lambda subject: token_names(tokens(subject)), place=place, of_tokens=True)
