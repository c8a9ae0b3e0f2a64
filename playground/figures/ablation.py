"""The runs of an ablation beside each other: one line each, on axes that are as long as a whole run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette, training
from playground.figures.theme import style
from playground.training.regularisers.ablation import Arm, ArmResult
from playground.training.regularisers.catalogue import REGULARISERS

Measured = Literal["accuracy", "loss"]
Set = Literal["train", "validation"]

_DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Line:
    """How a run is drawn, on every chart and in every session: its colour, and one of Plotly's dashes."""

    colour: str
    dash: str


def line_of(arm: Arm) -> Line:
    """A run's line: a colour for each of the ten, dashes for those that share it; the baseline is grey."""
    regulariser = arm.regulariser
    if regulariser is None:
        return Line(palette.ALL_REGULARISERS if arm.has_all else palette.NO_REGULARISER, "solid")
    colour = palette.REGULARISERS[regulariser.number]
    alike = [other for other in REGULARISERS.values() if palette.REGULARISERS[other.number] == colour]
    return Line(colour, _DASHES[alike.index(regulariser)])


def curves(
    results: Sequence[ArmResult], of: Set, measured: Measured, *, steps: int, top: float, level: tuple[float, str]
) -> go.Figure:
    """Accuracy or loss on one set, at every evaluation of every run so far.

    Args:
        results: of the runs that have begun.
        of: the set.
        measured: what is drawn.
        steps: of a whole run.
        top: where the axis ends: the same for charts that are to be compared.
        level: what can be had without learning, and how.
    """
    figure = go.Figure()
    training.level(figure, steps, *level, colour=palette.NO_REGULARISER, width=1, dash="dot")
    number = "%{y:.1%}" if measured == "accuracy" else "%{y:.3f} nats"
    for result in results:
        line, looks = line_of(result.arm), result.history.evaluations
        values = [getattr(getattr(look, of), measured) for look in looks]
        figure.add_scatter(
            x=np.array([look.step for look in looks], np.int32),
            y=np.array(values, np.float32),
            name=result.arm.title,
            mode="lines",
            line={"color": line.colour, "dash": line.dash, "width": 3 if result.arm.regulariser is None else 2},
            hovertemplate=f"after step %{{x}}: {number}<extra>{result.arm.title}</extra>",
        )
    figure.layout.template.data = {}  # of no use to lines that say how they look, and sent anew at every look
    names = {"accuracy": "right answers", "loss": "loss, nats"}
    figure.update_xaxes(title="step", range=[-0.01 * steps, 1.01 * steps], zeroline=False)
    figure.update_yaxes(title=names[measured], range=[0, top], tickformat=".0%" if measured == "accuracy" else None)
    return style(figure, height=300)


def top_of(results: Sequence[ArmResult], measured: Measured, n_classes: int) -> float:
    """Where the axes of both sets' charts end: above all that is drawn; a growing loss moves it in steps, so rarely.

    Args:
        results: of the runs that have begun.
        measured: what is drawn.
        n_classes: what is chosen from: guessing costs ln(n_classes).
    """
    if measured == "accuracy":
        return 1.04
    looks = [look for result in results for look in result.history.evaluations]
    losses = [loss for look in looks for loss in (look.train.loss, look.validation.loss) if math.isfinite(loss)]
    guess = math.log(n_classes)
    return guess * max(1.5, math.ceil(2.1 * max([*losses, guess]) / guess) / 2)
