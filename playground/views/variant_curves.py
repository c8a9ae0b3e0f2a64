"""The runs of several variants as curves over their steps, of any page.

A variant's *look* is its colour, width and dash, by Plotly's names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.training.network import Measured
from playground.training.tasks import Data
from playground.training.variants import VariantResult, VariantsState, seeds_of

Looks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By the name of a variant."""

SETS = {"train": "training set", "validation": "validation set"}

_HOVERS: Mapping[Measured, str] = {"accuracy": "%{y:.1%}", "loss": "%{y:.3f} nats"}


@dataclass(frozen=True)
class WatchedVariants:
    """What a page looks at: runs that are planned, go on or have ended."""

    state: VariantsState
    data: Data
    """Of the first seed."""
    grows: bool = False
    """Whether there will be more to see."""

    @property
    def n_seeds(self) -> int:
        """With how many seeds each variant is trained."""
        return len(seeds_of(self.state.runs))


def name_run(watched: WatchedVariants, result: VariantResult) -> str:
    """Return what a run is called, with its seed if there are several."""
    seed = f", seed {result.run.recipe.seed}" if watched.n_seeds > 1 else ""
    return f"{result.run.title}{seed}"


def list_series(result: VariantResult, measured: Measured) -> dict[str, pd.Series]:
    """Return what was measured of a run on each of `SETS`, by the steps done before."""
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
    """A line a run: its accuracy or loss on one of `SETS`, and a cross where it diverged; thin with several seeds."""
    for result in watched.state.results:
        series, look = list_series(result, measured)[name], dict(looks[result.run.name])
        if watched.n_seeds > 1:
            look["width"] = 1
        title, steps, values = name_run(watched, result), series.index.to_numpy(np.int32), series.to_numpy(np.float32)
        yield figures.step_line(steps, values, title, look, f"after step %{{x}}: {_HOVERS[measured]}")
        if result.outcome == "diverged":
            step = len(result.history.loss)
            yield {
                "type": "scatter",
                "mode": "markers",
                "x": np.array([step], np.int32),
                "y": values[np.isfinite(values)][-1:],
                "name": title,
                "marker": {"symbol": "x", "size": 10, "color": look["color"]},
                "line": {"color": look["color"], "width": 0},
                "hovertemplate": f"diverged at step {step}<extra>{title}</extra>",
            }
