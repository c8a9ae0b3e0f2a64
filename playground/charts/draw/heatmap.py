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
"""Of an axis's cells."""

_WIDEST = 1_400
"""Pixels of a map's cells, where they are so many that it is scrolled: beyond that they are narrower."""


def draw_heatmap(chart: Heatmap[S], scene: Scene[S]) -> Drawing:
    """The present numbers; below them the pinned ones in the same colours, and the difference where both have cells."""
    now, shown = chart.values(scene.now), chart.shown(scene.now) if chart.shown else None
    caption = join_sentences(chart.caption, chart.reading(scene.now))
    if scene.pinned is None:
        return Drawing(_heatmap_of(chart, scene.now, now, chart.colours([_colour(now, shown)]), caption, shown=shown))
    before, shown_before = chart.values(scene.pinned), chart.shown(scene.pinned) if chart.shown else None
    colours = chart.colours([_colour(now, shown), _colour(before, shown_before)])
    first = _heatmap_of(chart, scene.now, now, colours, caption, shown=shown)
    is_clicked = chart.clicks_beside and scene.same_tokens
    name = escape_markdown(scene.pinned_name)
    caption = join_sentences(
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
    caption = join_sentences(
        f"**Now − pinned.** Violet: {chart.more} now. Orange: {chart.more} in the pinned settings.",
        chart.change(scene.now, scene.pinned),
    )
    magnitude = chart.magnitude or float(max(colour_scales.largest(np.abs(each)) for each in (now, before)))
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
    margin = {"t": figures.ROOM_ABOVE} if chart.flat_bar else None
    are_tokens = chart.rows.of_tokens and chart.columns.of_tokens  # longer names are measured by Plotly
    is_measured = are_tokens or chart.flat_bar
    if is_measured and not isinstance(rows, range) and not isinstance(columns, range):
        is_signed = is_change or chart.number.startswith("+")
        margin = figures.room_for_names(
            rows, columns, is_signed=is_signed, flat_bar=chart.flat_bar, is_slanted=are_tokens
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
    cells = _clickable(chart, subject, values.shape)
    return Drawn(
        chart,
        side,
        figure,
        join_sentences(caption, note),
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
            **(
                figures.flat_bar(bar, height, is_below=_has_names_above(chart))
                if chart.flat_bar
                else figures.colour_bar(bar)
            ),
            **colours.ticks,
        },
        **({} if bar else {"showscale": False}),
        **(figures.written_in_cells(values, written) if written else {}),
        **({"customdata": values} if is_recoloured else {}),
        **options,
    }
    plain = {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": {
            **plain,
            **_axis_look(chart.columns, values.shape[1], slanted=True),
            **({"side": "top", "tickangle": figures.SLANT} if _has_names_above(chart) else {}),
        },
        "yaxis": {**plain, "autorange": "reversed", **_axis_look(chart.rows, values.shape[0])},
    }
    figure = figures.style([cells], axes, height=height, margin=margin)
    if chart.shown:
        figure["layout"]["plot_bgcolor"] = palette.MUTED
    return figure, note


def _has_names_above(chart: Heatmap[Any]) -> bool:
    """Whether the columns' names stand above the cells, in sight together with the first rows."""
    return chart.flat_bar and chart.rows.of_tokens and chart.columns.of_tokens


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
    return even, {**options, **ends}, colour_scales.SAME_COLOUR if known.sum() > 1 else ""


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


def _clickable(chart: Heatmap[S], subject: S, shape: tuple[int, ...]) -> CellRanges:
    rows, columns = (find_places(axis, subject, n) for axis, n in zip((chart.rows, chart.columns), shape, strict=True))
    return CellRanges(rows, columns, opens=chart.opens)
