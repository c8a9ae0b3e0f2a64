"""The position table of the pinned settings beside the present one: it depends on no text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.figures import positions as figures
from playground.runs.arrays import Array
from playground.web.shared.pinned_charts import draw_both
from playground.web.shared.pinning import pinned_side
from playground.web.views.positions import position_cache


@dataclass(frozen=True)
class PinnedTable:
    """The pinned settings' position table, (N, D)."""

    rows: Array
    plain_name: str
    is_added: bool
    """Whether the pinned encoder adds it; the standard one is drawn of an encoder that adds none."""

    @property
    def name(self) -> str:
        """What captions call the pinned settings, in markdown."""
        missing = "" if self.is_added else " (which adds none: the standard table is drawn)"
        return f"{escape_markdown(self.plain_name)}{missing}"


def load_pinned_table() -> PinnedTable | None:
    """The pinned settings' table; None where nothing is pinned, or their model is too large to be built here."""
    side = pinned_side()
    if side is None:
        return None
    setup = side.setup
    try:
        rows = position_cache.position_rows(setup.weights, setup.config, setup["seed"])
    except PlaygroundError:
        return None
    return PinnedTable(rows, side.name, setup.config.positions != "none")


def common_limit(rows: Array, pinned: PinnedTable | None) -> float:
    """Where the colours of both tables end, on either side of zero."""
    tables = [rows] if pinned is None else [rows, pinned.rows]
    return max(figures.colour_limit(_drawn(table)) for table in tables)


def draw_pinned_table(rows: Array, pinned: PinnedTable, limit: float) -> None:
    """The pinned table in the colours of the present one, which end at `limit`, and the change from it."""
    if rows.shape[1] != pinned.rows.shape[1]:
        st.caption(
            f"**{pinned.name}.** Its rows have {pinned.rows.shape[1]} numbers and those above {rows.shape[1]}, so the "
            "tables cannot be subtracted. The curves and the similarities below show both."
        )
        return
    n = min(len(rows), len(pinned.rows), figures.MAX_POSITIONS)
    change = rows[:n] - pinned.rows[:n]
    if not change.any():
        st.caption(f"**{pinned.name}.** The first {n} rows of its table are the same, number by number.")
        return
    draw_both(
        "position_table",
        pinned.name,
        (figures.table_heatmap(pinned.rows, height=320, limit=limit), _drawn(pinned.rows)),
        (figures.table_heatmap(change, height=320, magnitude=float(np.abs(rows[:n]).max())), _drawn(change)),
        more="a larger number",
        table=lambda numbers: pd.DataFrame(numbers).rename_axis("position"),
        about=f" The largest: {np.abs(change).max():.3g}.",
    )


def draw_pinned_similarity(matrix: Array, others: Array, measure: str, pinned: PinnedTable, limit: float) -> None:
    """The pinned positions' similarities, (N, N), in the colours of the present ones, and the change from them."""
    n = min(len(matrix), len(others))
    change = matrix[:n, :n] - others[:n, :n]
    draw_both(
        "between_positions",
        pinned.name,
        (figures.between_positions(others, measure, limit=limit), others),
        (figures.between_positions(change, measure, magnitude=float(np.abs(matrix).max())), change),
        more=f"a larger {measure}",
        table=lambda numbers: pd.DataFrame(numbers).rename_axis("position"),
    )


def tabulate_curves(rows: Array, dimensions: Sequence[int], pinned: PinnedTable | None) -> pd.DataFrame:
    """The chosen dimensions by position; beside the pinned table's, where it has them, with differences."""
    table = pd.DataFrame(rows[: figures.MAX_POSITIONS, list(dimensions)], columns=list(dimensions))
    if pinned is not None:
        both = [i for i in dimensions if i < pinned.rows.shape[1]]
        others = pd.DataFrame(pinned.rows[: figures.MAX_POSITIONS, both], columns=both)
        table = table.join([others.add_suffix(", pinned"), (table[both] - others).add_suffix(", now − pinned")])
    return table.rename_axis("position")


def tabulate_offsets(offsets: pd.DataFrame, pinned: pd.DataFrame | None) -> pd.DataFrame:
    """Similarities by offset; beside the pinned table's means, with differences."""
    if pinned is None:
        return offsets
    return offsets.assign(**{"pinned mean": pinned["mean"], "mean − pinned": offsets["mean"] - pinned["mean"]})


def _drawn(rows: Array) -> Array:
    return rows[: figures.MAX_POSITIONS, : figures.MAX_DIMENSIONS]
