"""Which function draws which kind of chart."""

from typing import TypeVar

from playground.charts.chart import Bars, Chart, Curves, HeadGrid, HeadLines, Heatmap, LabelledBars, Picture, Vectors
from playground.charts.draw.bars import draw_bars
from playground.charts.draw.curves import draw_curves
from playground.charts.draw.drawn import Drawing
from playground.charts.draw.heatmap import draw_heatmap
from playground.charts.draw.others import draw_head_grid, draw_head_lines, draw_labelled_bars, draw_picture
from playground.charts.draw.vectors import draw_vectors
from playground.charts.scene import Scene, note_other_tokens

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
    match chart:
        case Heatmap():
            return draw_heatmap(chart, scene)
        case Curves():
            return Drawing(draw_curves(chart, scene))
        case Bars():
            return Drawing(draw_bars(chart, scene))
        case Vectors():
            return Drawing(draw_vectors(chart, scene))
        case Picture():
            return draw_picture(chart, scene)
        case HeadGrid():
            return Drawing(draw_head_grid(chart, scene.now))
        case HeadLines():
            return draw_head_lines(chart, scene)
        case LabelledBars():
            return Drawing(draw_labelled_bars(chart, scene.now))
    raise TypeError(f"{type(chart).__name__} is no kind of chart")
