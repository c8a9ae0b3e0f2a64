"""What dropout does to a token's numbers during training, in one layer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts import colour_scales
from playground.charts import figure as figures
from playground.charts.chart import Item, Options, Picture, Table
from playground.charts.draw.vectors import SHOWN
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.runs.encoder_run import DROPOUT_PLACES, TUTORIAL_DROPOUTS, DroppedRun
from playground.text.wording import write_number
from playground.tutorials.comparison import SHORT_TITLES


@dataclass(frozen=True)
class DroppedWalk:
    """A walk through a layer in eval mode, and the layer's pass in train mode."""

    walk: Walk
    dropped: DroppedRun
    seed: int
    """Of the draw."""

    def drops(self) -> dict[str, tuple[Floats, Floats]]:
        """The query's numbers before and after every dropout on its way."""
        found = {}
        for point, drop in self.dropped.drops.items():
            place = (self.walk.head, self.walk.query) if drop.before.ndim == 3 else self.walk.query
            found[point] = (drop.before[place], drop.after[place])
        return found


def show_dropout(scene: Scene[DroppedWalk], _options: Options) -> Iterator[Item]:
    """What every dropout does to the query's numbers, how far its output moves, and which tutorials drop where."""
    walk = scene.now.walk
    p, output = walk.config.dropout, walk.of_query("out")
    dropped = scene.now.dropped.run.arrays[f"layers.{walk.layer.layer}.out"][walk.query]
    moved = l2(dropped - output) / l2(output)
    yield Picture(
        key="step_drops",
        alt="Heatmap: what each number was multiplied by at every dropout",
        caption=f"During training, *dropout* sets each number to 0 with probability p = {p:g}. It multiplies the "
        f"others by 1 / (1 − p) = {write_number(1 / (1 - p), 4)}. The draw is random; the sidebar's seed "
        f"{scene.now.seed} repeats "
        "it. Cells show the factors; the strongest colour is a factor of 0, and gaps were 0 before. Together with the "
        f"dropout in the layers below, this moves the layer's output for this token by {moved:.0%} of its length. "
        "All stages above are computed without dropout, as after training.",
        figure=lambda subject: draw_drops(subject.drops()),
    )
    yield Table(key="step_drops_where", frame=_list_drops)


def draw_drops(rows: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Vectors (before, after) dropout, the first 2 · SHOWN numbers of each: what they were multiplied by.

    What was dropped stands out; what was 0 before stays empty.
    """
    n = min(2 * SHOWN, max(len(before) for before, _ in rows.values()))
    factors = np.full((len(rows), n), np.nan, dtype=np.float32)
    both = np.full((len(rows), n, 2), np.nan, dtype=np.float32)
    for row, pair, (before, after) in zip(factors, both, rows.values(), strict=True):
        m = min(n, len(before))
        np.divide(after[:m], before[:m], where=before[:m] != 0, out=row[:m])
        pair[:m] = np.stack([before[:m], after[:m]], axis=-1)
    look = {"texttemplate": "%{z:.2f}", "customdata": both, "showscale": False}
    look |= {"zmin": 0, "zmax": max(1.0, colour_scales.largest(factors)), "reversescale": True}
    hover = "%{customdata[0]:.4g} → %{customdata[1]:.4g}"
    return figures.number_cells(factors, list(rows), hover, look, height=100 + 34 * len(rows))


def _list_drops(subject: DroppedWalk) -> pd.DataFrame:
    zeroed = [
        f"{np.sum((after == 0) & (before != 0)):,} of {before.size:,}" for before, after in subject.drops().values()
    ]
    table = {"zeroed here": zeroed} | {
        SHORT_TITLES[letter]: ["✓" if point in points else "–" for point in DROPOUT_PLACES]
        for letter, points in TUTORIAL_DROPOUTS.items()
    }
    return pd.DataFrame(table, list(DROPOUT_PLACES)).rename_axis("dropout")
