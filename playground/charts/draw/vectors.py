"""Vectors, each between the pinned one of its name and the difference."""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from playground.charts import colour_scales
from playground.charts import figure as figures
from playground.charts.chart import Vectors
from playground.charts.draw.drawn import Drawing, Drawn, join_sentences
from playground.charts.figure import Array, Figure
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene

S = TypeVar("S")

SHOWN = 8
"""Numbers of a vector that are drawn."""

MOST_VECTORS = 16


def draw_vectors(chart: Vectors[S], scene: Scene[S]) -> Drawing:
    """The present vectors, the pinned ones, the differences."""
    rows = dict(chart.rows(scene.now))
    paired = ""
    if scene.pinned is not None:
        rows = _pair_vectors(rows, chart.rows(scene.pinned))
        paired = f"The rows that are pinned: {escape_markdown(scene.pinned_name)}."
    lengths = set(map(len, rows.values()))
    cut = ""
    if max(lengths) > SHOWN:
        up_to = "up to " * (len(lengths) > 1)
        cut = f"Drawn: the first {SHOWN} of {up_to}{max(lengths):,} numbers."
    caption = join_sentences(chart.caption, chart.reading(scene.now), paired, cut)
    table = partial(_vectors_table, rows)
    return Drawing(Drawn(chart, "", _vectors_figure(rows, chart.numbers), caption, table))


def _vectors_figure(rows: Mapping[str, Array], numbers: str) -> Figure:
    """The first SHOWN numbers of at most MOST_VECTORS vectors."""
    drawn = dict(list(rows.items())[:MOST_VECTORS])
    z = np.full((len(drawn), min(SHOWN, max(map(len, drawn.values())))), np.nan, np.float32)
    for cells, vector in zip(z, drawn.values(), strict=True):
        n = min(len(cells), len(vector))
        cells[:n] = vector[:n]
    height = 122 + 30 * len(drawn)
    look = figures.written_in_cells(z, ".2g", longest=6)
    look |= {"textfont": {"size": 11}, "colorbar": figures.flat_bar("value", height, nticks=4)}
    look |= colour_scales.around_zero([z]).options
    margin = {"t": figures.ROOM_ABOVE}
    return figures.number_cells(z, list(drawn), "%{z:.6~g}", look, height=height, margin=margin, numbers=numbers)


def _pair_vectors(now: Mapping[str, Array], pinned: Mapping[str, Array]) -> dict[str, Array]:
    rows: dict[str, Array] = {}
    for name, vector in now.items():
        before = pinned.get(name)
        if before is not None:
            rows[f"{name}, pinned"] = before
        rows[f"{name}, now"] = vector
        if before is not None and len(before) == len(vector):
            rows[f"{name}, now − pinned"] = vector - before
    return rows


def _vectors_table(rows: Mapping[str, Array]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(vector) for name, vector in rows.items()}).rename_axis("number")
