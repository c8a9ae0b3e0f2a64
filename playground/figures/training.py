"""Training runs as curves: what is drawn grows to the right, on axes that are as long as a whole run."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.theme import Array, draw_figure, label, line, ranked_bars

MOST_POINTS = 100
"""Of a curve over all steps: more would not be seen, and are sent anew at every update."""

LAST_LABEL = 22
"""Pixels beside a chart for half of the last step's number: Plotly leaves out a label that would be cut."""

LOGARITHMIC_FROM = 4
"""Where the largest loss is this many times that of guessing, the axis is logarithmic."""


@dataclass(frozen=True)
class Evaluations:
    """Loss in nats, or the share of right answers, of both sets after so many optimisation steps."""

    steps: Sequence[int]
    train: Sequence[float]
    validation: Sequence[float]


def loss_curves(batches: Sequence[float], evaluations: Evaluations, steps: int, n_classes: int) -> go.Figure:
    """The loss of batches, their running mean, and the loss of both sets at every evaluation so far, in nats.

    The axis is as long as all `steps` of the run; guessing among `n_classes` costs ln(n_classes).
    """
    losses = finite(batches)
    together, span = window(len(losses)), max(2, steps // 25)
    name = "batches" if together == 1 else f"batches, mean of each {together}"
    guess = math.log(n_classes)
    lines = [
        _line(*thinned(losses), name, palette.MUTED, width=1),
        _line(*sampled(running_mean(losses, span)), f"mean of {span} batches", palette.RESIDUAL),
        *_both_sets(evaluations, "%{y:.4f} nats"),
        level_line(steps, guess, f"guessing: ln {n_classes} = {guess:.2f}"),
    ]
    drawn = [guess, *losses, *evaluations.validation]
    top = max((loss for loss in drawn if math.isfinite(loss)), default=guess)
    y_axis: dict[str, Any] = {"title": "loss, nats", "range": [0, 1.08 * top]}
    if top > LOGARITHMIC_FROM * guess:
        y_axis = {"title": "loss, nats (log scale)", "type": "log", "exponentformat": "power"}
    return draw_over_steps(lines, steps, y_axis, height=290, legend=True)


def accuracy_curves(evaluations: Evaluations, steps: int, baseline: float) -> go.Figure:
    """The share of right answers in both sets so far, beside the simple rule's share on the validation set."""
    lines = [*_both_sets(evaluations, "%{y:.2%}"), level_line(steps, baseline, f"simple rule: {baseline:.0%}")]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return draw_over_steps(lines, steps, y_axis, height=250, legend=True)


def rate_curve(rates: Sequence[float], steps: int) -> go.Figure:
    """The learning rate so far, with its peak; of a long run not every step."""
    curve = _line(*peaks(finite(rates), MOST_POINTS // 2), "learning rate", palette.RESIDUAL)
    y_axis = {"title": "learning rate", "rangemode": "tozero", "exponentformat": "power", "nticks": 5}
    return draw_over_steps([curve], steps, y_axis, height=190)


def gradient_curve(norms: Sequence[float], steps: int, clip: float) -> go.Figure:
    """The gradient's norm so far, of a long run the largest of every few steps, before it is shortened to `clip`.

    With `clip` 0, no gradient is shortened.
    """
    values = finite(norms)
    together = window(len(values))
    name = "gradient norm" if together == 1 else f"gradient norm, largest of each {together} steps"
    lines = [_line(*peaks(values), name, palette.RESIDUAL)]
    if clip:
        lines.append(level_line(steps, clip, f"clipped to {clip:g}"))
    drawn = [number for number in (*values, *([clip] if clip else [])) if number > 0]
    decades = math.log10(max(drawn) / min(drawn)) if drawn else 0.0
    # 1, 2 and 5 times each power of ten, where these labels have room below one another; else few powers.
    dtick = "D2" if decades < 2 else math.ceil(decades / 5)
    y_axis = {"title": "gradient norm (log scale)", "type": "log", "exponentformat": "power", "dtick": dtick}
    return draw_over_steps(lines, steps, y_axis, height=190)


def next_tokens(labels: Sequence[str], probabilities: Array) -> go.Figure:
    """What may come next, the likeliest first."""
    x_axis = {"title": "probability of being drawn next", "range": [0, 1], "tickformat": ".0%"}
    names = [label(name) for name in labels]
    return ranked_bars(names, probabilities, palette.EMBEDDINGS, ".2%", x_axis=x_axis, y_title="character")


def finite(values: Sequence[float]) -> Array:
    """The values up to the first that is no finite number."""
    array = np.asarray(values, np.float64)
    broken = np.flatnonzero(~np.isfinite(array))
    return array[: broken[0] if len(broken) else None].astype(np.float32)


def running_mean(values: Array, span: int) -> Array:
    """The mean of each value and those before it, `span` in all, or as many as there are."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - span, 0)
    means: Array = ((sums[ends] - sums[starts]) / (ends - starts)).astype(np.float32)
    return means


def window(n: int, most: int = MOST_POINTS) -> int:
    """How many of n values have to share a point, where there are at most `most` points."""
    return max(1, -(-n // most))


def thinned(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Values of steps 1, 2, … as at most `most` means over equal windows, with the step in the middle of each."""
    size = window(len(values), most)
    steps = np.arange(1, len(values) + 1, dtype=np.float32)
    parts = [(steps[i : i + size].mean(), values[i : i + size].mean()) for i in range(0, len(values), size)]
    at, means = np.array(parts, np.float32).reshape(-1, 2).T
    return at, means


def sampled(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Values of steps 1, 2, …, the last of each of at most `most` equal windows, with their steps."""
    size = window(len(values), most)
    return _picked(values, [min(i + size, len(values)) - 1 for i in range(0, len(values), size)])


def peaks(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Values of steps 1, 2, …, the largest of each of at most `most` equal windows, with their steps, and both ends."""
    size = window(len(values), most)
    largest = [i + int(values[i : i + size].argmax()) for i in range(0, len(values), size)]
    return _picked(values, sorted({*largest, 0, len(values) - 1}) if largest else [])


def _picked(values: Array, indices: list[int]) -> tuple[Array, Array]:
    chosen = np.array(indices, np.int64)
    return (chosen + 1).astype(np.float32), values[chosen]


def draw_over_steps(
    lines: Sequence[go.Scatter], steps: int, y_axis: dict[str, Any], *, height: int, legend: bool = False
) -> go.Figure:
    """Curves that grow, over an axis as long as the whole run."""
    x_axis = {"title": "step", "range": [-0.01 * steps, 1.01 * steps], "zeroline": False}
    margin = {"r": LAST_LABEL}
    return draw_figure(lines, height=height, x_axis=x_axis, y_axis=y_axis, legend=legend, margin=margin)


def level_line(steps: int, value: float, text: str, *, width: float = 1.5, dash: str = "dash") -> go.Scatter:
    """A line across all steps, with what it stands for at its right end."""
    ends, values = np.array([0, steps], np.int32), np.array([value, value], np.float32)
    words: dict[str, Any] = {"mode": "lines+text", "text": ["", text], "textposition": "top left"}
    words |= {"hoverinfo": "skip", "showlegend": False}
    return line(ends, values, palette.RESIDUAL, None, width=width, dash=dash, **words)


def _line(steps: Array, values: Array, name: str, colour: str, *, width: float = 2) -> go.Scatter:
    return line(steps, values, colour, f"step %{{x:.0f}}: %{{y:.4g}}<extra>{name}</extra>", name=name, width=width)


def _both_sets(evaluations: Evaluations, number: str) -> Iterator[go.Scatter]:
    for values, name, colour, symbol in (
        (evaluations.train, "training set", palette.TRAINING, "circle"),
        (evaluations.validation, "validation set", palette.VALIDATION, "diamond"),
    ):
        steps, measured = np.array(evaluations.steps, np.int32), np.array(values, np.float32)
        hover = f"after step %{{x}}: {number}<extra>{name}</extra>"
        yield line(steps, measured, colour, hover, name=name, marker=6, symbol=symbol)
