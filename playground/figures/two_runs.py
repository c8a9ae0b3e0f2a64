"""Two runs beside each other as pictures."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.theme import Array, draw_figure

SMALLEST_SHARE = 1e-9
"""Where the logarithmic axis of differences begins: it has no 0."""


def differences_on_the_way(shares: Array, points: Sequence[str], rounding: float) -> go.Figure:
    """Differences of two runs at each point of the forward pass, as shares of the largest number there: (points,).

    Bars up to `rounding`, a dotted line, are grey: there the two are the same.
    """
    bars = go.Bar(
        x=list(points),
        y=np.maximum(shares, np.float32(SMALLEST_SHARE)),
        marker={"color": np.where(shares <= rounding, palette.MUTED, palette.ATTENTION)},
        customdata=shares,
        hovertemplate="%{x}<br>largest difference: %{customdata:.3g} of the largest number<extra></extra>",
    )
    ticks = {"tickvals": list(points), "ticktext": [point.removeprefix("layers.") for point in points]}
    top = math.log10(max(1.0, float(np.nanmax(shares, initial=0))))
    figure = draw_figure(
        bars,
        height=320,
        x_axis={"title": "point of the forward pass", "type": "category", "tickangle": -55, **ticks},
        y_axis={
            "title": "largest difference (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": [math.log10(SMALLEST_SHARE), top + 0.2],
        },
    )
    figure.add_hline(rounding, line={"color": palette.RESIDUAL, "width": 1.5, "dash": "dot"})
    return figure
