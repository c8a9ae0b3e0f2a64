"""Six encoders' gradients as lines: the colour says where the norms stand, a dashed line has no residual connections.

A logarithmic axis has no place for 0, infinity or what is not a number: these are crosses beyond its ends, with a name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette, theme
from playground.figures.theme import Array

COLOURS = {"post": palette.POST_NORM, "pre": palette.PRE_NORM, "none": palette.NO_NORM}
SYMBOLS = {"post": "circle", "pre": "square", "none": "diamond"}

LAYER = "layer (0 = first)"
DEPTH = "blocks passed (0 = embeddings)"
"""What a number counts along the lower axis."""

DASHED = "no residual"
"""The legend's last entry, which stands for three encoders."""

_ROW = 0.07
"""Height of one encoder's row of crosses, as a share of the axis's decades."""


@dataclass(frozen=True)
class Line:
    """One encoder's numbers, one for each point of the lower axis, and what decides how its line looks."""

    name: str
    norm: str
    """Where its norms stand: a key of `COLOURS` and `SYMBOLS`."""
    residual: bool
    values: Array


def by_layer(lines: Sequence[Line], y_title: str, x_title: str) -> go.Figure:
    """One number a layer, or a depth, of each encoder, on a logarithmic axis; all lines are equally long."""
    n = max((len(line.values) for line in lines), default=1)
    x_axis = {"title": x_title, "tickvals": np.arange(0, n, max(1, n // 12))}
    return _draw(lines, np.arange(n), y_title, x_axis, f"{x_title.split(' (')[0]} %{{x}}", (-0.5, n - 0.5))


def by_depth(lines: Sequence[Line], depths: list[int], y_title: str) -> go.Figure:
    """One number for each number of layers, both axes logarithmic."""
    low, high = np.log10([depths[0] / 1.2, depths[-1] * 1.2])
    x_axis = {"title": "layers of the encoder (log scale)", "type": "log", "tickvals": depths}
    return _draw(lines, np.array(depths), y_title, x_axis, "%{x} layers", (low, high))


def _draw(
    lines: Sequence[Line],
    x: NDArray[np.int_],
    y_title: str,
    x_axis: dict[str, Any],
    x_hover: str,
    ends: Sequence[float],
) -> go.Figure:
    """The lines and crosses; the lower axis has two `ends`, and room behind them for the crosses' names."""
    low, high = _decades(lines)
    span = high - low
    high, low = high + 0.04 * span, low - 0.04 * span
    traces = []
    for line in lines:
        y, symbol = line.values, SYMBOLS[line.norm] + ("" if line.residual else "-open")
        look: dict[str, Any] = {"dash": "solid" if line.residual else "dash", "marker": 6, "symbol": symbol}
        look |= {"legendgroup": line.norm, "showlegend": line.residual}  # two lines an entry: the legend fits a line
        traces.append(theme.line(x, _drawable(y), COLOURS[line.norm], "%{y:.4g}", name=line.name, **look))
        for beyond, side in ((np.isnan(y) | np.isinf(y), 1), (y == 0, -1)):
            if beyond.any():
                edge = high if side == 1 else low
                traces.append(_crosses(line, x[beyond], y[beyond], 10 ** (edge + side * _ROW * span / 2)))
                high, low = (high + _ROW * span, low) if side == 1 else (high, low - _ROW * span)
    room = 0.1 * (ends[1] - ends[0]) if len(traces) > len(lines) else 0
    traces.append(
        theme.line(x[:1], np.array([np.nan]), palette.RESIDUAL, None, dash="dash", name=DASHED, hoverinfo="skip")
    )
    y_axis = {"type": "log", "exponentformat": "power", "dtick": np.ceil(span / 7), "range": [low, high]}
    return theme.draw_figure(
        traces,
        height=380,
        legend=True,
        x_axis={**x_axis, "unifiedhovertitle": {"text": x_hover}, "range": [ends[0], ends[1] + room]},
        y_axis={"title": f"{y_title} (log scale)", **y_axis},
        hovermode="x unified",
    )


def _crosses(line: Line, x: NDArray[np.int_], y: Array, height: float) -> go.Scatter:
    """What a logarithmic axis cannot show, in a row beyond its end; the last cross carries the name."""
    names = np.array(["NaN" if np.isnan(number) else "∞" if number else "0" for number in y])
    label = ", ".join(dict.fromkeys(names))
    return go.Scatter(
        x=x,
        y=np.full(len(x), height),
        name=line.name,
        legendgroup=line.norm,
        showlegend=False,
        mode="markers+text",
        text=[*[""] * (len(x) - 1), label],
        textposition="middle right",
        customdata=names,
        marker={
            "symbol": "x" if line.residual else "x-thin",
            "size": 8,
            "color": COLOURS[line.norm],
            "line": {"width": 0 if line.residual else 1.5, "color": COLOURS[line.norm]},
        },
        hovertemplate="%{customdata}",
        cliponaxis=False,
    )


def _drawable(values: Array) -> Array:
    """The values, NaN where a logarithmic axis has no place for them."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _decades(lines: Sequence[Line]) -> tuple[float, float]:
    """The powers of ten between which all positive numbers lie, at least two apart."""
    positive = [values[~np.isnan(values)] for values in (_drawable(line.values) for line in lines)]
    powers = np.log10(np.concatenate(positive or [np.zeros(0)]))
    if powers.size == 0:
        return -1.0, 1.0
    low, high = float(powers.min()), float(powers.max())
    short = max(0.0, 2 - (high - low)) / 2
    return low - short, high + short
