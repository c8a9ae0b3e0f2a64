"""The curves of one training run over its steps."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.figure import Array, Figure
from playground.training.network import History

MOST_POINTS = 100
"""Of a curve over all steps: more would not be seen, and are sent again at every update."""

LOGARITHMIC_FROM = 4
"""If the largest loss is this many times that of guessing, the axis is logarithmic."""


def draw_losses(history: History, steps: int, n_classes: int) -> Figure:
    """The loss of batches, their running mean, and the loss of both sets at every evaluation so far, in nats.

    The axis is as long as all `steps` of the run; guessing among `n_classes` costs ln(n_classes).
    """
    losses = finite(history.loss)
    together, span = window(len(losses)), max(2, steps // 25)
    name = "batches" if together == 1 else f"batches, mean of each {together}"
    guess = math.log(n_classes)
    evaluated = history.series("loss")
    lines = [
        _line(*thinned(losses), name, figures.faint(palette.BATCHES, figures.PALE), width=1),
        _line(*running_mean(losses, span), f"mean of {span} batches", palette.BATCHES),
        *_both_sets(*evaluated, "%{y:.4f} nats"),
        figures.level_line(steps, guess, f"guessing: ln {n_classes} = {guess:.2f}"),
    ]
    drawn = [guess, *losses.tolist(), *evaluated[2]]
    top = max((loss for loss in drawn if math.isfinite(loss)), default=guess)
    y_axis: dict[str, Any] = {"title": "loss, nats", "range": [0, 1.08 * top]}
    if top > LOGARITHMIC_FROM * guess:
        y_axis = {"title": "loss, nats (log scale)", "type": "log", "exponentformat": "power"}
    return figures.draw_over_steps(lines, steps, y_axis, height=290, legend=True)


def draw_accuracies(history: History, steps: int, baseline: float) -> Figure:
    """The share of right answers in both sets so far, beside the simple rule's share on the validation set."""
    lines = [
        *_both_sets(*history.series("accuracy"), "%{y:.2%}"),
        figures.level_line(steps, baseline, f"simple rule: {baseline:.0%}"),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return figures.draw_over_steps(lines, steps, y_axis, height=250, legend=True)


def draw_rates(rates: Sequence[float], steps: int) -> Figure:
    """The learning rate so far, with its peak; of a long run not every step."""
    curve = _line(*peaks(finite(rates), MOST_POINTS // 2), "learning rate", palette.RESIDUAL)
    y_axis = {"title": "learning rate", "rangemode": "tozero", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps([curve], steps, y_axis, height=190)


def draw_gradients(norms: Sequence[float], steps: int, clip: float) -> Figure:
    """The gradient's norm so far, of a long run the largest of every few steps, before it is shortened to `clip`.

    With `clip` 0, no gradient is shortened.
    """
    values = finite(norms)
    together = window(len(values))
    name = "gradient norm" if together == 1 else f"gradient norm, largest of each {together} steps"
    lines = [_line(*peaks(values), name, palette.RESIDUAL)]
    if clip:
        lines.append(figures.level_line(steps, clip, f"clipped to {clip:g}"))
    y_axis = {"title": "gradient norm (log scale)", "type": "log", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps(lines, steps, y_axis, height=190)


def finite(values: Sequence[float]) -> Array:
    """The values up to the first that is no finite number."""
    array = np.asarray(values, np.float64)
    return array[np.logical_and.accumulate(np.isfinite(array))].astype(np.float32)


def window(n: int, most: int = MOST_POINTS) -> int:
    """Return how many of n values have to share a point, if there are at most `most` points."""
    return max(1, -(-n // most))


def thinned(values: Array) -> tuple[Array, Array]:
    """Return values of steps 1, 2, … as means over equal windows, with the step in the middle of each."""
    frame = _by_step(values)
    return _columns(frame.groupby(frame.index // window(len(values))).mean())


def running_mean(values: Array, span: int) -> tuple[Array, Array]:
    """Return the mean of each value and those before it, `span` in all, in the middle of their steps; of many, some."""
    return _columns(_by_step(values).rolling(span, min_periods=1).mean().iloc[:: -window(len(values))][::-1])


def _by_step(values: Array) -> pd.DataFrame:
    return pd.DataFrame({"step": np.arange(1.0, len(values) + 1), "value": values.astype(float)})


def _columns(frame: pd.DataFrame) -> tuple[Array, Array]:
    return frame["step"].to_numpy(np.float32), frame["value"].to_numpy(np.float32)


def peaks(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Return the largest of each of at most `most` equal windows of steps 1, 2, …, with its step, and both ends."""
    size = window(len(values), most)
    largest = {i + int(values[i : i + size].argmax()) for i in range(0, len(values), size)}
    chosen = np.array(sorted(largest | {0, len(values) - 1}) if largest else [], np.int64)
    return (chosen + 1).astype(np.float32), values[chosen]


def _line(steps: NDArray[Any], values: Array, name: str, colour: str, *, width: float = 2) -> dict[str, Any]:
    look = {"color": colour, "width": width}
    return figures.step_line(steps, values, name, look, "step %{x:.0f}: %{y:.4g}")


def _both_sets(
    steps: Sequence[int], train: Sequence[float], validation: Sequence[float], number: str
) -> Iterator[dict[str, Any]]:
    for values, name, colour, symbol in (
        (train, "training set", palette.TRAINING, "circle"),
        (validation, "validation set", palette.VALIDATION, "diamond"),
    ):
        look, hover = {"color": colour, "width": 2}, f"after step %{{x}}: {number}"
        line = figures.step_line(np.array(steps, np.int32), np.array(values, np.float32), name, look, hover)
        yield line | {"mode": "lines+markers", "marker": {"size": 6, "symbol": symbol}}
