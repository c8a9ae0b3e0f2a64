"""A heatmap of both subjects, in colours that they share, and of their difference. Legend: R rows, C columns."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, CellRanges, Heatmap, Mask
from playground.charts.colour_scales import Colours
from playground.charts.draw.drawn import Drawing, Drawn, Side, find_places, join_sentences
from playground.charts.figure import Array, Figure
from playground.charts.markdown import escape_markdown
from playground.charts.names import label
from playground.charts.scene import Scene
from playground.text.wording import upper_first

S = TypeVar("S")

_Names: TypeAlias = Sequence[str] | range

_WIDEST = 1_400
"""Pixels of the cells of a map that is scrolled, at most."""


def draw_heatmap(chart: Heatmap[S], scene: Scene[S]) -> Drawing:
    """Draw the present numbers, the pinned ones in the same colours, and the difference if both have cells."""
    now, shown = _read(chart, scene.now)
    caption = join_sentences(chart.caption, chart.reading(scene.now))
    if scene.pinned is None:
        return Drawing(_draw_side(chart, scene.now, now, shown, chart.colours([_colour(now, shown)]), caption))
    before, shown_before = _read(chart, scene.pinned)
    colours = chart.colours([_colour(now, shown), _colour(before, shown_before)])
    first = _draw_side(chart, scene.now, now, shown, colours, caption)
    is_clicked = chart.clicks_beside and scene.same_tokens
    name = f"**{upper_first(escape_markdown(scene.pinned_name))}.** In the same colours."
    caption = join_sentences(name, chart.nearest(scene.pinned), chart.reading(scene.pinned))
    pinned = _draw_side(chart, scene.pinned, before, shown_before, colours, caption, "pinned", is_clicked=is_clicked)
    if not scene.same_tokens and (chart.rows.of_tokens or chart.columns.of_tokens):
        note = "There is no map of the difference, as the two read different tokens."
        return Drawing(first, (pinned,), note, chart.in_one_row)
    rows, columns = (min(sizes) for sizes in zip(now.shape, before.shape, strict=True))
    either = None
    magnitude = chart.magnitude or max(colour_scales.largest(np.abs(each)) for each in (now, before))
    change = _without_rounding(now[:rows, :columns] - before[:rows, :columns], magnitude)
    if shown is not None and shown_before is not None:
        either = shown[:rows, :columns] | shown_before[:rows, :columns]
    caption = join_sentences(
        f"**Now − pinned.** Violet: {chart.more} now. Orange: {chart.more} in the pinned settings.",
        chart.change(scene.now, scene.pinned),
    )
    colours = chart.change_colours([_colour(change, either)])
    difference = _draw_side(chart, scene.now, change, either, colours, caption, "difference", is_clicked=is_clicked)
    return Drawing(first, (pinned, difference))


def _read(chart: Heatmap[S], subject: S) -> tuple[Array, Mask | None]:
    values = chart.values(subject)
    if chart.magnitude is not None:
        values = _without_rounding(values, chart.magnitude)
    return values, chart.shown(subject) if chart.shown else None


def _without_rounding(values: Array, magnitude: float) -> Array:
    """0 for what may be nothing but the rounding of numbers of this magnitude."""
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
    *,
    is_clicked: bool = True,
) -> Drawn:
    """One heatmap of a subject's `values`, or of a difference."""
    axes = (chart.rows, chart.columns)
    rows, columns = (_cell_names(axis, subject, size) for axis, size in zip(axes, values.shape, strict=True))
    margin = {"t": figures.ROOM_ABOVE} if chart.flat_bar else None
    are_tokens = chart.rows.of_tokens and chart.columns.of_tokens  # longer names are measured by Plotly
    if (are_tokens or chart.flat_bar) and not isinstance(rows, range) and not isinstance(columns, range):
        is_signed = side == "difference" or chart.number.startswith("+")
        margin = figures.room_for_names(
            rows, columns, is_signed=is_signed, flat_bar=chart.flat_bar, is_slanted=are_tokens
        )
    figure = _draw_figure(chart, _colour(values, shown), (rows, columns), colours, side, margin)
    least_width = 0
    if chart.least_cell:
        figure["layout"]["dragmode"] = False  # a finger scrolls it, and the page
        beside = sum((margin or {}).get(edge, 0) for edge in "lr")
        least_width = min(chart.least_cell * values.shape[1], _WIDEST) + beside
    if frames := figures.draw_frames(chart.frames(subject)):
        figure["layout"]["shapes"] = frames
    table = partial(_tabulate, chart, values, (rows, columns))
    if chart.table is not None and side != "difference":
        table = partial(chart.table, subject)
    cells = None
    if chart.click and is_clicked:
        of_row, of_column = (find_places(axis, subject, n) for axis, n in zip(axes, values.shape, strict=True))
        cells = CellRanges(of_row, of_column, opens=chart.opens)
    return Drawn(chart, side, figure, caption, table, cells, least_width=least_width)


def _draw_figure(
    chart: Heatmap[Any],
    values: Array,
    names: tuple[_Names, _Names],
    colours: Colours,
    side: Side,
    margin: Mapping[str, int] | None,
) -> Figure:
    """Numbers (R, C) as colours, rows from the top; NaN is empty."""
    is_change, height = side == "difference", chart.height or chart.height_of(len(values))
    number, written = (
        f"+{each.removeprefix('+')}" if is_change and each else each for each in (chart.number, chart.written)
    )
    names_above = chart.flat_bar and chart.rows.of_tokens and chart.columns.of_tokens
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
    figure = figures.style([cells], {"xaxis": x_axis, "yaxis": y_axis}, height=height, margin=margin)
    if chart.shown:
        figure["layout"]["plot_bgcolor"] = palette.MUTED
    return figure


def _colour(values: Array, shown: Mask | None) -> Array:
    """The numbers that have a colour; NaN elsewhere."""
    coloured: Array = values if shown is None else np.where(shown, values, values.dtype.type(np.nan))
    return coloured


def _tabulate(chart: Heatmap[Any], values: Array, names: tuple[_Names, _Names]) -> pd.DataFrame:
    table = pd.DataFrame(values, index=pd.Index(names[0]), columns=pd.Index(names[1]))
    titles = [None if axis.names else axis.title for axis in (chart.rows, chart.columns)]
    return table.rename_axis(titles[0]).rename_axis(titles[1], axis=1)


def _cell_names(axis: Axis[S], subject: S, size: int) -> _Names:
    return range(axis.first, axis.first + size) if axis.names is None else list(axis.names(subject))[:size]


def _on_axis(names: _Names) -> Any:
    """Names as Plotly shows them; numbers as they are."""
    return np.array(names) if isinstance(names, range) else [label(name, len(name)) for name in names]


def _axis_look(axis: Axis[S], size: int, **look: Any) -> Mapping[str, Any]:
    if axis.names is None:
        return {"title": axis.title, **figures.whole_ticks(size), **axis.options}
    return {"title": axis.title, "type": "category", **look, **axis.options}
