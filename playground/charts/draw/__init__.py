"""A chart of a scene, for any renderer."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from playground.charts.chart import (
    Bars,
    CellRanges,
    Chart,
    Curves,
    HeadGrid,
    HeadLines,
    Heatmap,
    LabelledBars,
    Picture,
    Vectors,
)
from playground.charts.draw.bars import draw_bars, draw_curves, draw_labelled_bars
from playground.charts.draw.drawn import (
    Drawing,
    Drawn,
    chart_label,
    compare_tables,
    draw_one,
    draw_table,
    join_sentences,
)
from playground.charts.draw.heatmap import draw_heatmap, draw_vectors
from playground.charts.figure import style
from playground.charts.heads import head_grid
from playground.charts.names import escape, escape_markdown
from playground.charts.scene import Scene, note_other_tokens

__all__ = ["Drawing", "Drawn", "chart_label", "compare_tables", "draw_chart", "draw_table"]

S = TypeVar("S")


def draw_chart(chart: Chart[S], scene: Scene[S]) -> Drawing:
    """Draw a chart of the present subject and, if one is pinned, what its kind has for two."""
    draw = next(draw for kind, draw in _DRAW.items() if isinstance(chart, kind))
    alone = Scene(scene.now, scene.focus)
    if scene.pinned is not None and chart.compares and chart.needs_tokens and not scene.same_tokens:
        return Drawing(draw(chart, alone).now, note=note_other_tokens(chart.needs_tokens))
    drawing: Drawing = draw(chart, scene if chart.compares else alone)
    return drawing


def _draw_picture(chart: Picture[S], scene: Scene[S]) -> Drawing:
    now = draw_one(chart, scene, partial(chart.figure, scene.now))
    return Drawing(now, _draw_pinned(chart, scene, chart.figure, chart.reading))


def _draw_head_lines(chart: HeadLines[S], scene: Scene[S]) -> Drawing:
    def draw(subject: S) -> dict[str, Any]:
        """The weights as a map: their lines are drawn without Plotly."""
        table = chart.weights(subject)
        x, y = ([escape(str(name)) for name in names] for names in (table.columns, table.index))
        cells = {"type": "heatmap", "z": table.to_numpy(), "x": x, "y": y, "zmin": 0}
        return style(
            [cells], {"yaxis": {"autorange": "reversed"}}, height=60 + chart.lines(subject).row_height * len(y)
        )

    def read_pinned(subject: S) -> str:
        return join_sentences(chart.nearest(subject), "The same width for the same weight.")

    now = draw_one(chart, scene, partial(draw, scene.now))
    return Drawing(now, _draw_pinned(chart, scene, draw, read_pinned), in_one_row=True)


def _draw_pinned(
    chart: Chart[S], scene: Scene[S], draw: Callable[[S], dict[str, Any]], read: Callable[[S], str]
) -> tuple[Drawn, ...]:
    if scene.pinned is None:
        return ()
    caption = join_sentences(f"**{escape_markdown(scene.pinned_name)}.**", read(scene.pinned))
    return (Drawn(chart, scene.pinned, "pinned", partial(draw, scene.pinned), caption),)


def _draw_head_grid(chart: HeadGrid[S], scene: Scene[S]) -> Drawing:
    thumbnails = chart.thumbnails(scene.now)
    rows, columns = (
        (place, {n: n for n in range(size)}) for place, size in zip(chart.places, thumbnails.shape[:2], strict=True)
    )
    cells = CellRanges(rows, columns, is_mosaic=True, opens=chart.opens)
    draw = partial(head_grid, thumbnails, square_root=chart.square_root, height=chart.height)
    return Drawing(draw_one(chart, scene, draw, cells=cells))


_DRAW: dict[type, Callable[[Any, Any], Drawing]] = {
    Heatmap: draw_heatmap,
    Curves: draw_curves,
    Bars: draw_bars,
    Vectors: draw_vectors,
    Picture: _draw_picture,
    HeadGrid: _draw_head_grid,
    HeadLines: _draw_head_lines,
    LabelledBars: draw_labelled_bars,
}
