"""The scale of a heatmap's colours, beside it."""

import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from matplotlib.transforms import ScaledTranslation

from playground.export.pictures.axis_scales import SMALL, even_ticks, tick_text
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
    axes.set(ylim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(NullLocator())
    look = trace.colorbar
    if look.tickvals is not None:
        ticks = [
            (float(place), plain_label(str(text))) for place, text in zip(look.tickvals, look.ticktext, strict=True)
        ]
    else:
        ticks = [(place, tick_text(place, look)) for place in even_ticks((low, high), look.dtick, 12, 5)]
    beside = axes.get_yaxis_transform() + ScaledTranslation(3 / 72, 0, paper.dpi_scale_trans)
    for place, text in ticks:
        axes.text(1, place, glyphs.fit(text), fontsize=SMALL, color=FAINT_TEXT, va="center", transform=beside)
    axes.spines[:].set_visible(False)
    axes.set_title(glyphs.fit(plain_label(look.title.text)), fontsize=SMALL, color=TEXT, pad=5, loc="left")
    return axes
