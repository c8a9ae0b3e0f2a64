"""Where dropout strikes: in the tutorials, and in one pass of this sentence in train mode."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.streams import l2
from playground.analysis.walkthrough import Walk
from playground.figures import step_by_step as figures
from playground.figures.theme import Array
from playground.runs.dropout_run import DROPOUT_PLACES, TUTORIALS, DroppedRun
from playground.web.shared import panels


def show(walk: Walk, dropped: DroppedRun, seed: int) -> None:
    """The chosen token's numbers, before and after every dropout on its way, and what becomes of its output."""
    rows = {}
    for point, drop in dropped.drops.items():
        place = (walk.head, walk.query) if drop.before.ndim == 3 else walk.query
        rows[point] = (drop.before[place], drop.after[place])
    p, usual = walk.config.dropout, walk.of_query("out")
    moved = l2(dropped.run.arrays[f"layers.{walk.layer.layer}.out"][walk.query] - usual) / l2(usual)
    panels.chart(
        "step_drops",
        figures.drops(rows),
        caption=f"In train mode, with p = {p:g} and torch's generator at {seed}: each number is multiplied by 0 or by "
        f"1 / (1 − p) = {1 / (1 - p):.4g}; gaps were 0 before. With the dropouts of the layers below, they move the "
        f"layer's output for this token by {moved:.0%} of its length. The stages above are without dropout, as in use.",
        alt="Heatmap: what each number was multiplied by at every dropout",
    )
    zeroed = [f"{_zeroed(before, after):,} of {before.size:,}" for before, after in rows.values()]
    table = {"zeroed here": zeroed} | {
        f"tutorial {name}": ["✓" if point in points else "–" for point in DROPOUT_PLACES]
        for name, points in TUTORIALS.items()
    }
    st.dataframe(
        pd.DataFrame(table, list(DROPOUT_PLACES)).rename_axis("dropout"), key="step_drops_where", height="content"
    )


def _zeroed(before: Array, after: Array) -> int:
    return int(np.count_nonzero((after == 0) & (before != 0)))
