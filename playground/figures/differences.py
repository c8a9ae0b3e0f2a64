"""How far two settings lie apart, as pictures."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from playground.accounting import LABELS, Count
from playground.accounting.readable import in_millions, signed
from playground.figures import palette
from playground.figures.theme import PALE, Array, draw_figure

SMALLEST_SHARE = 1e-9
"""Where the logarithmic axis of differences begins: it has no 0."""

_ROOM_FOR_NUMBERS = 1.2
"""How long the axis is, in lengths of the longest bar: a number stands behind it."""


def component_pairs(pinned: Count, now: Count, unit: str) -> go.Figure:
    """Two bars a component, the present one and below it, paler, the pinned one, with the change beside them."""
    sums = [count.by(lambda term: str(term.component)) for count in (now, pinned)]
    components = [name for name in palette.COMPONENTS if any(name in by_component for by_component in sums)]
    after, before = ([by_component.get(name, 0) for name in components] for by_component in sums)
    rows = [f"{LABELS[name]}<br>{signed(n - m)}" for name, n, m in zip(components, after, before, strict=True)]
    colours = [palette.COMPONENTS[name] for name in components]
    bars = [
        go.Bar(
            x=np.array(values, np.float64),
            y=rows,
            orientation="h",
            name=side,
            text=[in_millions(n) for n in values],
            textposition="outside",
            cliponaxis=False,
            marker={"color": colours, "opacity": opacity},
            hovertemplate=f"%{{y}}<br>{side}: %{{x:,}} {unit}<extra></extra>",
        )
        for side, values, opacity in (("now", after, 1.0), ("pinned", before, PALE))
    ]
    return draw_figure(
        bars,
        height=90 + 52 * len(rows),
        x_axis={
            "title": unit,
            "exponentformat": "B" if unit == "parameters" else "SI",
            "nticks": 6,
            "range": [0, _ROOM_FOR_NUMBERS * max(*after, *before, 1)],
        },
        y_axis={"autorange": "reversed", "showgrid": False, "type": "category"},
        barmode="group",
        bargap=0.3,
    )


def differences_on_the_way(shares: Array, points: Sequence[str], rounding: float) -> go.Figure:
    """Differences of two runs at each point of the forward pass, as shares of the largest number there: (points,).

    Bars up to `rounding`, a dotted line, are grey: there the two are the same. NaN has no bar.
    """
    bars = go.Bar(
        x=list(points),
        y=np.maximum(shares, np.float32(SMALLEST_SHARE)),
        marker={"color": np.where(shares <= rounding, palette.MUTED, palette.ATTENTION)},
        customdata=shares,
        hovertemplate="%{x}<br>largest difference: %{customdata:.3g} of the largest number<extra></extra>",
    )
    ticks = {"tickvals": list(points), "ticktext": [point.removeprefix("layers.") for point in points]}
    top = math.log10(float(np.max(shares, where=np.isfinite(shares), initial=1)))
    threshold = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": rounding,
        "y1": rounding,
        "line": {"color": palette.RESIDUAL, "width": 1.5, "dash": "dot"},
    }
    return draw_figure(
        bars,
        height=320,
        x_axis={"title": "point of the forward pass", "type": "category", "tickangle": -55, **ticks},
        y_axis={
            "title": "largest difference (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": [math.log10(SMALLEST_SHARE), top + 0.2],
        },
        shapes=[threshold],
    )
