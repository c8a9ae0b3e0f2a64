"""The scale of a heatmap's colours, beside it."""

import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from playground.export.pictures.axis_scales import SMALL, tick_text
from playground.export.pictures.drawing import Cells
from playground.export.pictures.glyphs import Glyphs
from playground.export.pictures.paper import FAINT_TEXT, TEXT
from playground.export.pictures.plain_text import plain_label

BAR_THICK, BAR_APART = 9.0, 10.0
"""Pixels: how wide the scale is, and how far from the heatmap."""


def draw_colour_bar(paper: Figure, trace: go.Heatmap, cells: Cells, glyphs: Glyphs) -> Axes:
    """A narrow scale of a heatmap's colours, with what they stand for above it."""
    axes = paper.add_axes((0.95, 0.1, 0.02, 0.8))
    low, high = cells.ends
    if high <= low:
        high = low + 1
    axes.imshow(cells.ramp[:, None], extent=(0, 1, low, high), origin="lower", aspect="auto", interpolation="none")
    axes.set(xticks=[], ylim=(low, high))
    axes.yaxis.tick_right()
    look = trace.colorbar
    if look.tickvals is not None:
        axes.set_yticks(list(look.tickvals), [glyphs.fit(plain_label(str(text))) for text in look.ticktext])
    else:
        step = look.dtick if isinstance(look.dtick, int | float) else None
        fits = step is not None and (high - low) / step >= 1
        axes.yaxis.set_major_locator(MultipleLocator(step) if fits and step else MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value, look)))
    axes.tick_params(length=0, labelsize=SMALL, labelcolor=FAINT_TEXT, pad=3)
    axes.spines[:].set_visible(False)
    axes.set_title(glyphs.fit(plain_label(look.title.text)), fontsize=SMALL, color=TEXT, pad=5, loc="left")
    return axes
