"""Steps: one token's way through a layer, stage by stage: each with its formula, its numbers and what changes set."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from playground.analysis.changes import ChangedPoint, list_changed_points
from playground.analysis.comparison import describe_vector_change
from playground.analysis.steps import work_out
from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk, order
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Bars,
    Columns,
    Formula,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Picture,
    Table,
    Vectors,
)
from playground.charts.draw.vectors import MOST_VECTORS, SHOWN
from playground.charts.figure import PALE, Figure, colour_bar
from playground.charts.head_map import head_map
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.names import token_labels, token_names
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import DROPOUT_PLACES, TUTORIAL_DROPOUTS, DroppedRun, Run
from playground.text.wording import write_difference
from playground.tutorials.comparison import SHORT_TITLES
from playground.views.change_names import name_change


def nearest_focus(run: Run, focus: Focus) -> Focus:
    """The focus with the nearest layer and head that a run has: one of the same tokens."""
    layer, head = min(focus.layer, run.config.n_layers - 1), min(focus.head, run.config.n_heads - 1)
    return replace(focus, layer=layer, head=head)


def compare_walks(now: Walk, pinned: Walk | None, name: str) -> Scene[Walk]:
    """The scene of a walk beside the pinned one, whose settings have this name, through the same tokens."""
    focus = Focus(now.layer.layer, now.head, now.query, now.key)
    if pinned is None:
        return Scene(now, focus)
    places = {"layer": (pinned.layer.layer, focus.layer), "head": (pinned.head, focus.head)}
    missing = [
        f"{place} {shown}, as it has no {place} {asked}" for place, (shown, asked) in places.items() if shown != asked
    ]
    return Scene(now, focus, pinned, f"{name} ({'; '.join(missing)})" if missing else name)


def show_steps(scene: Scene[Walk], options: Options) -> Iterator[Item]:
    """The stage that `step_stage` names: its idea, charts, formulas and changes; and its result in both settings."""
    walk, stage = scene.now, options["step_stage"]
    yield Paragraph(answer_what_the_layer_does(walk, is_random=options["weights"] == "random"), "answer")
    yield Group("step_computation", (Paragraph(_describe_stage(walk, stage)), *STAGES[stage].show(walk)))
    yield from _work_out_stage(walk, stage)
    if scene.pinned is not None and stage in order(scene.pinned.config):
        yield Paragraph("**Before and now**")
        yield _compare_results(walk, scene.pinned, stage)
    elif scene.pinned is not None:
        yield Paragraph(f"The encoder of {escape_markdown(scene.pinned_name)} has no such stage.", "caption")


def answer_what_the_layer_does(walk: Walk, *, is_random: bool) -> str:
    """How a token's vector goes through the layer, and how long what attention and the feed-forward make of it is."""
    query, layer = quote_place(walk.layer.run.tokens, walk.query), walk.layer.layer
    if not np.isfinite(walk.of_query("out")).all():
        return f"In layer {layer}, the numbers of {query} have become too large for 32-bit floats: none can be told."
    to = "added to" if walk.config.residual else "in place of"
    sums = (walk.first_sum, walk.second_sum)
    read, made = (f" (length **{l2(added):.3g}**, {to} one of length {l2(before):.3g})" for before, added in sums)
    where = f"layer {layer} (the first is 0)" if layer else "layer 0, the first"
    does = "adds" if walk.config.residual else "puts in its place"
    found = (
        f"In {len(order(walk.config))} stages: the vector of {query} goes into {where}. Attention {does} what it reads "
        f"from the tokens{read}, the feed-forward network what it makes of that{made}."
    )
    return f"{found}{' These weights are **random**: the numbers are chance.' * is_random}"


_SCORE = {"s_{t,j}": "the score of query t with key j"}

_WEIGHT = {"a_{t,j}": "the attention weight that query t gives key j"}

_NORM = {
    r"\hat{x}": "the vector after the division",
    r"\mu": "the mean of its numbers",
    r"\sigma": "their standard deviation",
    "m": "the mean of their squares",
    "s": "their standard deviation",
    r"\epsilon": "a small constant, against a division by 0",
    r"\gamma": "a learned factor, the gain",
    r"\beta": "a learned number, the bias",
    "D": "d_model, how many numbers a vector has",
}

SYMBOLS: Mapping[str, Mapping[str, str]] = {
    "embedding": {
        r"E_{\mathrm{id}}": "the token's row of the token table",
        "v": "the word's random vector",
        "P_t": "its position's row of the position table",
        "S_0": "the row of segment 0",
        r"\Delta_t": "your changes",
        "W_E": "a learned matrix",
        "b_E": "a learned vector",
        **_NORM,
    },
    "projections": {
        "W": "a learned matrix of this head",
        "b": "a learned vector",
        "x_t": "the vector of the query's token",
        "x_j": "the vector of the key's token",
    },
    "norm of q and k": {symbol: _NORM[symbol] for symbol in (r"\epsilon", r"\gamma")},
    "rotation": {"x_{t,i}": "number i of the query, or of the key, at position t", r"\theta_i": "the speed of pair i"},
    "dot products": {"q_t": "the query of token t", "k_j": "the key of token j", "i": "counts their numbers"},
    "scale": _SCORE | {r"d_\text{head}": "how many numbers q and k have"},
    "distance bias": _SCORE | {"m": "this head's slope", "b": "a learned number for this range of distances"},
    "mask": _SCORE,
    "softmax": _WEIGHT | {"s_{t,j}": "their score", "s_{t,i}": "the score with key i", "m": "the largest score"},
    "weighted sum": {"z_t": "the head's result for token t", **_WEIGHT, "v_j": "the value of token j"},
    "merge": {
        "c": "the merged heads",
        "z": "the heads' results",
        "H": "heads",
        "T": "tokens",
        "D": _NORM["D"],
    },
    "output projection": {"o_t": "attention's output", "W_O": "a learned matrix", "c_t": "the merged heads"},
    "residual": {
        "x_t": "the vector that entered the block",
        "o_t": "attention's output",
        "x'_t": "the vector after attention",
        "y_t": "the vector that entered the feed-forward network",
        "f_t": "the feed-forward network's output",
        "x''_t": "the vector after both",
    },
    "norm": {"x": "the vector before the norm", **_NORM, "y": "the vector after the norm"},
    "feed-forward": {
        "y_t": "the vector that enters",
        "W": "learned matrices",
        "b": "learned vectors",
        "u": "the hidden numbers before the activation",
        "g": "the gate",
        "h": "the hidden numbers after the activation",
        r"\Phi": "the share of a normal distribution below u",
        r"\sigma": "the sigmoid, 1 / (1 + exp(−u))",
        r"\odot": "number times number",
        "f_t": "the output",
    },
}
"""What the symbols of a stage's formulas stand for; residual connections, and norms, have the same."""


OF_A_HEAD = (
    "projections", "norm of q and k", "rotation", "dot products", "scale", "distance bias", "mask", "softmax",
    "weighted sum",
)  # fmt: skip
"""Stages that depend on the chosen head, and on the key or show it; the others depend on layer and query alone."""


def explain_symbols(stage: str, formulas: Sequence[str]) -> str:
    """A legend of the symbols in a stage's formulas, in markdown."""
    kind = stage if stage in SYMBOLS else "residual" if stage.endswith("residual") else "norm"
    written = " ".join(formulas)
    return " · ".join(
        f"${symbol}$: {words}"
        for symbol, words in SYMBOLS[kind].items()
        if re.search(rf"(?<![A-Za-z\\]){re.escape(symbol)}(?![A-Za-z])", written)
    )


def _work_out_stage(walk: Walk, stage: str) -> Iterator[Item]:
    step = work_out(walk, stage)
    yield Columns((tuple(map(Formula, step.formulas)), tuple(map(Formula, step.numbers))))
    yield Paragraph(explain_symbols(stage, step.formulas), "caption")
    destination = f" {_describe_destination(walk)}" if stage == order(walk.config)[-1] else ""
    agrees = (
        f"The largest difference from the model is {write_difference(step.off)}. The model rounds more: its numbers "
        "have 32 bits, those of this check 64."
        if step.off
        else "It agrees exactly."
    )
    yield Paragraph(
        f"A check: by these formulas, the stage was computed again from what the model put in. {agrees}{destination}",
        "caption",
    )
    yield from _show_changes(walk, list_changed_points(walk, stage))


def _describe_stage(walk: Walk, stage: str) -> str:
    """The idea of a stage, as this architecture has it."""
    config = walk.config
    if stage == "embedding" and not config.vocab_size:
        return "A word is a vector of random numbers, drawn from the seed and not learned. Positions may be added."
    if stage == "projections" and config.fused_qkv:
        return (
            "One learned map gives every token's query, key and value at once (`fused_qkv`). Its rows lie head by "
            "head: those of q, then of k, then of v."
        )
    if stage == "merge" and walk.merge_moves_results:
        return (
            "The heads' results lie in memory head by head. They are cut into vectors of d_model numbers as they lie "
            "(`head_merge = reshape`). Each vector then holds results of several tokens."
        )
    if stage == "output projection" and walk.merge_moves_results:
        return "One more learned map mixes the pieces of that vector, whichever heads and tokens they come from."
    if stage.endswith("residual") and not config.residual:
        return "There are no residual connections here: the output goes on alone."
    if stage.endswith("norm") and config.norm == "none":
        return "This encoder has no norms (`norm = none`): the vector goes on as it is."
    return STAGES[stage].idea


def _describe_destination(walk: Walk) -> str:
    """Where the vector goes that leaves the layer."""
    layer, config = walk.layer.layer, walk.config
    if layer < config.n_layers - 1:
        return f"This vector leaves layer {layer} and enters layer {layer + 1}."
    end = " Only the final norm follows." if config.final_norm else " It is the encoder's output for this token."
    return f"This vector leaves the last layer.{end}"


def _draw_vectors(
    key: str, rows: Mapping[str, Floats], caption: str, numbers: str = "number in the vector"
) -> Vectors[Walk]:
    """Vectors of the walk below one another, whose columns are `numbers`; `key` is the chart's name after `step_`."""
    alt = f"Heatmap of vectors: {', '.join(rows)}"
    return Vectors(
        key=f"step_{key}",
        alt=alt,
        caption=caption,
        rows=lambda _: rows,
        numbers=numbers,
        compares=False,
        table_title="All the numbers",
    )


def _draw_bars(
    walk: Walk,
    key: str,
    title: str,
    numbers: Callable[[Walk], Mapping[str, Floats]],
    caption: str,
    *,
    masked: bool = True,
    click: str = "",
    compares: bool = False,
) -> Bars[Walk]:
    """One number a key, as bars, by series; without those of masked keys, unless the mask is still to come."""

    def names(walk: Walk) -> list[str]:
        return token_names(walk.layer.run.tokens)

    def bars(walk: Walk) -> dict[str, dict[str, float]]:
        series = {}
        for name, row in numbers(walk).items():
            drawn = np.isfinite(row) & (walk.allowed | (not masked))
            series[name] = dict(zip(names(walk), np.where(drawn, row, np.nan).tolist(), strict=True))
        return series

    def table(walk: Walk) -> pd.DataFrame:
        columns = {name or title: row for name, row in numbers(walk).items()}
        return pd.DataFrame(columns, names(walk)).rename_axis("key")

    return Bars(
        key=f"step_{key}",
        alt=f"Bars: {title} of one query with every key",
        caption=caption,
        bars=bars,
        labels=Axis("key", place="key", options={"range": [-0.5, len(walk.allowed) - 0.5], "fixedrange": True}),
        value={"title": title, "fixedrange": True},
        colours=_BAR_COLOURS,
        horizontal=False,
        height=320,
        grey=(lambda walk: (~walk.allowed).tolist()) if masked else None,
        table=table,
        click=click,
        compares=compares,
    )


_BAR_COLOURS = {
    "": palette.ATTENTION,
    "changed": palette.ATTENTION,
    "computed": figures.faint(palette.ATTENTION, PALE),
}


def _draw_keys(
    walk: Walk, key: str, title: str, numbers: Callable[[Walk], Floats], reading: str, *, masked: bool = True
) -> Bars[Walk]:
    """One number a key, as bars; a click chooses the key."""
    _, chosen = _quote_tokens(walk)
    grey = " Grey places are masked keys." if masked and not walk.allowed.all() else ""
    caption = f"{reading} The frame marks the chosen key, {chosen}; click a bar to choose another.{grey}"
    if masked and not walk.allowed[walk.key]:
        caption = f"{reading} The chosen key, {chosen}, is masked: it has no bar.{grey}"
    return _draw_bars(
        walk,
        key,
        title,
        lambda walk: {"": numbers(walk)},
        caption,
        masked=masked,
        click="The chosen key. Arrow keys choose its neighbours.",
    )


def _draw_matrix(walk: Walk, key: str, title: str, reading: str, *, signed: bool) -> Heatmap[Walk]:
    """An array of the head with a row a query and a column a key: scores, or weights."""
    name = "attn.scores" if signed else "attn.pattern"
    chart: Heatmap[Walk] = head_map(
        key=f"step_{key}",
        alt=f"Heatmap: {title} of every query with every key",
        caption=f"{reading} The frame marks {' and '.join(_quote_tokens(walk))}; click a cell to choose others.",
        weights=lambda walk: walk.layer.computed(name)[walk.head],
        tokens=lambda walk: walk.layer.run.tokens,
        allowed=lambda walk: walk.layer.run.allowed_in(walk.layer.layer),
        colours=colour_scales.around_zero if signed else colour_scales.from_zero,
        bar=title,
        click="The chosen query, in its row, and key, in its column. Arrow keys move them.",
        compares=False,
    )
    asking = [None if padding else query for query, padding in enumerate(walk.layer.run.padding)]
    return replace(chart, rows=replace(chart.rows, numbers=lambda _: asking))


def _quote_tokens(walk: Walk) -> tuple[str, str]:
    """The query's and the key's token, as code."""
    tokens = walk.layer.run.tokens
    return quote_token(tokens[walk.query]), quote_token(tokens[walk.key])


def _show_embedding(walk: Walk) -> Iterator[Item]:
    """The vectors that add up to the embedding, and what enters a later layer."""
    layer, arrays = walk.layer, walk.layer.run.arrays
    rows = {"token": arrays["embed.tokens"][walk.query]}
    if "embed.positions" in layer.learned:
        rows["position"] = layer.learned["embed.positions"][walk.query]
    if "embed.segments" in layer.learned:
        rows["segment"] = layer.learned["embed.segments"]
    if (change := layer.run.change("embed.sum")) is not None:
        rows["your changes"] = change[walk.query]
    n = len(rows)
    has_norm = walk.config.embedding_norm and walk.config.norm != "none"
    total = ("*sum*" if has_norm else "*embedding*") if n > 1 else ""
    reading = f"The first {n} rows add up to the row {total}" if n > 1 else "Nothing is added to the token's vector"
    reading += "; a norm then rescales it, to the row *embedding*." if has_norm else "."
    if has_norm and n > 1:
        rows["sum"] = np.sum([*rows.values()], axis=0)
    if "position" in rows and (length := l2(rows["token"])) > 0:
        reading += f" The position's vector is {l2(rows['position']) / length:.3g} times as long as the token's."
    rows["embedding"] = layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]
    if layer.layer:
        rows[f"enters layer {layer.layer}"] = walk.first_sum[0]
        between = "layer 0 changes it" if layer.layer == 1 else f"layers 0 to {layer.layer - 1} change it in turn"
        reading += f" The embedding enters layer 0; {between}, and the last row is what enters layer {layer.layer}."
    yield _draw_vectors("embedding", rows, reading)


def _show_projections(walk: Walk) -> Iterator[Item]:
    """Queries, keys and values of every token, the chosen query and key framed."""
    query, key = _quote_tokens(walk)
    d_head = walk.config.head_width
    drawn = "" if d_head <= SHOWN else f"; the first {SHOWN} are drawn"
    yield Picture(
        key="step_projections",
        alt="Heatmaps of the head's queries, keys and values",
        caption=f"The queries, keys and values of head {walk.head}. A row is a token; a column is one of the head's "
        f"d_head = {d_head} numbers{drawn}. Frames mark q of {query}, k and v of {key}.",
        figure=draw_projections,
        table=lambda walk: pd.DataFrame(
            {name: matrix[_framed_row(walk, name)] for name, matrix in _project(walk).items()}
        ).rename_axis("number"),
        compares=False,
    )


def _project(walk: Walk) -> dict[str, Floats]:
    """The head's queries, keys and values, each (T, d_head), as the model computed them."""
    return {name: walk.layer.computed(f"attn.{name}")[walk.head] for name in "qkv"}


def _framed_row(walk: Walk, matrix: str) -> int:
    return walk.query if matrix == "q" else walk.key


def draw_projections(walk: Walk) -> Figure:
    """Queries, keys and values beside one another, a row a token; the chosen query's and the chosen key's framed."""
    drawn = {name: matrix[:, :SHOWN].astype(np.float32) for name, matrix in _project(walk).items()}
    colours = colour_scales.around_zero(list(drawn.values())).options
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    layout = {"yaxis": {**plain, "type": "category", "autorange": "reversed", "title": "token"}}
    traces, frames = [], []
    for place, (name, z) in enumerate(drawn.items()):
        axis = str(place + 1) if place else ""
        traces.append(
            {
                "type": "heatmap",
                "z": z,
                "y": token_labels(walk.layer.run.tokens),
                "xaxis": f"x{axis}",
                "hovertemplate": f"{name.upper()} of %{{y}}, number %{{x}}: %{{z:.4g}}<extra></extra>",
                "hoverongaps": False,
                "showscale": place == len(drawn) - 1,
                "colorbar": colour_bar("value"),
                **colours,
            }
        )
        title = {"text": f"<b>{name.upper()}</b>, first {z.shape[1]}", "font": {"color": _COLOURS[name]}}
        left = place * 0.34
        layout[f"xaxis{axis}"] = {**plain, "domain": [left, left + 0.32], "title": title}
        row = _framed_row(walk, name)
        frame = {"x0": -0.5, "x1": z.shape[1] - 0.5, "y0": row - 0.5, "y1": row + 0.5, "xref": f"x{axis}", "yref": "y"}
        frames.append({"type": "rect", **frame, "line": {"color": palette.FOCUS, "width": 3}})
    height = int(np.clip(130 + 20 * len(walk.allowed), 240, 560))
    return figures.style(traces, {**layout, "shapes": frames}, height=height)


_COLOURS = {"q": palette.Q, "k": palette.K, "v": palette.V}


def _show_query_key_norm(walk: Walk) -> Iterator[Item]:
    """The query and the key before and after their norm."""
    pairs = (("query", "q", walk.query), ("key", "k", walk.key))
    rows: dict[str, Floats] = {}
    for name, letter, token in pairs:
        rows |= {f"{name}, projected": walk.projected(letter)[token], f"{name}, normed": walk.normed(letter)[token]}
    lengths = [
        f"the {name}'s length goes from {l2(rows[f'{name}, projected']):.3g} to {l2(rows[f'{name}, normed']):.3g}"
        for name, _, _ in pairs
    ]
    yield _draw_vectors("norm_of_q_and_k", rows, f"Here {lengths[0]}, and {lengths[1]}.")


def _show_rotation(walk: Walk) -> Iterator[Item]:
    """The query and the key before and after their rotation, each in two halves: a pair stands in one column."""
    speed = walk.rotary_frequencies()
    rows, half = dict[str, Floats](), len(speed)
    for name, letter, token in (("query", "q", walk.query), ("key", "k", walk.key)):
        turned = walk.layer.computed(f"attn.{letter}")[walk.head, token]
        for title, vector in ((name, walk.normed(letter)[token]), (f"{name} at {token}", turned)):
            rows |= {f"{title}, from {i * half}": vector[i * half : (i + 1) * half] for i in range(2)}
    reading = (
        f"A vector has two rows, so that its pairs stand below one another: numbers 0 and {half}, 1 and {half + 1}, "
        "and so on. The fastest pair turns by "
        f"{speed[0]:.3g} radian from one token to the next, the slowest by {speed[-1]:.2g}: it repeats after "
        f"{2 * np.pi / speed[-1]:,.0f} tokens. Lengths stay as they are."
    )
    yield _draw_vectors("rotation", rows, reading)


def _show_position_bias(walk: Walk) -> Iterator[Item]:
    """What the query's scores get by distance."""
    query, _ = _quote_tokens(walk)
    bias = walk.position_bias()
    what = "A slope of this head alone, times the distance" if walk.config.positions == "alibi" else "A learned number"
    reading = f"{what}, is added to {query}'s score with each key: from {bias.min():.3g} to {bias.max():.3g}."
    yield _draw_keys(walk, "distance_bias", "added by distance", Walk.position_bias, reading, masked=False)


def _show_dot_products(walk: Walk) -> Iterator[Item]:
    """Query times key, number by number, and the dot product with every key."""
    query, key = _quote_tokens(walk)
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    reading = f"The query of {query} and the key of {key}. The last row adds up to their *dot product*."
    products = _draw_vectors("products", {"q": q, "k": k, "q × k": q * k}, reading)
    reading = f"The dot product of {query}'s query with every key."
    yield products
    yield _draw_keys(walk, "dot_products", "q · k", Walk.dot_products, reading, masked=False)


def _show_scale(walk: Walk) -> Iterator[Item]:
    """The dot products divided by √d_head."""
    before, after = walk.dot_products().std(), walk.scaled().std()
    reading = (
        f"The dot products, divided by √{walk.config.head_width} = {walk.config.head_width**0.5:.4g}. "
        f"Their standard deviation goes from {before:.3g} to {after:.3g}."
    )
    yield _draw_keys(walk, "scale", "q · k / √d_head", Walk.scaled, reading, masked=False)


def _show_mask(walk: Walk) -> Iterator[Item]:
    """Every query's scores, with what the mask hides."""
    later, padding = walk.hidden()
    reasons = [f"{later} later in the sentence (the mask is causal)"] * (later > 0)
    reasons += [f"{padding} of padding (which is no word)"] * (padding > 0)
    query, _ = _quote_tokens(walk)
    window = walk.config.window_of(walk.layer.layer)
    if window and (far := int((~walk.allowed & ~walk.layer.run.padding).sum()) - later) > 0:
        reasons.append(f"{far} further away than {window // 2} tokens (this layer's window)")
    hidden = f"Keys hidden from {query}: {', '.join(reasons)}." if reasons else f"No key is hidden from {query}."
    grey = "" if walk.allowed.all() else "; grey is −∞"
    reading = f"The scores of every query with every key{grey}. {hidden}"
    yield _draw_matrix(walk, "mask", "score", reading, signed=True)


def _show_softmax(walk: Walk) -> Iterator[Item]:
    """The query's weights, and every other query's beside them."""
    query, _ = _quote_tokens(walk)
    weights = walk.computed("attn.pattern")
    heaviest = quote_token(walk.layer.run.tokens[int(weights.argmax())])
    reading = (
        f"{query} attends most to {heaviest}, with weight {weights.max():.3f}. "
        f"All its weights add up to {weights.sum():.4f}."
    )
    row = _draw_keys(walk, "softmax", "attention weight", lambda walk: walk.computed("attn.pattern"), reading)
    reading = f"The weights of every query: the *pattern* of head {walk.head}. Each row adds up to 1."
    yield Columns(((row,), (_draw_matrix(walk, "pattern", "weight", reading, signed=False),)))


def _show_weighted_sum(walk: Walk) -> Iterator[Item]:
    """What each key's value adds to the head's result."""
    weights, values = walk.of_query("attn.pattern"), walk.layer["attn.v"][walk.head]
    names = token_names(walk.layer.run.tokens)
    by_weight = np.argsort(weights)[::-1]
    drawn, others = by_weight[: MOST_VECTORS - 2], by_weight[MOST_VECTORS - 2 :]
    rows = {f"{weights[i]:.3f} × {names[i]}": weights[i] * values[i] for i in drawn}
    if others.size:
        rows[f"the {others.size} others"] = weights[others] @ values[others]
    rows["z, their sum"] = walk.computed("attn.z")
    reading = "Each row is one key's value times its weight, the heaviest first. The last row is their sum."
    yield _draw_vectors("weighted_sum", rows, reading)


def _show_merge(walk: Walk) -> Iterator[Item]:
    """The pieces that the merged vector is made of."""
    names, z = token_names(walk.layer.run.tokens), walk.layer["attn.z"]
    pieces = walk.pieces()
    reading = (
        f"{len(pieces)} pieces of {walk.config.head_width} numbers. Read row after row, they are the merged vector."
    )
    if walk.merge_moves_results:
        strangers = sum(token != walk.query for _, token in pieces)
        reading += (
            " **Heads and positions are scrambled**: the reshape does not move the head axis back, as in "
            "tutorial C · Explanation. "
            f"{strangers} of {len(pieces)} pieces here come from other tokens, and no mask stops them."
        )
    if len(pieces) > MOST_VECTORS:
        reading += f" The first {MOST_VECTORS} pieces are drawn."
    yield _draw_vectors("merge", {f"head {head}, {names[token]}": z[head, token] for head, token in pieces}, reading)


def _show_output_projection(walk: Walk) -> Iterator[Item]:
    """The merged vector before W_O, and what W_O makes of it: columns of the two have nothing in common."""
    merged, output = walk.layer.merged[walk.query], walk.computed("attn.out")
    reading = "What goes in: the heads' results, end to end."
    yield _draw_vectors("merged_heads", {"merged heads": merged}, reading, "number in the merged heads")
    reading = f"What comes out. Each of its numbers depends on all {merged.size:,} numbers that go in."
    yield _draw_vectors("output_projection", {"attention's output": output}, reading)


def _show_residual(walk: Walk, number: Literal[1, 2]) -> Iterator[Item]:
    """The output of attention or of the feed-forward, what it is added to, and what goes on."""
    if number == 1:
        key, names, vectors, result = "first", ("into the block", "attention's output"), walk.first_sum, "resid_mid"
    else:
        key, names, vectors, result = (
            "second",
            ("vector so far", "feed-forward's output"),
            walk.second_sum,
            "resid_post",
        )
    stream, added = map(l2, vectors)
    action = "They are added, number by number." if walk.config.residual else "Only the second goes on."
    reading = f"The first vector has length {stream:.3g}, the second {added:.3g}. {action}"
    rows = dict(zip(names, vectors, strict=True))
    yield _draw_vectors(f"{key}_residual", rows | {"goes on": walk.computed(result)}, reading)


_NORM_KEYS = {
    "norm1": "first_norm",
    "norm2": "second_norm",
    "post_norm1": "norm_after_attention",
    "post_norm2": "norm_after_feed_forward",
}
"""The charts of norms, by the norms' names."""


def _show_norm(walk: Walk, name: str) -> Iterator[Item]:
    """The vector before and after one of the block's norms."""
    before, after = walk.of_query(f"{name}.in"), walk.of_query(f"{name}.out")
    if not walk.config.has_norm1(walk.layer.layer) and name == "norm1":
        yield _draw_vectors("first_norm", {"goes on": after}, "This layer has no norm here: nothing is changed.")
        return
    output = {"rms": "after gain", "none": "after"}.get(walk.config.norm, "after gain and bias")
    rows = {"before": before, "normalised": walk.of_query(f"{name}.normalized"), output: after}
    deviations = ", ".join(f"{vector.std():.3g} *{name}*" for name, vector in rows.items())
    reading = f"The standard deviation of the {before.size:,} numbers in each row: {deviations}."
    yield _draw_vectors(_NORM_KEYS[name], rows, reading)


def _show_feed_forward(walk: Walk) -> Iterator[Item]:
    """The feed-forward's input and output; apart from them its hidden features, before and after the activation."""
    hidden, output = walk.of_query("ffn.hidden"), walk.computed("ffn.out")
    quiet = int((np.abs(hidden) < 0.01).sum())
    ends = {"input y": walk.of_query("ffn.in"), "output f": output}
    reading = f"What goes in and what comes out: d_model = {output.size:,} numbers each."
    yield _draw_vectors("feed_forward", ends, reading)
    between = {
        "u, before activation": walk.of_query("ffn.up"),
        **({"g, the gate": walk.of_query("ffn.gate")} if walk.config.gated else {}),
        "h, after activation and gate" if walk.config.gated else "h, after activation": hidden,
    }
    reading = (
        f"In between: d_ff = {hidden.size:,} hidden numbers, which are not those above. "
        f"After {walk.config.activation}, {quiet:,} of them are almost silent: they lie within ±0.01."
    )
    yield _draw_vectors("hidden_features", between, reading, "hidden number")


@dataclass(frozen=True)
class Stage:
    """A stage of the computation."""

    idea: str
    show: Callable[[Walk], Iterator[Item]]
    """Its charts."""
    result: Callable[[Walk], Mapping[str, Floats]]
    """The vectors that it gives, by their names."""
    is_by_key: bool = False
    """Whether its result is one number a key."""


def _row(name: str, point: str) -> Callable[[Walk], Mapping[str, Floats]]:
    """The query's row at a point of the layer, as the result of this name."""
    return lambda walk: {name: walk.of_query(point)}


STAGES: Mapping[str, Stage] = {
    "embedding": Stage(
        "A token becomes a vector: its row of the token table. Vectors for its position, and for its *segment*, the "
        "first or the second text of a pair, may be added. That happens once, before layer 0.",
        _show_embedding,
        lambda walk: {"embedding": walk.layer.run.arrays["embed.out"][walk.query]},
    ),
    "projections": Stage(
        "Three learned maps turn every token's vector into a query, a key and a value.",
        _show_projections,
        lambda walk: {name: walk.layer[f"attn.{name}"][walk.head, _framed_row(walk, name)] for name in "qkv"},
    ),
    "norm of q and k": Stage(
        "Each head's queries and keys are divided by their root mean square: no score grows with their lengths.",
        _show_query_key_norm,
        lambda walk: {"query": walk.normed("q")[walk.query], "key": walk.normed("k")[walk.key]},
    ),
    "rotation": Stage(
        "Pairs of numbers turn by the token's position times a speed of their own. The product of two turned vectors "
        "depends on how far apart they stand, and on no position alone.",
        _show_rotation,
        lambda walk: {
            "query": walk.layer["attn.q"][walk.head, walk.query],
            "key": walk.layer["attn.k"][walk.head, walk.key],
        },
    ),
    "dot products": Stage(
        "The query is compared with every key. The more they point the same way, the larger the product.",
        _show_dot_products,
        lambda walk: {"q · k": walk.dot_products()},
        is_by_key=True,
    ),
    "scale": Stage(
        "A sum of more products spreads wider. Dividing by √d_head keeps the softmax from being all or nothing.",
        _show_scale,
        lambda walk: {"q · k / √d_head": walk.scaled()},
        is_by_key=True,
    ),
    "distance bias": Stage(
        "Each score gets a number by how far away the key stands, whatever the words are.",
        _show_position_bias,
        lambda walk: {"score": walk.unmasked()},
        is_by_key=True,
    ),
    "mask": Stage(
        "A key that the query may not see gets the score −∞. The softmax turns it into a weight of 0.",
        _show_mask,
        _row("score", "attn.scores"),
        is_by_key=True,
    ),
    "softmax": Stage(
        "The softmax divides powers of e by their sum. The weights lie between 0 and 1 and add up to 1. "
        "Subtracting the largest score first changes no weight; it keeps the powers small.",
        _show_softmax,
        _row("attention weight", "attn.pattern"),
        is_by_key=True,
    ),
    "weighted sum": Stage(
        "Every value counts as much as the weight of its key.", _show_weighted_sum, _row("z", "attn.z")
    ),
    "merge": Stage(
        "The heads' results are joined end to end. They are one vector of d_model numbers again.",
        _show_merge,
        lambda walk: {"merged heads": walk.layer.merged[walk.query]},
    ),
    "output projection": Stage(
        "One more learned map mixes the results of the heads.",
        _show_output_projection,
        _row("attention's output", "attn.out"),
    ),
    "norm after attention": Stage(
        "A norm stands behind attention too: what is added to the vector has a common scale.",
        partial(_show_norm, name="post_norm1"),
        _row("after", "post_norm1.out"),
    ),
    "first residual": Stage(
        "A *residual connection* adds attention's output to the vector that entered the block.",
        partial(_show_residual, number=1),
        _row("goes on", "resid_mid"),
    ),
    "first norm": Stage(
        "A *norm* brings the vector to a common scale. Learned numbers then stretch it, and may shift it.",
        partial(_show_norm, name="norm1"),
        _row("after", "norm1.out"),
    ),
    "feed-forward": Stage(
        "The feed-forward network treats each token alone: its vector becomes *hidden numbers*, d_ff of them; they "
        "pass the activation, and become a vector again.",
        _show_feed_forward,
        _row("output f", "ffn.out"),
    ),
    "norm after feed-forward": Stage(
        "A norm stands behind the feed-forward network too: what is added to the vector has a common scale.",
        partial(_show_norm, name="post_norm2"),
        _row("after", "post_norm2.out"),
    ),
    "second residual": Stage(
        "A second residual connection adds the feed-forward network's output to the vector so far.",
        partial(_show_residual, number=2),
        _row("goes on", "resid_post"),
    ),
    "second norm": Stage(
        "A second norm brings the vector to a common scale once more.",
        partial(_show_norm, name="norm2"),
        _row("after", "norm2.out"),
    ),
}


def _compare_results(now: Walk, pinned: Walk, stage: str) -> Item:
    """What a stage gives in both settings, for the same token in the same place, with the differences."""
    result = STAGES[stage].result
    before, after = result(pinned), result(now)
    if not STAGES[stage].is_by_key:
        told = [f"*{name}*: {describe_vector_change(before[name], vector)}" for name, vector in after.items()]
        alt = f"Heatmap of vectors, pinned and now: {', '.join(after)}"
        return Vectors(key="step_pinned", alt=alt, caption=" ".join(told), rows=result)
    ((title, numbers),) = after.items()
    change = describe_vector_change(before[title], numbers, token_names(now.layer.run.tokens))
    return _draw_bars(
        now,
        "pinned",
        title,
        lambda walk: {"": result(walk)[title]},
        escape_markdown(change),
        masked=stage in ("mask", "softmax"),
        compares=True,
    )


def _show_changes(walk: Walk, points: list[ChangedPoint]) -> Iterator[Item]:
    """The changes that act on this walk's numbers at these points, and the numbers before and after them."""
    if not points:
        return
    changes = dict.fromkeys(change for point in points for change in point.changes)
    names = "; ".join(escape_markdown(name_change(change, walk.layer.run.tokens)) for change in changes)
    yield Paragraph(f"**What if: here your changes act.** {names}. The model goes on with what they set.")
    for point in points:
        yield from map(Formula, point.formulas)
    title = {"attn.scores": "score", "attn.pattern": "attention weight"}.get(points[0].point)
    if title is None:
        yield _draw_changed_vectors(points)
    else:
        yield _draw_changed_keys(walk, points[0], title)


def _draw_changed_keys(walk: Walk, point: ChangedPoint, title: str) -> Bars[Walk]:
    """One number a key before and after, as pairs of bars; −∞ has none."""
    infinite = " A key whose score is −∞ has no bar." if not np.isfinite(point.after[walk.allowed]).all() else ""
    total = f" The weights add up to {point.after.sum():.4g} now." if title == "attention weight" else ""
    caption = (
        f"The {title} of every key as your changes set it; the paler bar beside each is what the model computed."
        f"{infinite}{total}"
    )
    both = {"changed": point.after, "computed": point.before}
    return _draw_bars(walk, "changed", title, lambda _: both, caption)


def _draw_changed_vectors(points: list[ChangedPoint]) -> Vectors[Walk]:
    """The vectors before and after, and what was added."""
    rows: dict[str, Floats] = {}
    for point in points:
        name = point.symbol.partition("_")[0]
        rows |= {f"{name}, computed": point.before, f"{name}, changed": point.after}
        rows[f"{name}, changed − computed"] = point.after - point.before
    caption = "What the model computed, what your changes set instead, and the difference."
    return _draw_vectors("changed", rows, caption)


@dataclass(frozen=True)
class DroppedWalk:
    """A walk through a layer in eval mode, and the layer's pass in train mode."""

    walk: Walk
    dropped: DroppedRun
    seed: int
    """Of the draw."""

    def drops(self) -> dict[str, tuple[Floats, Floats]]:
        """The query's numbers before and after every dropout on its way."""
        found = {}
        for point, drop in self.dropped.drops.items():
            place = (self.walk.head, self.walk.query) if drop.before.ndim == 3 else self.walk.query
            found[point] = (drop.before[place], drop.after[place])
        return found


def show_dropout(scene: Scene[DroppedWalk], _options: Options) -> Iterator[Item]:
    """What every dropout does to the query's numbers, how far its output moves, and which tutorials drop where."""
    walk = scene.now.walk
    p, output = walk.config.dropout, walk.of_query("out")
    dropped = scene.now.dropped.run.arrays[f"layers.{walk.layer.layer}.out"][walk.query]
    moved = l2(dropped - output) / l2(output)
    yield Picture(
        key="step_drops",
        alt="Heatmap: what each number was multiplied by at every dropout",
        caption=f"During training, *dropout* sets each number to 0 with probability p = {p:g}. It multiplies the "
        f"others by 1 / (1 − p) = {1 / (1 - p):.4g}. The draw is random; the sidebar's seed {scene.now.seed} repeats "
        "it. Cells show the factors; the strongest colour is a factor of 0, and gaps were 0 before. Together with the "
        f"dropout in the layers below, this moves the layer's output for this token by {moved:.0%} of its length. "
        "All stages above are computed without dropout, as after training.",
        figure=lambda subject: draw_drops(subject.drops()),
    )
    yield Table(key="step_drops_where", frame=_list_drops)


def draw_drops(rows: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Vectors (before, after) dropout, the first 2 · SHOWN numbers of each: what they were multiplied by.

    What was dropped stands out; what was 0 before stays empty.
    """
    n = min(2 * SHOWN, max(len(before) for before, _ in rows.values()))
    factors = np.full((len(rows), n), np.nan, dtype=np.float32)
    both = np.full((len(rows), n, 2), np.nan, dtype=np.float32)
    for row, pair, (before, after) in zip(factors, both, rows.values(), strict=True):
        m = min(n, len(before))
        np.divide(after[:m], before[:m], where=before[:m] != 0, out=row[:m])
        pair[:m] = np.stack([before[:m], after[:m]], axis=-1)
    look = {"texttemplate": "%{z:.2f}", "customdata": both, "showscale": False}
    look |= {"zmin": 0, "zmax": max(1.0, colour_scales.largest(factors)), "reversescale": True}
    hover = "%{customdata[0]:.4g} → %{customdata[1]:.4g}"
    return figures.number_cells(factors, list(rows), hover, look, height=100 + 34 * len(rows))


def _list_drops(subject: DroppedWalk) -> pd.DataFrame:
    zeroed = [
        f"{np.sum((after == 0) & (before != 0)):,} of {before.size:,}" for before, after in subject.drops().values()
    ]
    table = {"zeroed here": zeroed} | {
        SHORT_TITLES[letter]: ["✓" if point in points else "–" for point in DROPOUT_PLACES]
        for letter, points in TUTORIAL_DROPOUTS.items()
    }
    return pd.DataFrame(table, list(DROPOUT_PLACES)).rename_axis("dropout")
