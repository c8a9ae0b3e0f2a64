"""Vectors, bars and matrices of a walk through a layer, each as a chart with its caption and its numbers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.figures import step_by_step as figures
from playground.figures.attention import head_heatmap
from playground.figures.theme import token_names, token_table
from playground.web.shared import panels


def draw_vectors(key: str, rows: Mapping[str, Floats], reading: str) -> None:
    """Vectors below one another; `key` is the chart's name after `step_`."""
    longest = max(len(vector) for vector in rows.values())
    drawn = "" if longest <= figures.SHOWN else f" Drawn: the first {figures.SHOWN} of up to {longest:,} numbers."
    panels.chart(
        f"step_{key}", figures.vectors(rows), caption=f"{reading}{drawn}", alt=f"Heatmap of vectors: {', '.join(rows)}"
    )
    table = {name: pd.Series(vector) for name, vector in rows.items()}
    panels.numbers(f"step_{key}", lambda: pd.DataFrame(table).rename_axis("number"), "All the numbers")


def draw_keys(walk: Walk, key: str, values: Floats, title: str, reading: str, *, masked: bool = True) -> None:
    """One number a key, as bars; without those of masked keys, unless the mask is still to come."""
    tokens, allowed = walk.layer.run.tokens, walk.allowed
    panels.chart(
        f"step_{key}",
        figures.keys(values, tokens, allowed if masked else np.ones_like(allowed), walk.key, title=title),
        caption=reading,
        alt=f"Bars: {title} of one query with every key",
        table=lambda: pd.DataFrame({title: values}, token_names(tokens)).rename_axis("key"),
    )


def draw_matrix(walk: Walk, key: str, name: str, title: str, reading: str, *, signed: bool) -> None:
    """An array of the head with a row a query and a column a key, by its name in the layer."""
    run, values = walk.layer.run, walk.layer[name][walk.head]
    panels.chart(
        f"step_{key}",
        head_heatmap(values, run.tokens, run.allowed, stretch=True, signed=signed, bar=title, framed=walk.query),
        caption=reading,
        alt=f"Heatmap: {title} of every query with every key",
        table=lambda: token_table(values, run.tokens),
    )
