"""What dropout does: where each tutorial drops, and one pass of this sentence in train mode."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.streams import l2
from playground.analysis.walkthrough import Walk
from playground.figures import step_by_step as figures
from playground.figures.theme import Array
from playground.runs.dropout_run import DROPOUT_PLACES, TUTORIAL_DROPOUTS, DroppedRun
from playground.web.shared import panels


def show_dropout(walk: Walk, dropped: DroppedRun, seed: int) -> None:
    """The query's numbers before and after every dropout on its way, and how far its output moves."""
    rows = {}
    for point, drop in dropped.drops.items():
        place = (walk.head, walk.query) if drop.before.ndim == 3 else walk.query
        rows[point] = (drop.before[place], drop.after[place])
    p, output = walk.config.dropout, walk.of_query("out")
    moved = l2(dropped.run.arrays[f"layers.{walk.layer.layer}.out"][walk.query] - output) / l2(output)
    panels.chart(
        "step_drops",
        figures.drops(rows),
        caption=f"During training, *dropout* sets each number to 0 with probability p = {p:g}. It multiplies the "
        f"others by 1 / (1 − p) = {1 / (1 - p):.4g}. The draw is random; the sidebar's seed {seed} repeats it. Cells "
        "show the factors; gaps were 0 before. Together with the dropout in the layers below, this moves the layer's "
        f"output for this token by {moved:.0%} of its length. All stages above are computed without dropout, as after "
        "training.",
        alt="Heatmap: what each number was multiplied by at every dropout",
    )
    zeroed = [f"{_count_zeroed(before, after):,} of {before.size:,}" for before, after in rows.values()]
    table = {"zeroed here": zeroed} | {
        f"tutorial {name}": ["✓" if point in points else "–" for point in DROPOUT_PLACES]
        for name, points in TUTORIAL_DROPOUTS.items()
    }
    st.dataframe(
        pd.DataFrame(table, list(DROPOUT_PLACES)).rename_axis("dropout"), key="step_drops_where", height="content"
    )


def _count_zeroed(before: Array, after: Array) -> int:
    return int(np.count_nonzero((after == 0) & (before != 0)))
