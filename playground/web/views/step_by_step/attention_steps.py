"""The step-by-step page's pictures of the stages inside attention."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.walkthrough import Walk
from playground.figures import step_by_step as figures
from playground.figures.theme import token_labels
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token
from playground.web.views.step_by_step.step_panels import keys, matrix, vectors


def projections(walk: Walk) -> None:
    """Queries, keys and values of every token, the two in question framed."""
    layer, head = walk.layer, walk.head
    matrices = {name.upper(): layer[f"attn.{name}"][head] for name in "qkv"}
    query, key = (quote_token(walk.layer.run.tokens[i]) for i in (walk.query, walk.key))
    d_head = walk.config.d_head
    panels.chart(
        "step_projections",
        figures.projections(matrices, layer.run.tokens, walk.query, walk.key),
        caption=f"Head {head}'s queries, keys and values: a row is a token, a column one of {d_head} numbers, of which "
        f"{min(d_head, figures.SHOWN)} are drawn. Framed: q of {query}, k and v of {key}.",
        alt="Heatmaps of the head's queries, keys and values",
    )
    framed = {"q": matrices["Q"][walk.query], "k": matrices["K"][walk.key], "v": matrices["V"][walk.key]}
    panels.numbers("step_projections", lambda: pd.DataFrame(framed).rename_axis("number"))


def dot_products(walk: Walk) -> None:
    """Query times key, number by number, and what comes of it for every key."""
    query, key = (quote_token(walk.layer.run.tokens[i]) for i in (walk.query, walk.key))
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    left, right = st.columns(2, gap="medium")
    with left:
        rows = {"q": q, "k": k, "q × k": q * k}
        vectors(
            "products",
            rows,
            f"The query of {query} and the key of {key}, number by number; the last row adds up to the dot product.",
        )
    with right:
        reading = f"The dot product of {query}'s query with every key; {key} stands out."
        keys(walk, "dot_products", walk.dot_products(), "q · k", reading, masked=False)


def scale(walk: Walk) -> None:
    """The dot products on their new scale."""
    before, after = walk.dot_products().std(), walk.scaled().std()
    reading = (
        f"The same bars on a new scale: divided by √{walk.config.d_head} = {walk.config.d_head**0.5:.4g}, "
        f"their standard deviation goes from {before:.3g} to {after:.3g}."
    )
    keys(walk, "scale", walk.scaled(), "q · k / √d_head", reading, masked=False)


def mask(walk: Walk) -> None:
    """Every query's scores, and what is hidden."""
    later, padding = walk.hidden()
    query = quote_token(walk.layer.run.tokens[walk.query])
    why = [f"later tokens ({later}), as the mask is causal"] if later else []
    why += [f"padding ({padding}), which is no word"] if padding else []
    hidden = f"Hidden from {query}: {' and '.join(why)}." if why else f"Nothing is hidden from {query}: it may see all."
    reading = f"Every query's scores, the query's own row framed; grey is −∞. {hidden}"
    matrix(walk, "mask", "attn.scores", "score", reading, signed=True)


def softmax(walk: Walk) -> None:
    """The query's weights, and every other query's beside them."""
    query = quote_token(walk.layer.run.tokens[walk.query])
    weights = walk.of_query("attn.pattern")
    heaviest = quote_token(walk.layer.run.tokens[int(weights.argmax())])
    left, right = st.columns(2, gap="medium")
    with left:
        reading = (
            f"{query} attends most to {heaviest}, with {weights.max():.3f}; the weights add up to {weights.sum():.4f}."
        )
        keys(walk, "softmax", weights, "attention weight", reading)
    with right:
        reading = f"Every query's weights: the pattern of head {walk.head}. Each row adds up to 1."
        matrix(walk, "pattern", "attn.pattern", "weight", reading, signed=False)


def weighted_sum(walk: Walk) -> None:
    """What each key adds to the result."""
    weights, values = walk.of_query("attn.pattern"), walk.layer["attn.v"][walk.head]
    labels = token_labels(walk.layer.run.tokens)
    by_weight = np.argsort(weights)[::-1]
    drawn, others = by_weight[: figures.MOST_ROWS - 2], by_weight[figures.MOST_ROWS - 2 :]
    rows = {f"{weights[i]:.3f} × {labels[i]}": weights[i] * values[i] for i in drawn}
    if others.size:
        rows[f"the {others.size} others"] = weights[others] @ values[others]
    rows["z, their sum"] = walk.of_query("attn.z")
    vectors("weighted_sum", rows, "Each key's value times its weight, the heaviest first; the last row is their sum.")


def merge(walk: Walk) -> None:
    """The pieces that the merged vector is made of."""
    labels, z = token_labels(walk.layer.run.tokens), walk.layer["attn.z"]
    pieces = walk.pieces()
    rows = {f"head {head}, {labels[token]}": z[head, token] for head, token in pieces}
    reading = f"{len(pieces)} pieces of {walk.config.d_head} numbers; a row's end joins the next row's beginning."
    if walk.config.head_merge == "reshape":
        strangers = sum(token != walk.query for _, token in pieces)
        reading += (
            " **Heads and positions are scrambled**: reshaping without moving the head axis back (tutorial C) puts "
            f"other tokens' results here, {strangers} of {len(pieces)} pieces, through any mask."
        )
    if len(pieces) > figures.MOST_ROWS:
        reading += f" The first {figures.MOST_ROWS} pieces are drawn."
    vectors("merge", rows, reading)


def output_projection(walk: Walk) -> None:
    """The merged vector, and what W_O makes of it."""
    rows = {"merged heads": walk.layer.merged[walk.query], "attention's output": walk.of_query("attn.out")}
    vectors("output_projection", rows, "Every number of the output is made of all numbers of the merged heads.")
