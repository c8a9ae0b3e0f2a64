"""The runs of an ablation as curves over their steps, of any page.

A run's *look* is its colour, width and dash, by Plotly's names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from playground.charts import over_steps
from playground.training.ablation import AblationResult, AblationState, seeds_of
from playground.training.network import Measured
from playground.training.tasks import Data

Looks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By the name of a training."""

SETS = {"train": "training set", "validation": "validation set"}

_HOVERS: Mapping[Measured, str] = {"accuracy": "%{y:.1%}", "loss": "%{y:.3f} nats"}


@dataclass(frozen=True)
class WatchedAblation:
    """What a page looks at: an ablation that is planned, goes on or has ended."""

    state: AblationState
    data: Data
    """Of the first seed."""
    grows: bool = False
    """Whether there will be more to see."""

    @property
    def n_seeds(self) -> int:
        """With how many seeds each kind of training is done."""
        return len(seeds_of(self.state.trainings))


def name_run(ablation: WatchedAblation, result: AblationResult) -> str:
    """What a training is called, with its seed where there are several."""
    seed = f", seed {result.training.recipe.seed}" if ablation.n_seeds > 1 else ""
    return f"{result.training.title}{seed}"


def list_series(result: AblationResult, measured: Measured) -> dict[str, pd.Series]:
    """What was measured of a training on each of `SETS`, by the steps done before."""
    steps, *sets = result.history.series(measured)
    return {name: pd.Series(values, steps, dtype=float) for name, values in zip(SETS, sets, strict=True)}


def tabulate_runs(ablation: WatchedAblation, measured: Measured) -> pd.DataFrame:
    """A row an evaluation, a column a training and set."""
    columns = {
        f"{name_run(ablation, result)}, {SETS[name]}": series
        for result in ablation.state.results
        for name, series in list_series(result, measured).items()
    }
    return pd.DataFrame(columns).rename_axis("after step")


def run_lines(ablation: WatchedAblation, name: str, measured: Measured, looks: Looks) -> Iterator[dict[str, Any]]:
    """A line a run: its accuracy or loss on one of `SETS`; with several seeds, lines are thin."""
    for result in ablation.state.results:
        series, look = list_series(result, measured)[name], dict(looks[result.training.name])
        if ablation.n_seeds > 1:
            look["width"] = 1
        steps, values = series.index.to_numpy(np.int32), series.to_numpy(np.float32)
        hover = f"after step %{{x}}: {_HOVERS[measured]}"
        yield over_steps.step_line(steps, values, name_run(ablation, result), look, hover)


def mark_divergence(ablation: WatchedAblation, name: str, measured: Measured, looks: Looks) -> Iterator[dict[str, Any]]:
    """A cross where each run diverged: at the step that ended it, as high as what was measured last before.

    One of them, the last to end, has the steps in words: of many, words would lie upon each other.
    """
    diverged = [result for result in ablation.state.results if result.outcome == "diverged"]
    diverged.sort(key=lambda result: len(result.history.loss))
    for result in diverged:
        step, known = len(result.history.loss), list_series(result, measured)[name].to_numpy(np.float32)
        known, colour = known[np.isfinite(known)], looks[result.training.name]["color"]
        title, first = name_run(ablation, result), len(diverged[0].history.loss)
        words = f"diverged at step {step}"
        if len(diverged) > 1:
            words = f"{len(diverged)} runs diverged, {f'at step {step}' if first == step else f'steps {first}–{step}'}"
        yield {
            "type": "scatter",
            "mode": "markers+text",
            "x": np.array([step], np.int32),
            "y": known[-1:],
            "name": title,
            "text": [words if result is diverged[-1] else ""],
            "textposition": "top right" if step < ablation.state.trainings[0].recipe.steps / 2 else "top left",
            "marker": {"symbol": "x", "size": 10, "color": colour},
            "line": {"color": colour, "width": 0},
            "hovertemplate": f"diverged at step {step}<extra>{title}</extra>",
        }
