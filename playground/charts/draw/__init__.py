"""A chart of a scene, for any renderer."""

from collections.abc import Callable
from typing import Any, TypeVar

from playground.charts.chart import Bars, Chart, Curves, HeadGrid, HeadLines, Heatmap, LabelledBars, Picture, Vectors
from playground.charts.draw.bars import draw_bars
from playground.charts.draw.curves import draw_curves
from playground.charts.draw.drawn import Drawing, Drawn, SavedHeads, compare_tables, draw_table
from playground.charts.draw.heatmap import draw_heatmap
from playground.charts.draw.others import draw_head_grid, draw_head_lines, draw_labelled_bars, draw_picture
from playground.charts.draw.vectors import draw_vectors
from playground.charts.scene import Scene, note_other_tokens

__all__ = ["Drawing", "Drawn", "SavedHeads", "compare_tables", "draw_chart", "draw_table"]

S = TypeVar("S")


def draw_chart(chart: Chart[S], scene: Scene[S]) -> Drawing:
    """A chart of the present subject and, if one is pinned, what its kind has for two."""
    if not chart.compares:
        scene = Scene(scene.now, scene.focus)
    if scene.pinned is not None and chart.needs_tokens and not scene.same_tokens:
        alone = Scene(scene.now, scene.focus)
        return Drawing(_draw_kind(chart, alone).now, note=note_other_tokens(chart.needs_tokens))
    return _draw_kind(chart, scene)


def _draw_kind(chart: Chart[S], scene: Scene[S]) -> Drawing:
    return next(draw(chart, scene) for kind, draw in _DRAW.items() if isinstance(chart, kind))


_DRAW: dict[type, Callable[[Any, Any], Drawing]] = {
    Heatmap: draw_heatmap,
    Curves: draw_curves,
    Bars: draw_bars,
    Vectors: draw_vectors,
    Picture: draw_picture,
    HeadGrid: draw_head_grid,
    HeadLines: draw_head_lines,
    LabelledBars: draw_labelled_bars,
}
