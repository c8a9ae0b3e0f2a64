"""Heatmaps of both subjects, in shared colours, and their difference; vectors as cells. Legend: R rows, C columns."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, CellRanges, Chart, Heatmap, Mask, Vectors
from playground.charts.colour_scales import Colours
from playground.charts.draw.drawn import Drawing, Drawn, Side, find_places, join_sentences
from playground.charts.figure import Array, Figure
from playground.charts.names import escape, escape_markdown
from playground.charts.scene import Scene
from playground.text.wording import upper_first

S = TypeVar("S")

_Names: TypeAlias = Sequence[str] | range

_WIDEST = 1_400
"""Pixels of a scrolled map, at most."""


def draw_heatmap(chart: Heatmap[S], scene: Scene[S]) -> Drawing:
    """Draw the present numbers, the pinned ones, and the difference if there is one."""
    now, shown = _read(chart, scene.now)
    caption = join_sentences(chart.caption, chart.reading(scene.now))
    if scene.pinned is None:
        return Drawing(_draw_side(chart, scene.now, now, shown, chart.colours([_colour(now, shown)]), caption))
    before, shown_before = _read(chart, scene.pinned)
    colours = chart.colours([_colour(now, shown), _colour(before, shown_before)])
    first = _draw_side(chart, scene.now, now, shown, colours, caption)
    beside = chart if scene.same_tokens else replace(chart, click="")
    name = f"**{upper_first(escape_markdown(scene.pinned_name))}.** In the same colours."
    caption = join_sentences(name, chart.nearest(scene.pinned), chart.reading(scene.pinned))
    pinned = _draw_side(beside, scene.pinned, before, shown_before, colours, caption, "pinned")
    if not scene.same_tokens and (chart.rows.of_tokens or chart.columns.of_tokens):
        note = "There is no map of the difference, as the two read different tokens."
        return Drawing(first, (pinned,), note, chart.in_one_row)
    cells = tuple(slice(min(sizes)) for sizes in zip(now.shape, before.shape, strict=True))
    magnitude = chart.magnitude or max(colour_scales.largest(np.abs(each)) for each in (now, before))
    change = _without_rounding(now[cells] - before[cells], magnitude)
    either = None if shown is None or shown_before is None else shown[cells] | shown_before[cells]
    caption = f"**Now − pinned.** Violet: {chart.more} now. Orange: {chart.more} in the pinned settings."
    colours = colour_scales.around_zero([_colour(change, either)])
    difference = _draw_side(beside, scene.now, change, either, colours, caption, "difference")
    return Drawing(first, (pinned, difference) if change.any() else (pinned,))


def _read(chart: Heatmap[S], subject: S) -> tuple[Array, Mask | None]:
    values = chart.values(subject)
    if chart.magnitude is not None:
        values = _without_rounding(values, chart.magnitude)
    return values, chart.shown(subject) if chart.shown else None


def _without_rounding(values: Array, magnitude: float) -> Array:
    """0 for what may be rounding of numbers of this magnitude."""
    exact: Array = np.where(np.abs(values) <= figures.ROUNDING * magnitude, values.dtype.type(0), values)
    return exact


def _draw_side(
    chart: Heatmap[S],
    subject: S,
    values: Array,
    shown: Mask | None,
    colours: Colours,
    caption: str,
    side: Side = "",
) -> Drawn:
    axes = (chart.rows, chart.columns)
    names = tuple(_cell_names(axis, subject, size) for axis, size in zip(axes, values.shape, strict=True))
    is_change = side == "difference"
    margin = {"t": figures.ROOM_ABOVE} if chart.flat_bar else {}
    if _are_tokens(chart):  # other names are measured by Plotly
        is_signed = is_change or chart.number.startswith("+")
        rows, columns = (list(map(str, each)) for each in names)
        margin = figures.room_for_names(rows, columns, is_signed=is_signed, is_flat=chart.flat_bar)
    table = partial(_tabulate, chart, values, names)
    if chart.table is not None and not is_change:
        table = partial(chart.table, subject)
    cells = None
    if chart.click:
        of_row, of_column = (find_places(axis, subject, n) for axis, n in zip(axes, values.shape, strict=True))
        cells = CellRanges(of_row, of_column, opens=chart.opens)
    least_width = 0
    if chart.least_cell:
        least_width = min(chart.least_cell * values.shape[1], _WIDEST) + margin.get("l", 0) + margin.get("r", 0)
    coloured = _colour(values, shown)

    def draw() -> Figure:
        figure = _draw_figure(chart, coloured, names, colours, margin, is_change=is_change)
        if chart.least_cell:
            figure["layout"]["dragmode"] = False  # a finger scrolls it, and the page
        if frames := chart.frames(subject):
            figure["layout"]["shapes"] = [_frame_shape(*each) for each in frames]
        return figure

    return Drawn(chart, subject, side, draw, caption, table, cells, least_width)


def _frame_shape(rows: tuple[int, int], columns: tuple[int, int], colour: str, width: int) -> dict[str, Any]:
    (y0, y1), (x0, x1) = rows, columns
    ends = {"x0": x0 - 0.5, "x1": x1 + 0.5, "y0": y0 - 0.5, "y1": y1 + 0.5}
    return {"type": "rect", "xref": "x", "yref": "y", **ends, "line": {"color": colour, "width": width}}


def _draw_figure(
    chart: Heatmap[Any],
    values: Array,
    names: Sequence[_Names],
    colours: Colours,
    margin: Mapping[str, int],
    *,
    is_change: bool,
) -> Figure:
    height = chart.height or chart.height_of(len(values))
    number, written = (
        f"+{each.removeprefix('+')}" if is_change and each else each for each in (chart.number, chart.written)
    )
    names_above = chart.flat_bar and _are_tokens(chart)
    bar = "change" if is_change else chart.bar
    drawn_bar = figures.flat_bar(bar, height, is_below=names_above) if chart.flat_bar else figures.colour_bar(bar)
    cells = {
        "type": "heatmap",
        "z": values if colours.place is None else colours.place(values),
        "x": _on_axis(names[1]),
        "y": _on_axis(names[0]),
        "hovertemplate": f"{chart.hover}: %{{{'customdata' if colours.place else 'z'}:{number}}}<extra></extra>",
        "hoverongaps": False,
        "xgap": chart.gap,
        "ygap": chart.gap,
        "colorbar": {**drawn_bar, **colours.ticks},
        **({} if bar else {"showscale": False}),
        **(figures.written_in_cells(values, written) if written else {}),
        **({"customdata": values} if colours.place else {}),
        **colours.options,
    }
    plain = {"showgrid": False, "zeroline": False}
    x_axis = plain | dict(_axis_look(chart.columns, values.shape[1], tickangle=-figures.SLANT))
    if names_above:
        x_axis |= {"side": "top", "tickangle": figures.SLANT}
    y_axis = {**plain, "autorange": "reversed", **_axis_look(chart.rows, values.shape[0])}
    background = {"plot_bgcolor": palette.MUTED} if chart.shown else {}
    layout = {"xaxis": x_axis, "yaxis": y_axis, **background, "minreducedheight": 20}  # else one row leaves no title
    return figures.style([cells], layout, height=height, margin=margin)


def _are_tokens(chart: Heatmap[Any]) -> bool:
    return chart.rows.of_tokens and chart.columns.of_tokens


def _colour(values: Array, shown: Mask | None) -> Array:
    coloured: Array = values if shown is None else np.where(shown, values, values.dtype.type(np.nan))
    return coloured


def _tabulate(chart: Heatmap[Any], values: Array, names: Sequence[_Names]) -> pd.DataFrame:
    table = pd.DataFrame(values, index=pd.Index(names[0]), columns=pd.Index(names[1]))
    titles = [None if axis.names else axis.title for axis in (chart.rows, chart.columns)]
    return table.rename_axis(titles[0]).rename_axis(titles[1], axis=1)


def _cell_names(axis: Axis[S], subject: S, size: int) -> _Names:
    return range(axis.first, axis.first + size) if axis.names is None else list(axis.names(subject))[:size]


def _on_axis(names: _Names) -> Any:
    return np.array(names) if isinstance(names, range) else list(map(escape, names))


def _axis_look(axis: Axis[S], size: int, **look: Any) -> Mapping[str, Any]:
    if axis.names is None:
        return {"title": axis.title, **figures.whole_ticks(size), **axis.options}
    return {"title": axis.title, "type": "category", **look, **axis.options}


# --- vectors

SHOWN = 8
MOST_VECTORS = 16


def draw_vectors(chart: Vectors[S], scene: Scene[S]) -> Drawing:
    """Draw the present vectors, the pinned ones, the differences."""
    rows, caption = dict(chart.rows(scene.now)), join_sentences(chart.caption, chart.reading(scene.now))
    if scene.pinned is not None:
        rows = _pair_vectors(rows, chart.rows(scene.pinned))
        caption += f" The rows that are pinned: {escape_markdown(scene.pinned_name)}."
    drawn, longest = dict(list(rows.items())[:MOST_VECTORS]), max(map(len, rows.values()))
    z = np.full((len(drawn), min(SHOWN, longest)), np.nan, np.float32)
    for cells, vector in zip(z, drawn.values(), strict=True):
        n = min(len(cells), len(vector))
        cells[:n] = vector[:n]

    def tabulate(_: S) -> pd.DataFrame:
        return pd.DataFrame({name: pd.Series(each) for name, each in rows.items()}).rename_axis("number")

    first = f", first {SHOWN} of {longest:,}" if longest > SHOWN else ""
    plain: dict[str, Any] = {"caption": caption, "reading": lambda _: "", "table": tabulate}
    cells_of_vectors = Heatmap[S](
        **{each.name: getattr(chart, each.name) for each in fields(Chart)} | plain,
        values=lambda _: z,
        rows=Axis("", lambda _: list(drawn)),
        columns=Axis(f"{chart.numbers}{first}", options={"dtick": 1}),
        bar="value",
        hover="%{y}, number %{x}",
        more="",
        number=".6~g",
        written=".2g",
        colours=colour_scales.around_zero,
        gap=1,
        flat_bar=True,
        height_of=lambda n: 122 + 30 * n,
    )
    return draw_heatmap(cells_of_vectors, Scene(scene.now, scene.focus))


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
