"""What a stage gives in the pinned settings, beside what it gives now, for the same token in the same place."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.comparison import describe_vector_change
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.figures import step_by_step as figures
from playground.figures.theme import Array, token_names
from playground.link.opening import Focus
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.shared import panels
from playground.web.shared.pinned_charts import nearest_head
from playground.web.shared.pinning import PinnedRun, beside, say_other_tokens

BY_KEY: dict[str, tuple[str, Callable[[Walk], Floats]]] = {
    "dot products": ("q · k", Walk.dot_products),
    "scale": ("q · k / √d_head", Walk.scaled),
    "mask": ("score", lambda walk: walk.of_query("attn.scores")),
    "softmax": ("attention weight", lambda walk: walk.of_query("attn.pattern")),
}
"""Stages that give the query one number for each key: what it is, and the numbers (T,)."""

VECTORS: dict[str, Callable[[Walk], Mapping[str, Floats]]] = {
    "embedding": lambda walk: {"embedding": walk.layer.run.arrays["embed.out"][walk.query]},
    "projections": lambda walk: {
        "q": walk.of_query("attn.q"),
        "k": walk.layer["attn.k"][walk.head, walk.key],
        "v": walk.layer["attn.v"][walk.head, walk.key],
    },
    "weighted sum": lambda walk: {"z": walk.of_query("attn.z")},
    "merge": lambda walk: {"merged heads": walk.layer.merged[walk.query]},
    "output projection": lambda walk: {"attention's output": walk.of_query("attn.out")},
    "first residual": lambda walk: {"goes on": walk.of_query("resid_mid")},
    "first norm": lambda walk: {"after": walk.of_query("norm1.out")},
    "feed-forward": lambda walk: {"output f": walk.of_query("ffn.out")},
    "second residual": lambda walk: {"goes on": walk.of_query("resid_post")},
    "second norm": lambda walk: {"after": walk.of_query("norm2.out")},
}
"""The other stages: the vectors that each gives, by their names."""


def compare_stage(walk: Walk, stage: str, run_key: RunKey) -> None:
    """The stage's result in the pinned settings and now, with the difference; nothing where nothing is pinned."""
    pinned = beside(walk.layer.run)
    if pinned is None:
        return
    st.markdown("**Before and now**")
    if run_key != current_setup().run_key:
        st.caption("The tutorial's own input is for the present settings alone: what is pinned has a text of its own.")
        return
    if not pinned.has_same_tokens:
        say_other_tokens("these numbers")
        return
    layer, head = nearest_head(pinned.run, Focus(walk.layer.layer, walk.head, walk.query, walk.key))
    try:
        before = Walk(caches.trace_layer(pinned.side.setup.run_key, layer), head, walk.query, walk.key)
    except PlaygroundError as error:
        st.caption(escape_markdown(error))
        return
    with np.errstate(invalid="ignore", over="ignore"):  # numbers beyond fp32's range are drawn as such
        if stage in BY_KEY:
            _compare_keys(before, walk, stage, _name_place(pinned, before, walk))
        else:
            _compare_vectors(before, walk, stage, _name_place(pinned, before, walk))


def _name_place(pinned: PinnedRun, before: Walk, now: Walk) -> str:
    """The pinned settings' name, with the layer and head that stand for the present ones where those are missing."""
    places = {"layer": (before.layer.layer, now.layer.layer), "head": (before.head, now.head)}
    missing = [
        f"{place} {shown}, as it has no {place} {asked}" for place, (shown, asked) in places.items() if shown != asked
    ]
    return f"{pinned.name} ({'; '.join(missing)})" if missing else pinned.name


def _compare_keys(before: Walk, now: Walk, stage: str, name: str) -> None:
    """One number a key in both, as pairs of bars."""
    title, numbers = BY_KEY[stage]
    old, new = numbers(before), numbers(now)
    tokens, allowed = now.layer.run.tokens, np.ones(len(new), bool)
    if stage in ("mask", "softmax"):
        allowed = now.allowed | before.allowed
    names = token_names(tokens)
    panels.chart(
        "step_pinned",
        figures.keys(new, tokens, allowed, title=title, paler=old),
        caption=f"{escape_markdown(describe_vector_change(old, new, names))} The paler bar beside each: {name}.",
        alt=f"Bars: {title} of one query with every key, pinned and now",
        table=lambda: pd.DataFrame({"pinned": old, "now": new, "now − pinned": new - old}, names).rename_axis("key"),
    )


def _compare_vectors(before: Walk, now: Walk, stage: str, name: str) -> None:
    """The vectors of both below one another, and their differences where they are as long."""
    rows: dict[str, Array] = {}
    told = []
    for vector, new in VECTORS[stage](now).items():
        old = VECTORS[stage](before)[vector]
        rows |= {f"{vector}, pinned": old, f"{vector}, now": new}
        if len(old) == len(new):
            rows[f"{vector}, now − pinned"] = new - old
        told.append(f"*{vector}*: {describe_vector_change(old, new)}")
    longest = max(map(len, rows.values()))
    drawn = "" if longest <= figures.SHOWN else f" Drawn: the first {figures.SHOWN} of up to {longest:,} numbers."
    panels.chart(
        "step_pinned",
        figures.vectors(rows),
        caption=f"**{name}.** {' '.join(told)}{drawn}",
        alt=f"Heatmap of vectors: {', '.join(rows)}",
        table=lambda: pd.DataFrame({row: pd.Series(vector) for row, vector in rows.items()}).rename_axis("number"),
    )
