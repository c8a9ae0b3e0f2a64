"""The steps of a cell's explanation: sources of the score, rivals in the softmax, products of q · k, what it moves."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.attribution import Competition, Moved, Products, ScoreSplit, largest_pair
from playground.analysis.tex import factor, number, sum_of_products
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import quote_place
from playground.figures import attribution as figures
from playground.figures.theme import token_names
from playground.text.wording import write_amount
from playground.web.shared import panels


def draw_sources(walk: Walk, split: ScoreSplit, key: str, opponent: str) -> None:
    """The difference of two keys' scores, by what wrote the keys' vectors and by what wrote the query's.

    Args:
        walk: whose query asks both keys.
        split: of its key's score against the opponent's.
        key: in markdown, as is the opponent.
    """
    query = quote_place(walk.layer.run.tokens, walk.query)
    names, kinds = [source.name for source in split.sources], [source.kind for source in split.sources]
    first, second = (f"s_{{{walk.query},{place}}}" for place in (walk.key, split.opponent))
    st.latex(
        r"s = \tfrac{1}{\sqrt{d_\mathrm{head}}} \sum_a \sum_b q_a \cdot k_b \qquad "
        rf"{first} - {second} = {number(split.score)} - {factor(split.opponent_score)} = {number(split.lead)}"
    )
    from_query, from_key, amount = largest_pair(split)
    against = ", against the rest" if amount * split.lead < 0 else ""
    st.markdown(
        "A vector is the sum of what its sources wrote, so a score is a sum over pairs of sources. The softmax sees "
        f"differences of scores alone; so each part of {key} is shown minus that of {opponent}. By size, the largest "
        f"pair is {from_query.name} at {query} with {from_key.name} at {key} instead of at {opponent}: "
        f"{write_amount(amount, '+')}{against}."
    )
    lead = write_amount(float(split.relative.sum()), "+")
    sums = f"The bars add up to {lead}. {_describe_exactness(walk)} (remainder {abs(split.relative_remainder):.0e})."
    table = pd.DataFrame(split.relative, names, names).rename_axis("query \\ key")
    left, right = st.columns(2, gap="medium")
    with left:
        panels.bars(
            "why_key_sources",
            figures.contributions(names, kinds, split.by_key_source, title="part of the difference"),
            caption=f"**By what wrote the keys' vectors**: that of {key}, to the right, against that of {opponent}, to "
            f"the left. {sums}",
            alt="Bars: parts of the difference of two keys' scores, by source of the keys' vectors",
            table=lambda: table,
        )
    with right:
        panels.bars(
            "why_query_sources",
            figures.contributions(names, kinds, split.by_query_source, title="part of the difference"),
            caption=f"**By what wrote the query's vector**, that of {query}: the same {lead}, split the "
            "other way. The numbers below the left chart have every pair.",
            alt="Bars: parts of the difference of two keys' scores, by source of the query's vector",
        )


def draw_competition(walk: Walk, found: Competition) -> None:
    """The query's strongest keys, and by how much the chosen one is ahead of each."""
    query, key = _quote(walk)
    tokens = walk.layer.run.tokens
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.latex(r"w_j = \frac{e^{s_j}}{\sum_i e^{s_i}} \qquad \frac{w_j}{w_i} = e^{s_j - s_i}")
        if found.best_other is not None:
            lead = float(found.lead[found.best_other])
            mine, others = (float(found.weights[i]) for i in (found.rank - 1, found.best_other))
            ratio = rf" \approx \frac{{{number(mine)}}}{{{number(others)}}}" if others else ""
            st.latex(rf"e^{{{number(lead)}}} = {number(_exp(lead))}{ratio}")
            other = quote_place(tokens, int(found.keys[found.best_other]))
            st.markdown(
                f"Every point of score more is a factor of e = 2.72 in weight. {key} is {write_amount(abs(lead))} "
                f"{'ahead of' if lead >= 0 else 'behind'} {other}: it has {_times(lead)} the weight."
            )
        st.markdown(f"All {len(found.keys)} weights of {query} add up to 1: a key gains only what others lose.")
    place = found.rank - 1
    shown = figures.strongest(found.weights, place)
    labels = token_names(tokens)
    scores = [f"score {write_amount(float(score))}" for score in found.scores]
    texts = [
        f"{found.weights[i]:.2f} ({scores[i]})"
        if i == place
        else f"{found.weights[i]:.2f} ({scores[i]}, × {found.ratios[i]:.2g})"
        for i in shown
    ]
    left_out = "" if len(shown) == len(found.keys) else f" The strongest of {len(found.keys)} keys are drawn."
    with right:
        panels.bars(
            "why_competition",
            figures.competition(
                [labels[found.keys[i]] for i in shown],
                found.weights[shown],
                texts,
                int(np.flatnonzero(shown == place)[0]),
            ),
            caption=f"**What {query} may look at.** Bars are weights. In brackets: the score, and how many times the "
            f"weight of {key} that is. The amber bar is {key}.{left_out}",
            alt="Bars: attention weights of one query's keys",
            table=lambda: pd.DataFrame(
                {
                    "key": np.array(token_names(tokens))[found.keys],
                    "score": found.scores,
                    "weight": found.weights,
                    "chosen key ahead by": found.lead,
                    "its weight over the chosen key's": found.ratios,
                }
            ),
        )


def draw_products(walk: Walk, found: Products) -> None:
    """The products of q and k from the largest on, and their running sum."""
    query, key = _quote(walk)
    q, k = walk.of_query("attn.q")[found.numbers], walk.layer["attn.k"][walk.head, walk.key][found.numbers]
    dot, d_head = float(found.running[-1]), walk.config.d_head
    root = math.sqrt(d_head)
    half = 1 + int(np.argmax(np.abs(found.products).cumsum() >= np.abs(found.products).sum() / 2))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.latex(sum_of_products(r"q \cdot k", q, k, dot))
        st.latex(
            rf"s = \frac{{q \cdot k}}{{\sqrt{{d_\mathrm{{head}}}}}} = \frac{{{number(dot)}}}{{\sqrt{{{d_head}}}}}"
            rf" = {number(dot / root)}"
        )
        st.markdown(
            f"{query} asks with its query vector q, {key} answers with its key vector k: {d_head} numbers each. "
            f"Half of their products' total size is in {half} of {d_head}."
        )
    with right:
        panels.chart(
            "why_products",
            figures.running_sum(found.numbers, found.products / root, found.running / root),
            caption=f"**All {d_head} products**, each over √d_head = {root:.4g}. Blue: one product. Amber: their sum "
            f"so far, which ends at the score, {dot / root:.4g}.",
            alt="Bars: products of query and key; line: their running sum",
            table=lambda: pd.DataFrame(
                {"number": found.numbers, "q": q, "k": k, "q × k": found.products, "sum so far": found.running}
            ),
        )


def draw_moved(walk: Walk, found: Moved) -> None:
    """What the weight moves to the query, and what share of everything that is."""
    query, key = _quote(walk)
    tokens, weight = walk.layer.run.tokens, float(walk.of_query("attn.pattern")[walk.key])
    left, right = st.columns([2, 3], gap="medium")
    with left:
        lengths = rf"{number(found.value_norm, 3)} = {number(found.moved_norm, 3)}"
        st.latex(rf"\lVert w v \rVert = {number(weight, 3)} \cdot {lengths}")
        st.latex(rf"\lVert W_O\, w v \rVert = {number(found.written_norm, 3)}")
        st.markdown(_describe_stream(walk, found))
    shares = np.where(walk.allowed, found.head_shares, 0)
    shown = figures.strongest(np.abs(shares), walk.key)
    labels = token_names(tokens)
    with right:
        panels.bars(
            "why_moved",
            figures.head_shares([labels[i] for i in shown], shares[shown], int(np.flatnonzero(shown == walk.key)[0])),
            caption=f"**Whose values make up the head's output for {query}**, z = Σ w v? A key's share is its w v, "
            "projected on z: (w v) · z / ‖z‖². Shares add up to 1; one below 0 pulls against the others. A heavy "
            f"weight on a short value moves little (Kobayashi et al. 2020). The amber bar is {key}.",
            alt="Bars: each key's share of the head's output",
            table=lambda: pd.DataFrame(
                {"weight": walk.of_query("attn.pattern"), "share of the head's output": shares}, token_names(tokens)
            ),
        )


def _describe_exactness(walk: Walk) -> str:
    """On what condition the sum is exact."""
    config = walk.config
    before = config.norm_placement == "pre" or config.embedding_norm or walk.layer.layer > 0
    if config.norm == "none" or not before:
        return "No norm stands in the way, so the sum is exact"
    return "The sum is exact, with each norm at the scale of this run; without a source, that would be another"


def _describe_stream(walk: Walk, found: Moved) -> str:
    """What the head's output with this key alone is in attention's output, and in the stream."""
    tokens, query = walk.layer.run.tokens, quote_place(walk.layer.run.tokens, walk.query)
    told = (
        f"Behind $W_O$ this is {_share(found.output_share)} of attention's output, all heads together (by projection)."
    )
    if walk.config.residual:
        told += f" Its length is {_share(found.stream_share)} of that of the stream which it is added to."
    else:
        told += " There is no residual stream that it would be added to."
    if found.token != walk.query:
        told += f" With `head_merge = reshape` it is written to {quote_place(tokens, found.token)}, not to {query}."
    return told


def _quote(walk: Walk) -> tuple[str, str]:
    tokens = walk.layer.run.tokens
    return quote_place(tokens, walk.query), quote_place(tokens, walk.key)


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _times(lead: float) -> str:
    return f"{_exp(lead):.2g} times" if _exp(lead) < math.inf else "∞ times"


def _share(x: float) -> str:
    return f"{x:.1%}" if math.isfinite(x) else "no measurable share"
