"""The computation behind a cell of a head's map, in four steps: sources, competition, products, what it moves."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attribution import LEAST_TOLD, largest_pair, move, multiply, rotary_pairs
from playground.analysis.changes import list_output_changes
from playground.analysis.tex import factor, number, sum_of_products
from playground.analysis.walkthrough import Walk
from playground.charts import bars, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, Columns, Curves, Formula, Item, LabelledBars, Paragraph, Picture
from playground.charts.figure import Array, Curve, Figure, Mark
from playground.charts.markdown import quote_place
from playground.charts.names import token_names
from playground.text.wording import round_parts, with_minus, write_amount, write_number, write_weight
from playground.views.attention.explanation import Explanation, HeadsRun
from playground.views.attention.notes import name_row_changes

MOST_REASONS = 4
"""Sources that are named of those which speak against a key."""


def show_sources(found: Explanation) -> Iterator[Item]:
    """The difference of two keys' scores, by what wrote the keys' vectors and by what wrote the query's."""
    if not found.has_parts:
        yield Paragraph("There is nothing to compare here: the other steps show the computation.", "caption")
        return
    yield from _say_why_not(found)
    walk, split, (query, key, opponent) = found.walk, found.split, found.names
    names, kinds = [source.name for source in split.sources], [source.kind for source in split.sources]
    first = f"s_{{{walk.query},{walk.key}}}"
    second = rf"\bar s_{{{walk.query}}}" if split.opponent is None else f"s_{{{walk.query},{split.opponent}}}"
    yield Formula(
        r"{s = \tfrac{1}{\sqrt{d_\mathrm{head}}} \sum_a \sum_b q_a \cdot k_b} \qquad\allowbreak "
        rf"{{{first} - {second} = {number(split.score)} - {factor(split.opponent_score)} = {number(split.lead)}}}"
    )
    from_query, from_key, amount = largest_pair(split)
    against = ", against the rest" if amount * split.lead < 0 else ""
    yield Paragraph(
        "A vector is the sum of what its sources wrote, so a score is a sum over pairs of sources. The softmax sees "
        f"differences of scores alone; so each part of {key} is shown minus that of {opponent}. By size, the largest "
        f"pair is {from_query.name} at {query} with {from_key.name} at {key} instead of at {opponent}: "
        f"{write_amount(amount, '+')}{against}."
    )
    lead = write_amount(float(split.relative.sum()), "+")
    rounding = write_number(abs(split.relative_remainder), 1)
    sums = f"The bars add up to {lead}. {_describe_exactness(walk)}. Rounding takes {rounding}."
    by_key, by_query = (
        bars.contributions(names, kinds, amounts, title="part of the difference")
        for amounts in (split.by_key_source, split.by_query_source)
    )
    keys = _bars(
        "why_key_sources",
        by_key,
        caption=f"**By what wrote the keys' vectors**: that of {key}, to the right, against that of {opponent}, to "
        f"the left. {sums}",
        alt="Bars: parts of the difference of two keys' scores, by source of the keys' vectors",
        table=lambda _: pd.DataFrame(split.relative, names, names).rename_axis("query \\ key"),
    )
    queries = _bars(
        "why_query_sources",
        by_query,
        caption=f"**By what wrote the query's vector**, that of {query}: the same {lead}, split the "
        "other way. The numbers below the keys' chart have every pair.",
        alt="Bars: parts of the difference of two keys' scores, by source of the query's vector",
    )
    yield Columns(((keys,), (queries,)))


def _say_why_not(found: Explanation) -> Iterator[Item]:
    """What spoke against the key or the rival, whichever lost, by what wrote their vectors; the largest first."""
    split, (_, key, rival) = found.split, found.names
    is_no_key = split.opponent is None and split.lead > 0
    if found.verdict.kind not in ("mostly", "mixed") or is_no_key:
        return
    loser, winner = (rival, key) if split.lead > 0 else (key, rival)
    amounts = split.by_key_source * (1 if split.lead > 0 else -1)
    against, in_favour = float(amounts[amounts > 0].sum()), float(-amounts[amounts < 0].sum())
    order = [i for i in np.argsort(-amounts, kind="stable")[:MOST_REASONS] if amounts[i] > 0]
    against, in_favour = round_parts([against, -in_favour], abs(split.lead))
    told = {split.sources[i].name: float(amounts[i]) for i in order}
    rest = against - sum(told.values())
    if rest >= LEAST_TOLD:
        told[f"everything else against {loser}"] = rest
    written = zip(told, round_parts(list(told.values()), against), strict=True)
    reasons = "".join(f"\n- {name}: {write_amount(amount)}" for name, amount in written)
    yield Paragraph(
        f"**Why not {loser}?** The key with the higher score gets more weight. These parts of the two vectors put "
        f"{winner} ahead of {loser}:\n{reasons}"
        f"\n\nTogether {write_amount(against)} against {loser} and {write_amount(-in_favour)} for it: its score is "
        f"{write_amount(against + in_favour)} lower."
    )


def _bars(key: str, drawn: bars.LabelledRows, **chart: Any) -> LabelledBars[HeadsRun]:
    return LabelledBars(key=key, bars=lambda _: drawn, **chart)


def show_competition(explained: Explanation) -> Iterator[Item]:
    """The query's strongest keys, and by how much the chosen one is ahead of each."""
    walk, found, (query, key, opponent) = explained.walk, explained.rivals, explained.names
    words: list[Item] = [Formula(r"w_j = \frac{e^{s_j}}{\sum_i e^{s_i}} \qquad \frac{w_j}{w_i} = e^{s_j - s_i}")]
    if explained.rival_place is not None:
        lead = float(found.lead[explained.rival_place])
        mine, others = (float(found.weights[i]) for i in (found.rank - 1, explained.rival_place))
        ratio = rf" \approx \frac{{{number(mine)}}}{{{number(others)}}}" if others else ""
        words.append(Formula(rf"e^{{{number(lead)}}} = {number(_exp(lead))}{ratio}"))
        told = (
            f"Every point of score more is a factor of e = 2.72 in weight. {key} is {write_amount(abs(lead))} "
            f"{'ahead of' if lead >= 0 else 'behind'} {opponent}: it has {_times(lead)} the weight."
        )
        words.append(Paragraph(told))
    words.append(Paragraph(f"All {len(found.keys)} weights of {query} add up to 1: a key gains only what others lose."))
    place = found.rank - 1
    shown = bars.strongest(found.weights, place)
    labels = np.array(token_names(walk.layer.run.tokens))
    scores = [f"score {write_amount(float(score))}" for score in found.scores]
    texts = [
        f"{write_weight(found.weights[i])} "
        f"({scores[i]}{'' if i == place else f', × {write_number(found.ratios[i], 2)}'})"
        for i in shown
    ]
    left_out = "" if len(shown) == len(found.keys) else f" The strongest of {len(found.keys)} keys are drawn."
    chosen = int(np.flatnonzero(shown == place)[0])
    columns = {
        "key": labels[found.keys],
        "score": found.scores,
        "weight": found.weights,
        "chosen key ahead by": found.lead,
        "its weight over the chosen key's": found.ratios,
    }
    chart = _bars(
        "why_competition",
        bars.LabelledRows(
            labels[found.keys[shown]].tolist(),
            found.weights[shown].tolist(),
            bars.highlight(len(shown), chosen),
            texts,
            "attention weight",
        ),
        caption=f"**What {query} may look at.** Bars are weights. In brackets: the score, and how many times the "
        f"weight of {key} that is. The amber bar is {key}.{left_out}",
        alt="Bars: attention weights of one query's keys",
        table=lambda _: pd.DataFrame(columns),
        table_title="The numbers: click a row to choose the rival",
        on_row=lambda row: {"attention_rival": str(found.keys[row])},
    )
    yield Columns((tuple(words), (chart,)), (2, 3))


def show_products(explained: Explanation) -> Iterator[Item]:
    """The products of q and k from the largest on, and their running sum."""
    walk, (query, key, _) = explained.walk, explained.names
    found = multiply(walk)
    q, k = walk.of_query("attn.q")[found.numbers], walk.layer["attn.k"][walk.head, walk.key][found.numbers]
    dot, d_head = float(found.running[-1]), walk.config.head_width
    root = math.sqrt(d_head)
    half = 1 + int(np.argmax(np.abs(found.products).cumsum() >= np.abs(found.products).sum() / 2))
    words = (
        Formula(sum_of_products(r"q \cdot k", q, k, dot)),
        Formula(
            rf"s = \frac{{q \cdot k}}{{\sqrt{{d_\mathrm{{head}}}}}} = \frac{{{number(dot)}}}{{\sqrt{{{d_head}}}}}"
            rf" = {number(dot / root)}"
        ),
        Paragraph(
            f"{query} asks with its query vector q, {key} answers with its key vector k: {d_head} numbers each. "
            f"Half of their products' total size is in {half} of {d_head}."
        ),
    )
    columns = {"number": found.numbers, "q": q, "k": k, "q × k": found.products, "sum so far": found.running}
    bias = float(walk.position_bias()[walk.key])
    ends = (
        f"the score, {write_number(dot / root, 4)}"
        if not bias
        else f"{write_number(dot / root, 4)}; the distance adds {write_number(bias, 4)} to the score"
    )
    ends = with_minus(ends)
    chart = Picture[HeadsRun](
        key="why_products",
        alt="Bars: products of query and key; line: their running sum",
        caption=f"**All {d_head} products**, each over √d_head = {write_number(root, 4)}. Blue: one product. Amber: "
        "their sum "
        f"so far, which ends at {ends}.",
        figure=lambda _: running_sum(found.numbers, found.products / root, found.running / root),
        table=lambda _: pd.DataFrame(columns),
        compares=False,
    )
    yield Columns((words, (chart,)), (2, 3))
    if walk.config.positions == "rotary":
        yield from _show_pairs(explained)


def _show_pairs(explained: Explanation) -> Iterator[Item]:
    """With rotary positions: the same query and key at any distance, by pairs of features that turn fast or slowly."""
    walk, (query, key, _) = explained.walk, explained.names
    pairs = rotary_pairs(walk)
    half = (len(pairs.frequencies) + 1) // 2
    parts = {"fast pairs": slice(None, half), "slow pairs": slice(half, None)}
    now = {name: float(pairs.now[part].sum()) for name, part in parts.items()}
    most = max(len(walk.layer.run.tokens) - 1, 8)
    distances = np.arange(-most, most + 1, dtype=np.float64)
    by_pair = pairs.at(distances)
    lines = {"the score": by_pair.sum(axis=0)} | {name: by_pair[part].sum(axis=0) for name, part in parts.items()}
    colours = {"the score": palette.ATTENTION, "fast pairs": palette.Q, "slow pairs": palette.K}
    frame = pd.DataFrame(lines, pd.Index(distances.astype(int), name="query − key"))
    yield Curves[HeadsRun](
        key="why_rotation",
        alt="Lines: the score of the same two vectors at other distances, and its parts by fast and slow pairs.",
        caption=f"**The same two words further apart or closer.** Queries and keys turn by their positions, so the "
        f"score of {query} with {key} changes with their distance alone. Here, at {pairs.distance:+d} tokens, fast "
        f"pairs add {write_number(now['fast pairs'])} and slow pairs {write_number(now['slow pairs'])}. Fast pairs "
        "turn a radian in a few tokens and tell neighbours apart; slow ones hardly change with the distance, and can "
        "compare what words mean.",
        curves=lambda _: [Curve(name, distances, line, colours[name]) for name, line in lines.items()],
        x=Axis("query − key, in tokens"),
        y=[lambda _: {"title": "part of the score"}],
        marks=(Mark(pairs.distance, f"here: {pairs.distance:+d}"),),
        height=340,
        table=lambda _: frame,
        compares=False,
    )


def running_sum(numbers: Any, products: Array, running: Array) -> Figure:
    """Products as bars, in their order, and a line for their sum so far; `numbers` say where each stands in q and k."""
    x = np.arange(1, len(products) + 1)
    pieces = {
        "type": "bar",
        "x": x,
        "y": products.astype(np.float32),
        "customdata": numbers.astype(np.int32),
        "marker": {"color": palette.Q},
        "name": "one product",
        "hovertemplate": "number %{customdata}: %{y:.4g}",
    }
    sums = figures.Curve("sum so far", x, running.astype(np.float32), palette.K, hover="sum so far: %{y:.4g}", marker=4)
    layout = {
        "xaxis": {"title": "products, the largest size first", "fixedrange": True, "zeroline": False},
        "yaxis": {"title": "part of the score", "fixedrange": True},
        "hovermode": "x unified",
    }
    return figures.style([pieces, *figures.curve_traces(sums)], layout, height=340, legend=True)


def show_moved(explained: Explanation) -> Iterator[Item]:
    """What the weight moves to the query, and what share of everything that is."""
    walk, (query, key, _) = explained.walk, explained.names
    changes = list_output_changes(walk)
    if changes:
        yield Paragraph(
            f"What the head gathers is then set by {name_row_changes(walk, changes)}: it goes no further as shown here."
        )
    found = move(walk, explained.maps)
    tokens, weights = token_names(walk.layer.run.tokens), walk.of_query("attn.pattern")
    lengths = rf"{number(found.value_norm, 3)} = {number(found.moved_norm, 3)}"
    told = (
        f"Behind $W_O$ this is {_share(found.output_share)} of attention's output, all heads together (by projection)."
    )
    if walk.config.residual:
        told += f" Its length is {_share(found.stream_share)} of that of the token's vector, which it is added to."
    else:
        told += " There is no residual connection: the token's own vector is not added to it."
    if found.token != walk.query:
        told += (
            f" With `head_merge = reshape` it is written to {quote_place(walk.layer.run.tokens, found.token)}, "
            f"not to {query}."
        )
    words = (
        Formula(rf"\lVert w v \rVert = {number(float(weights[walk.key]), 3)} \cdot {lengths}"),
        Formula(rf"\lVert W_O\, w v \rVert = {number(found.written_norm, 3)}"),
        Paragraph(told),
    )
    shares = np.where(walk.allowed, found.head_shares, 0)
    shown = bars.strongest(np.abs(shares), walk.key)
    chosen = int(np.flatnonzero(shown == walk.key)[0])
    chart = _bars(
        "why_moved",
        bars.LabelledRows(
            [tokens[i] for i in shown],
            shares[shown].tolist(),
            bars.highlight(len(shown), chosen),
            bars.write_amounts(shares[shown].tolist(), "+"),
            "share of the head's output",
        ),
        caption=f"**Whose values make up the head's output for {query}**, z = Σ w v? A key's share is its w v, "
        "projected on z: (w v) · z / ‖z‖². Shares add up to 1; one below 0 pulls against the others. A heavy "
        f"weight on a short value moves little (Kobayashi et al. 2020). The amber bar is {key}.",
        alt="Bars: each key's share of the head's output",
        table=lambda _: pd.DataFrame({"weight": weights, "share of the head's output": shares}, tokens),
    )
    yield Columns((words, (chart,)), (2, 3))


def _describe_exactness(walk: Walk) -> str:
    """On what condition the sum is exact."""
    config = walk.config
    before = config.norm_placement == "pre" or config.embedding_norm or walk.layer.layer > 0
    if config.norm == "none" or not before:
        return "No norm stands in the way, so the sum is exact"
    return "The sum is exact, with each norm at the scale of this run; without a source, that would be another"


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _times(lead: float) -> str:
    return f"{write_number(_exp(lead), 2)} times" if _exp(lead) < math.inf else "∞ times"


def _share(x: float) -> str:
    return f"{x:.1%}" if math.isfinite(x) else "no measurable share"


STEPS: Mapping[str, Callable[[Explanation], Iterator[Item]]] = {
    "sources": show_sources,
    "competition": show_competition,
    "products": show_products,
    "what it moves": show_moved,
}
"""By the value of `attention_why`."""
