"""What the visitor's changes set after a stage: their formulas, and the numbers before and after them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.changes import ChangedPoint, list_changed_points
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import escape_markdown
from playground.figures import step_by_step as figures
from playground.figures.theme import Array, token_names
from playground.views.change_names import name_change
from playground.web.shared import panels

_BY_KEY = {"attn.scores": "score", "attn.pattern": "attention weight"}
"""Points with one number a key: what it is."""


def draw_stage_changes(walk: Walk, stage: str) -> None:
    """The changes that act on this walk's numbers after a stage; nothing where none does."""
    points = list_changed_points(walk, stage)
    if not points:
        return
    changes = dict.fromkeys(change for point in points for change in point.changes)
    names = "; ".join(escape_markdown(name_change(change, walk.layer.run.tokens)) for change in changes)
    st.markdown(f"**What if: here your changes act.** {names}. The model goes on with what they set.")
    for point in points:
        for formula in point.formulas:
            st.latex(formula)
    with np.errstate(invalid="ignore", over="ignore"):  # numbers beyond fp32's range are drawn as such
        if points[0].point in _BY_KEY:
            _draw_keys(walk, points[0])
        else:
            _draw_vectors(points)


def _draw_keys(walk: Walk, point: ChangedPoint) -> None:
    """One number a key before and after, as pairs of bars; −∞ has none."""
    title, tokens = _BY_KEY[point.point], walk.layer.run.tokens
    before, after = (np.where(np.isfinite(row), row, np.nan) for row in (point.before, point.after))
    infinite = " A key whose score is −∞ has no bar." if not np.isfinite(point.after[walk.allowed]).all() else ""
    total = f" The weights add up to {after.sum():.4g} now." if title == "attention weight" else ""
    panels.chart(
        "step_changed",
        figures.keys(after, tokens, walk.allowed, title=title, paler=before, paler_name="computed"),
        caption=f"The {title} of every key as your changes set it; the paler bar beside each is what the model "
        f"computed.{infinite}{total}",
        alt=f"Bars: {title} of one query with every key, before and after the changes",
        table=lambda: pd.DataFrame({"computed": point.before, "changed": point.after}, token_names(tokens)).rename_axis(
            "key"
        ),
    )


def _draw_vectors(points: Sequence[ChangedPoint]) -> None:
    """The vectors before and after, and what was added."""
    rows: dict[str, Array] = {}
    for point in points:
        name = point.symbol.partition("_")[0]
        rows |= {f"{name}, computed": point.before, f"{name}, changed": point.after}
        rows[f"{name}, changed − computed"] = point.after - point.before
    longest = max(map(len, rows.values()))
    drawn = "" if longest <= figures.SHOWN else f" Drawn: the first {figures.SHOWN} of {longest:,} numbers."
    panels.chart(
        "step_changed",
        figures.vectors(rows),
        caption=f"What the model computed, what your changes set instead, and the difference.{drawn}",
        alt=f"Heatmap of vectors: {', '.join(rows)}",
        table=lambda: pd.DataFrame({row: pd.Series(vector) for row, vector in rows.items()}).rename_axis("number"),
    )
