"""Charts of the stages inside attention, and of a walk's vectors."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import quote_token
from playground.figures import step_by_step as figures
from playground.figures.attention import head_heatmap
from playground.figures.theme import token_labels, token_names, token_table
from playground.link.opening import Focus
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell


def draw_vectors(key: str, rows: Mapping[str, Floats], reading: str) -> None:
    """Vectors below one another; `key` is the chart's name after `step_`."""
    longest = max(len(vector) for vector in rows.values())
    drawn = "" if longest <= figures.SHOWN else f" Drawn: the first {figures.SHOWN} of up to {longest:,} numbers."
    panels.chart(
        f"step_{key}", figures.vectors(rows), caption=f"{reading}{drawn}", alt=f"Heatmap of vectors: {', '.join(rows)}"
    )
    table = {name: pd.Series(vector) for name, vector in rows.items()}
    panels.numbers(f"step_{key}", lambda: pd.DataFrame(table).rename_axis("number"), "All the numbers")


def show_projections(walk: Walk) -> None:
    """Queries, keys and values of every token, the chosen query and key framed."""
    layer, head, d_head = walk.layer, walk.head, walk.config.d_head
    matrices = {name.upper(): layer.computed(f"attn.{name}")[head] for name in "qkv"}
    query, key = _quote_tokens(walk)
    drawn = "" if d_head <= figures.SHOWN else f"; the first {figures.SHOWN} are drawn"
    framed = {"q": matrices["Q"][walk.query], "k": matrices["K"][walk.key], "v": matrices["V"][walk.key]}
    panels.chart(
        "step_projections",
        figures.projections(matrices, layer.run.tokens, walk.query, walk.key),
        caption=f"The queries, keys and values of head {head}. A row is a token; a column is one of d_head = {d_head} "
        f"numbers{drawn}. Frames mark q of {query}, k and v of {key}.",
        alt="Heatmaps of the head's queries, keys and values",
        table=lambda: pd.DataFrame(framed).rename_axis("number"),
    )


def show_dot_products(walk: Walk) -> None:
    """Query times key, number by number, and the dot product with every key."""
    query, key = _quote_tokens(walk)
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    left, right = st.columns(2, gap="medium")
    with left:
        reading = f"The query of {query} and the key of {key}. The last row adds up to their *dot product*."
        draw_vectors("products", {"q": q, "k": k, "q × k": q * k}, reading)
    with right:
        reading = f"The dot product of {query}'s query with every key."
        _draw_keys(walk, "dot_products", walk.dot_products(), "q · k", reading, masked=False)


def show_scale(walk: Walk) -> None:
    """The dot products divided by √d_head."""
    before, after = walk.dot_products().std(), walk.scaled().std()
    reading = (
        f"The dot products, divided by √{walk.config.d_head} = {walk.config.d_head**0.5:.4g}. "
        f"Their standard deviation goes from {before:.3g} to {after:.3g}."
    )
    _draw_keys(walk, "scale", walk.scaled(), "q · k / √d_head", reading, masked=False)


def show_mask(walk: Walk) -> None:
    """Every query's scores, with what the mask hides."""
    later, padding = walk.hidden()
    reasons = [f"{later} later in the sentence (the mask is causal)"] * (later > 0)
    reasons += [f"{padding} of padding (which is no word)"] * (padding > 0)
    query, _ = _quote_tokens(walk)
    hidden = f"Keys hidden from {query}: {', '.join(reasons)}." if reasons else f"No key is hidden from {query}."
    reading = f"The scores of every query with every key; grey is −∞. {hidden}"
    _draw_matrix(walk, "mask", "attn.scores", "score", reading, signed=True)


def show_softmax(walk: Walk) -> None:
    """The query's weights, and every other query's beside them."""
    query, _ = _quote_tokens(walk)
    weights = walk.computed("attn.pattern")
    heaviest = quote_token(walk.layer.run.tokens[int(weights.argmax())])
    left, right = st.columns(2, gap="medium")
    with left:
        reading = (
            f"{query} attends most to {heaviest}, with weight {weights.max():.3f}. "
            f"All its weights add up to {weights.sum():.4f}."
        )
        _draw_keys(walk, "softmax", weights, "attention weight", reading)
    with right:
        reading = f"The weights of every query: the *pattern* of head {walk.head}. Each row adds up to 1."
        _draw_matrix(walk, "pattern", "attn.pattern", "weight", reading, signed=False)


def show_weighted_sum(walk: Walk) -> None:
    """What each key's value adds to the head's result."""
    weights, values = walk.of_query("attn.pattern"), walk.layer["attn.v"][walk.head]
    labels = token_labels(walk.layer.run.tokens)
    by_weight = np.argsort(weights)[::-1]
    drawn, others = by_weight[: figures.MOST_ROWS - 2], by_weight[figures.MOST_ROWS - 2 :]
    rows = {f"{weights[i]:.3f} × {labels[i]}": weights[i] * values[i] for i in drawn}
    if others.size:
        rows[f"the {others.size} others"] = weights[others] @ values[others]
    rows["z, their sum"] = walk.computed("attn.z")
    reading = "Each row is one key's value times its weight, the heaviest first. The last row is their sum."
    draw_vectors("weighted_sum", rows, reading)


def show_merge(walk: Walk) -> None:
    """The pieces that the merged vector is made of."""
    labels, z = token_labels(walk.layer.run.tokens), walk.layer["attn.z"]
    pieces = walk.pieces()
    reading = f"{len(pieces)} pieces of {walk.config.d_head} numbers. Read row after row, they are the merged vector."
    if walk.merge_moves_results:
        strangers = sum(token != walk.query for _, token in pieces)
        reading += (
            " **Heads and positions are scrambled**: the reshape does not move the head axis back, as in "
            "tutorial C · Explanation. "
            f"{strangers} of {len(pieces)} pieces here come from other tokens, and no mask stops them."
        )
    if len(pieces) > figures.MOST_ROWS:
        reading += f" The first {figures.MOST_ROWS} pieces are drawn."
    draw_vectors("merge", {f"head {head}, {labels[token]}": z[head, token] for head, token in pieces}, reading)


def show_output_projection(walk: Walk) -> None:
    """The merged vector before and after W_O."""
    rows = {"merged heads": walk.layer.merged[walk.query], "attention's output": walk.computed("attn.out")}
    draw_vectors("output_projection", rows, "Every number of the output depends on all numbers of the merged heads.")


def _focus_of(walk: Walk) -> Focus:
    """The place that a walk is about."""
    return Focus(walk.layer.layer, walk.head, walk.query, walk.key)


def _quote_tokens(walk: Walk) -> tuple[str, str]:
    """The query's and the key's token, as code."""
    tokens = walk.layer.run.tokens
    return quote_token(tokens[walk.query]), quote_token(tokens[walk.key])


def _describe_bars(walk: Walk, *, masked: bool) -> str:
    """What the colours of the bars stand for."""
    _, key = _quote_tokens(walk)
    grey = " Grey places are masked keys." if masked and not walk.allowed.all() else ""
    if masked and not walk.allowed[walk.key]:
        return f"The chosen key, {key}, is masked: it has no bar.{grey}"
    return f"The frame marks the chosen key, {key}; click a bar to choose another.{grey}"


def _draw_keys(walk: Walk, key: str, values: Floats, title: str, reading: str, *, masked: bool = True) -> None:
    """One number a key, as bars; without those of masked keys, unless the mask is still to come."""
    tokens, allowed = walk.layer.run.tokens, walk.allowed
    panels.chart(
        f"step_{key}",
        figures.keys(values, tokens, allowed if masked else np.ones_like(allowed), title=title),
        caption=f"{reading} {_describe_bars(walk, masked=masked)}",
        alt=f"Bars: {title} of one query with every key",
        overlay=frame_cell(
            f"step_{key}",
            _focus_of(walk),
            columns=Cells.of("key", range(len(tokens))),
            label="The chosen key. Arrow keys choose its neighbours.",
        ),
        table=lambda: pd.DataFrame({title: values}, token_names(tokens)).rename_axis("key"),
    )


def _draw_matrix(walk: Walk, key: str, name: str, title: str, reading: str, *, signed: bool) -> None:
    """An array of the head with a row a query and a column a key, by its name in the layer."""
    run, values = walk.layer.run, walk.layer.computed(name)[walk.head]
    panels.chart(
        f"step_{key}",
        head_heatmap(values, run.tokens, run.allowed, signed=signed, bar=title),
        caption=f"{reading} The frame marks {' and '.join(_quote_tokens(walk))}; click a cell to choose others.",
        alt=f"Heatmap: {title} of every query with every key",
        overlay=frame_cell(
            f"step_{key}",
            _focus_of(walk),
            rows=Cells.of("query", range(int((~run.padding).sum()))),
            columns=Cells.of("key", range(len(run.tokens))),
            label="The chosen query, in its row, and key, in its column. Arrow keys move them.",
        ),
        table=lambda: token_table(values, run.tokens),
    )
