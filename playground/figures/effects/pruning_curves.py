"""What is left without ever more heads, as curves. Legend: P sizes, each a number of heads that are removed."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.theme import Array, draw_figure, line, line_in_band

_FAINT = "rgba(138, 135, 148, 0.25)"


def pruning_curves(
    sizes: Sequence[int], by_effect: Array, at_random: Array, chosen: int, *, title: str, number: str
) -> go.Figure:
    """What is left, (P,), where heads go by their effect, the least first, and in random orders, (orders, P).

    The random orders are a band from the lowest to the highest with their mean. `chosen` heads have a vertical line.

    Args:
        sizes: heads that are removed at each point.
        by_effect: NaN where it is not measured yet.
        at_random: measured by as many orders at every point; NaN where it is not measured yet.
        chosen: a number of heads.
        title: of the vertical axis.
        number: the format of a value where the pointer is.
    """
    x = np.array(sizes)
    known = np.isfinite(at_random).all(axis=0)
    random = at_random[:, known]
    hover = f"random order, mean: %{{y:{number}}} (%{{customdata[0]:{number}}} to %{{customdata[1]:{number}}})"
    band = line_in_band(
        x[known],
        random.mean(axis=0) if random.size else np.zeros(0, np.float32),
        random.min(axis=0, initial=np.inf),
        random.max(axis=0, initial=-np.inf),
        palette.RESIDUAL,
        _FAINT,
        f"{hover}<extra></extra>",
        name="random order",
    )
    ordered = line(
        x,
        by_effect,
        palette.ATTENTION,
        f"least effect first: %{{y:{number}}}<extra></extra>",
        name="least effect first",
        width=2.5,
    )
    marker = {
        "type": "line",
        "yref": "paper",
        "x0": chosen,
        "x1": chosen,
        "y0": 0,
        "y1": 1,
        "line": {"color": palette.FOCUS, "width": 2},
    }
    return draw_figure(
        [*band, ordered],
        height=340,
        legend=True,
        x_axis={"title": "heads taken out", "range": [-0.5, max(sizes) + 0.5]},
        y_axis={"title": title},
        shapes=[marker],
        hovermode="x unified",
    )
