"""Curves over the steps of trainings: one run's, and those of several variants side by side."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.figure import Array, Figure
from playground.training.network import History, Measured
from playground.training.tasks import Data
from playground.training.variants import VariantResult, VariantsState, seeds_of

Looks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Colour, width and dash, by the name of a variant."""

SETS = {"train": "training set", "validation": "validation set"}

SHARES: Mapping[str, Any] = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}

MOST_POINTS = 100
"""Of a curve over all steps, which is sent again at every update."""

LOGARITHMIC_FROM = 4
"""Ratio of the largest loss to guessing's from which on the axis is logarithmic."""

_HOVERS: Mapping[Measured, str] = {"accuracy": "%{y:.1%}", "loss": "%{y:.4f} nats"}


def draw_losses(history: History, steps: int, n_classes: int) -> Figure:
    """Draw the loss so far, in nats, of batches and of both sets, over an axis of all `steps`."""
    losses, guess = finite(history.loss), math.log(n_classes)
    lines = [
        _line(*thinned(losses), "batches", palette.BATCHES),
        *_both_sets(history, "loss"),
        figures.level_line(steps, guess, f"guessing: ln {n_classes} = {guess:.2f}"),
    ]
    drawn = [guess, *losses.tolist(), *history.series("loss")[2]]
    top = max(loss for loss in drawn if math.isfinite(loss))
    y_axis: dict[str, Any] = {"title": "loss, nats", "range": [0, 1.08 * top]}
    if top > LOGARITHMIC_FROM * guess:
        y_axis = {"title": "loss, nats (log scale)", "type": "log", "exponentformat": "power"}
    return figures.draw_over_steps(lines, steps, y_axis, height=290, legend=True)


def draw_accuracies(history: History, steps: int, baseline: float) -> Figure:
    """Draw the accuracy on both sets so far, beside the simple rule's."""
    level = figures.level_line(steps, baseline, f"simple rule: {baseline:.0%}")
    return figures.draw_over_steps([*_both_sets(history, "accuracy"), level], steps, SHARES, height=250, legend=True)


def draw_rates(rates: Sequence[float], steps: int) -> Figure:
    """Draw the learning rate so far, with its peak."""
    curve = _line(*peaks(finite(rates), MOST_POINTS // 2), "learning rate", palette.RESIDUAL)
    y_axis = {"title": "learning rate", "rangemode": "tozero", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps([curve], steps, y_axis, height=190)


def draw_gradients(norms: Sequence[float], steps: int, clip: float) -> Figure:
    """Draw the gradient's norm so far, of a long run the largest of every few steps, and `clip`, unless it is 0."""
    lines = [_line(*peaks(finite(norms)), "gradient norm", palette.RESIDUAL)]
    if clip:
        lines.append(figures.level_line(steps, clip, f"clipped to {clip:g}"))
    y_axis = {"title": "gradient norm (log scale)", "type": "log", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps(lines, steps, y_axis, height=190)


def finite(values: Sequence[float]) -> Array:
    """Return the values up to the first that is no finite number."""
    array = np.array(values, np.float64)
    return array[np.logical_and.accumulate(np.isfinite(array))].astype(np.float32)


def thinned(values: Array) -> tuple[Array, Array]:
    """Return steps and values as means over equal windows."""
    frame = pd.DataFrame({"step": np.arange(1.0, len(values) + 1), "value": values.astype(float)})
    means = frame.groupby(frame.index // _window(len(values), MOST_POINTS)).mean()
    return means["step"].to_numpy(np.float32), means["value"].to_numpy(np.float32)


def peaks(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Return step and value of the largest of each of at most `most` equal windows, and of both ends."""
    size = _window(len(values), most)
    largest = {i + int(values[i : i + size].argmax()) for i in range(0, len(values), size)}
    chosen = np.array(sorted(largest | {0, len(values) - 1}) if largest else [], np.int64)
    return (chosen + 1).astype(np.float32), values[chosen]


def _window(n: int, most: int) -> int:
    return max(1, -(-n // most))


def _line(steps: NDArray[Any], values: Array, name: str, colour: str) -> dict[str, Any]:
    return figures.step_line(steps, values, name, {"color": colour, "width": 2}, "step %{x:.0f}: %{y:.4g}")


def _both_sets(history: History, measured: Measured) -> Iterator[dict[str, Any]]:
    steps, *values = history.series(measured)
    looks = ((palette.TRAINING, "circle"), (palette.VALIDATION, "diamond"))
    for numbers, name, (colour, symbol) in zip(values, SETS.values(), looks, strict=True):
        yield _evaluated(steps, numbers, name, {"color": colour, "width": 2}, measured) | {
            "mode": "lines+markers",
            "marker": {"size": 6, "symbol": symbol},
        }


def _evaluated(
    steps: Sequence[int], values: Sequence[float], name: str, look: Mapping[str, Any], measured: Measured
) -> dict[str, Any]:
    hover = f"after step %{{x}}: {_HOVERS[measured]}"
    return figures.step_line(np.array(steps, np.int32), np.array(values, np.float32), name, look, hover)


# --- variants


@dataclass(frozen=True)
class WatchedVariants:
    """Runs that are planned, go on or have ended."""

    state: VariantsState
    data: Data
    """Of the first seed."""
    grows: bool = False

    @property
    def n_seeds(self) -> int:
        """Seeds of each variant."""
        return len(seeds_of(self.state.runs))


def name_run(watched: WatchedVariants, result: VariantResult) -> str:
    """Return what a run is called, with its seed if there are several."""
    seed = f", seed {result.run.recipe.seed}" if watched.n_seeds > 1 else ""
    return f"{result.run.title}{seed}"


def list_series(result: VariantResult, measured: Measured) -> dict[str, pd.Series]:
    """Return what was measured on each of `SETS`, by step."""
    steps, *sets = result.history.series(measured)
    return {name: pd.Series(values, steps, dtype=float) for name, values in zip(SETS, sets, strict=True)}


def tabulate_runs(watched: WatchedVariants, measured: Measured) -> pd.DataFrame:
    """Return a row an evaluation, a column a run and set."""
    columns = {
        f"{name_run(watched, result)}, {SETS[name]}": series
        for result in watched.state.results
        for name, series in list_series(result, measured).items()
    }
    return pd.DataFrame(columns).rename_axis("after step")


def run_lines(watched: WatchedVariants, name: str, measured: Measured, looks: Looks) -> Iterator[dict[str, Any]]:
    """Yield a line a run on one of `SETS`, and a cross where it diverged."""
    for result in watched.state.results:
        look, title = dict(looks[result.run.name]), name_run(watched, result)
        if watched.n_seeds > 1:
            look["width"] = 1
        series = list_series(result, measured)[name]
        line = _evaluated(list(series.index), list(series), title, look, measured)
        yield line
        if result.outcome == "diverged":
            step, values = len(result.history.loss), line["y"]
            yield line | {
                "mode": "markers",
                "x": np.array([step], np.int32),
                "y": values[np.isfinite(values)][-1:],
                "marker": {"symbol": "x", "size": 10, "color": look["color"]},
                "line": {"color": look["color"], "width": 0},
                "hovertemplate": f"diverged at step {step}<extra>{title}</extra>",
            }
