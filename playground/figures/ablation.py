"""The runs of an ablation beside each other: one line each, on axes that are as long as a whole run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.theme import line
from playground.figures.training import draw_over_steps, level_line

Measured = Literal["accuracy", "loss"]


@dataclass(frozen=True)
class LineStyle:
    """How a run is drawn, on every chart and in every session: its colour, one of Plotly's dashes, pixels of width."""

    colour: str
    dash: str = "solid"
    width: int = 2


LINES: Mapping[str, LineStyle] = {
    "none": LineStyle(palette.NO_REGULARISER, width=3),
    "all": LineStyle(palette.ALL_REGULARISERS, width=3),
    "dropout_attention": LineStyle(palette.REGULARISERS[1]),
    "dropout_feedforward": LineStyle(palette.REGULARISERS[1], "dash"),
    "dropout_positions": LineStyle(palette.REGULARISERS[1], "dot"),
    "mask_padding": LineStyle(palette.REGULARISERS[2]),
    "causal": LineStyle(palette.REGULARISERS[2], "dash"),
    "weight_decay": LineStyle(palette.REGULARISERS[3]),
    "layer_norm": LineStyle(palette.REGULARISERS[4]),
    "label_smoothing": LineStyle(palette.REGULARISERS[5]),
    "patience": LineStyle(palette.REGULARISERS[6]),
    "token_masking": LineStyle(palette.REGULARISERS[7]),
    "token_swapping": LineStyle(palette.REGULARISERS[7], "dash"),
    "span_masking": LineStyle(palette.REGULARISERS[7], "dot"),
    "noise": LineStyle(palette.REGULARISERS[7], "dashdot"),
    "shuffling": LineStyle(palette.REGULARISERS[7], "longdash"),
    "clip": LineStyle(palette.REGULARISERS[8]),
    "distill": LineStyle(palette.REGULARISERS[9]),
    "dropout_residual": LineStyle(palette.REGULARISERS[10], "dashdot"),
}
"""By the regulariser's field, or `none` and `all`: a colour for each of the ten, dashes for those that share it."""


@dataclass(frozen=True)
class Curve:
    """One run on one set: shares of right answers, or nats, after so many optimisation steps."""

    title: str
    line: LineStyle
    steps: Sequence[int]
    values: Sequence[float]


def curves(runs: Iterable[Curve], measured: Measured, *, steps: int, top: float, level: tuple[float, str]) -> go.Figure:
    """Accuracy or loss on one set, at every evaluation of every run so far.

    Args:
        runs: those that have begun.
        measured: what their values are.
        steps: of a whole run.
        top: where the axis ends: the same for charts that are to be compared.
        level: what can be had without learning, and how.
    """
    lines = [level_line(steps, *level, width=1, dash="dot")]
    number = "%{y:.1%}" if measured == "accuracy" else "%{y:.3f} nats"
    for run in runs:
        hover = f"after step %{{x}}: {number}<extra>{run.title}</extra>"
        done, values, look = np.array(run.steps, np.int32), np.array(run.values, np.float32), run.line
        lines.append(line(done, values, look.colour, hover, name=run.title, width=look.width, dash=look.dash))
    names = {"accuracy": "right answers", "loss": "loss, nats"}
    y_axis = {"title": names[measured], "range": [0, top], "tickformat": ".0%" if measured == "accuracy" else None}
    figure = draw_over_steps(lines, steps, y_axis, height=300)
    figure.layout.template.data = {}  # of no use to lines that say how they look, and sent anew at every update
    return figure


def axis_top(runs: Iterable[Curve], measured: Measured, n_classes: int) -> float:
    """Where the axes of both sets' charts end: above all that is drawn; a growing loss moves it in steps, so rarely.

    Guessing among `n_classes` costs ln(n_classes).
    """
    if measured == "accuracy":
        return 1.04
    losses = [loss for run in runs for loss in run.values if math.isfinite(loss)]
    guess = math.log(n_classes)
    return guess * max(1.5, math.ceil(2.1 * max([*losses, guess]) / guess) / 2)
