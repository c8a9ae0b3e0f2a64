"""Whether striking heads matter: the spread of every head's pattern beside its effect."""

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.analysis.attention import pattern_spread, rank_correlation
from playground.analysis.effects.sweeps import HeadsTogether
from playground.figures import what_if
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.wording import with_minus
from playground.web.components.charts import CellFrame
from playground.web.shared import panels
from playground.web.views.what_if.measurements.part_numbers import PartNumbers

WEAK, STRONG = 0.2, 0.5
"""Rank correlations from which on a tendency is called one, and a clear one."""


def draw_spread(
    run: Run,
    effects: Array,
    focus: Focus,
    together: str,
    *,
    beside: DeltaGenerator,
    overlay: CellFrame,
) -> None:
    """The spread of every head's pattern as a map in `beside`, and below both maps spread and effect as points.

    The verdict ends with `together`, on what the heads of a layer bring when all are off.
    """
    spread, sizes = pattern_spread(run), np.abs(effects)
    columns = [f"head {head}" for head in range(spread.shape[1])]
    with beside:
        panels.chart(
            "head_spread",
            what_if.spread_by_head(spread),
            caption="**How evenly each head spreads its attention in this sentence:** the mean entropy of its rows, as "
            "a share of the highest there can be. Near 0, every token looks at one key alone: a striking pattern. At "
            "1, it looks at all keys evenly.",
            alt="Spread of every head's attention by layer",
            overlay=overlay,
            table=lambda: pd.DataFrame(spread, columns=columns).rename_axis("layer"),
        )
    st.markdown(_compare(spread, sizes, together))
    panels.chart(
        "spread_and_effect",
        what_if.spread_and_effect(spread, sizes, (focus.layer, focus.head), "size of the effect"),
        caption="**Each point is a head**, striking patterns to the left, large effects on top. Both are the numbers "
        "of the maps above, the effect without its sign. The diamond is the chosen head. If striking heads were those "
        "that matter, the points would fall from the left to the right.",
        alt="Every head by the spread of its pattern and the size of its effect",
        table=lambda: _list_heads(spread, sizes),
    )


def describe_together(found: HeadsTogether | None, n_heads: int, numbers: PartNumbers) -> str:
    """What the heads of one layer bring alone and together, as the end of a sentence; empty where that is not known."""
    if found is None:
        return ""
    alone, together = numbers.written(found.strongest), numbers.written(found.together)
    replaced = ", so where one is off, others do its work" if found.replaced else ""
    but = "but" if found.replaced else "and"
    return (
        f"; {but} of the {n_heads} heads in layer {found.layer}, the strongest alone brings {alone}, and the layer's "
        f"whole attention {together}{replaced}"
    )


def _compare(spread: Array, sizes: Array, together: str) -> str:
    """The rank correlation, and where the most striking and the most important head stand in the other order."""
    known = np.isfinite(spread) & np.isfinite(sizes)
    n, correlation = int(known.sum()), rank_correlation(-spread, sizes)
    if np.isnan(correlation):
        return "**Do striking heads matter?** It takes three heads whose patterns and effects differ to compare them."
    shares, effects = (np.where(known, values, np.nan) for values in (spread, sizes))
    striking, strong = (np.unravel_index(at, spread.shape) for at in (np.nanargmin(shares), np.nanargmax(effects)))
    by_effect = 1 + int(np.nansum(effects > effects[striking]))
    by_spread = 1 + int(np.nansum(shares < shares[strong]))
    number = with_minus(f"{correlation:+.2f}")
    return (
        f"**Do striking heads matter? {_answer(correlation)}{together}.** Over {n} heads, the rank correlation of how "
        f"striking a pattern is and how much its head matters is **{number}** (Spearman: 1 the same order, 0 none, −1 "
        f"the opposite). The most striking pattern, layer {striking[0]}, head {striking[1]}, is number {by_effect} of "
        f"{n} by the size of its effect. The head with the largest effect, layer {strong[0]}, head {strong[1]}, is "
        f"number {by_spread} by how striking it is."
    )


def _answer(correlation: float) -> str:
    """What a rank correlation says of striking heads, each off alone, in words; a sentence without its full stop."""
    if correlation >= STRONG:
        return "Alone, yes: the more striking a head's pattern is, the more the head tends to matter"
    if correlation >= WEAK:
        return "Alone, a little: striking heads tend to matter more, with many exceptions"
    if correlation > -WEAK:
        return "Alone, it does not show: how striking a pattern is says next to nothing about how much its head matters"
    return "Alone, no: the heads that spread their attention tend to matter more"


def _list_heads(spread: Array, sizes: Array) -> pd.DataFrame:
    """A row a head, the largest effect first."""
    layers, heads = (each.ravel() for each in np.indices(spread.shape))
    columns = {"layer": layers, "head": heads, "spread": spread.ravel(), "size of the effect": sizes.ravel()}
    return pd.DataFrame(columns).sort_values("size of the effect", ascending=False, ignore_index=True)
