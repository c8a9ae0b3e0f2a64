"""The stages by name: each one's charts and its result, from the embedding to the end of the layer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Columns, Item, Picture
from playground.charts.draw.heatmap import MOST_VECTORS, SHOWN
from playground.charts.figure import Figure, colour_bar
from playground.charts.names import quote_token, token_labels, token_names
from playground.views.steps.charts import draw_keys, draw_matrix, draw_vectors, quote_tokens
from playground.words import say


@dataclass(frozen=True)
class Stage:
    """A stage of the computation."""

    show: Callable[[Walk], Iterator[Item]]
    """Its charts."""
    result: Callable[[Walk], Mapping[str, Floats]]
    """The vectors that it gives, by their names."""
    is_of_head: bool = False
    """Whether it depends on the chosen head and shows the key; the others depend on layer and query alone."""
    is_by_key: bool = False
    """Whether its result is one number a key."""
    has_mask: bool = False
    """Whether masked keys have no such number."""


def find_idea(walk: Walk, stage: str) -> str:
    """The message that has a stage's idea in this architecture."""
    config = walk.config
    special = {
        "embedding": ("vectors", not config.vocab_size),
        "projections": ("fused", config.fused_qkv),
        "merge": ("reshape", walk.merge_moves_results),
    }
    if "residual" in stage and not config.residual:
        return "no-residual"
    if "norm " in f"{stage} " and stage != "norm of q and k" and config.norm == "none":
        return "no-norm"
    name, is_special = special.get(stage, ("", False))
    return name if is_special else stage.replace(" ", "-")


def show_embedding(walk: Walk) -> Iterator[Item]:
    """The vectors that add up to the embedding, and what enters a later layer."""
    layer, arrays = walk.layer, walk.layer.run.arrays
    rows = {"token": arrays["embed.tokens"][walk.query]}
    if "embed.positions" in layer.learned:
        rows["position"] = layer.learned["embed.positions"][walk.query]
    if "embed.segments" in layer.learned:
        rows["segment"] = layer.learned["embed.segments"]
    if (change := layer.run.change("embed.sum")) is not None:
        rows["your changes"] = change[walk.query]
    rows["sum"] = np.sum([*rows.values()], axis=0)
    rows["embedding"] = layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]
    if layer.layer:
        rows[f"enters layer {layer.layer}"] = walk.first_sum[0]
    yield draw_vectors("embedding", rows)


def show_projections(walk: Walk) -> Iterator[Item]:
    """Queries, keys and values of every token, the chosen query and key framed."""
    query, key = quote_tokens(walk)
    width = walk.config.head_width
    yield Picture(
        key="step_projections",
        alt=say("steps", "projections.alt"),
        caption=say("steps", "projections", head=walk.head, width=width, drawn=min(width, SHOWN), query=query, key=key),
        figure=draw_projections,
        table=lambda walk: pd.DataFrame(
            {name: matrix[framed_row(walk, name)] for name, matrix in _project(walk).items()}
        ).rename_axis("number"),
        compares=False,
    )


def _project(walk: Walk) -> dict[str, Floats]:
    """The head's queries, keys and values, each (T, d_head), as the model computed them."""
    return {name: walk.layer.computed(f"attn.{name}")[walk.head] for name in "qkv"}


def framed_row(walk: Walk, matrix: str) -> int:
    """The token whose row of `q`, `k` or `v` the walk goes through: the query's of q, the key's of the others."""
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
        row = framed_row(walk, name)
        frame = {"x0": -0.5, "x1": z.shape[1] - 0.5, "y0": row - 0.5, "y1": row + 0.5, "xref": f"x{axis}", "yref": "y"}
        frames.append({"type": "rect", **frame, "line": {"color": palette.FOCUS, "width": 3}})
    height = int(np.clip(130 + 20 * len(walk.allowed), 240, 560))
    return figures.style(traces, {**layout, "shapes": frames}, height=height)


_COLOURS = {"q": palette.Q, "k": palette.K, "v": palette.V}


def show_query_key_norm(walk: Walk) -> Iterator[Item]:
    """The query and the key before and after their norm."""
    rows: dict[str, Floats] = {}
    for name, letter, token in (("query", "q", walk.query), ("key", "k", walk.key)):
        rows |= {f"{name}, projected": walk.projected(letter)[token], f"{name}, normed": walk.normed(letter)[token]}
    names = ("query", "query_after", "key", "key_after")
    lengths: dict[str, Any] = dict(zip(names, map(l2, rows.values()), strict=True))
    yield draw_vectors("norm_of_q_and_k", rows, **lengths)


def show_rotation(walk: Walk) -> Iterator[Item]:
    """The query and the key before and after their rotation, each in two halves: a pair stands in one column."""
    speed = walk.rotary_frequencies()
    rows, half = dict[str, Floats](), len(speed)
    for name, letter, token in (("query", "q", walk.query), ("key", "k", walk.key)):
        turned = walk.layer.computed(f"attn.{letter}")[walk.head, token]
        for title, vector in ((name, walk.normed(letter)[token]), (f"{name} at {token}", turned)):
            rows |= {f"{title}, from {i * half}": vector[i * half : (i + 1) * half] for i in range(2)}
    period = f"{2 * np.pi / speed[-1]:,.0f}"
    yield draw_vectors("rotation", rows, half=half, fastest=speed[0], slowest=speed[-1], period=period)


def show_position_bias(walk: Walk) -> Iterator[Item]:
    """What the query's scores get by distance."""
    bias = walk.position_bias()
    yield draw_keys(
        walk, "distance_bias", "added by distance", Walk.position_bias, lowest=bias.min(), highest=bias.max()
    )


def show_dot_products(walk: Walk) -> Iterator[Item]:
    """Query times key, number by number, and the dot product with every key."""
    query, key = quote_tokens(walk)
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    yield draw_vectors("products", {"q": q, "k": k, "q × k": q * k}, query=query, key=key)
    yield draw_keys(walk, "dot_products", "q · k", Walk.dot_products)


def show_scale(walk: Walk) -> Iterator[Item]:
    """The dot products divided by √d_head."""
    width, before, after = walk.config.head_width, walk.dot_products().std(), walk.scaled().std()
    numbers = {"width": width, "divisor": width**0.5, "before": before, "after": after}
    yield draw_keys(walk, "scale", "q · k / √d_head", Walk.scaled, **numbers)


def show_mask(walk: Walk) -> Iterator[Item]:
    """Every query's scores, with what the mask hides."""
    query, _ = quote_tokens(walk)
    caption = say("steps", "mask", query=query, hidden=int((~walk.allowed).sum()), keys=len(walk.allowed))
    yield draw_matrix(walk, "mask", "score", caption, signed=True)


def show_softmax(walk: Walk) -> Iterator[Item]:
    """The query's weights, and every other query's beside them."""

    def weights(walk: Walk) -> Floats:
        return walk.computed("attn.pattern")

    row = weights(walk)
    heaviest = quote_token(walk.layer.run.tokens[int(row.argmax())])
    bars = draw_keys(
        walk, "softmax", "attention weight", weights, masked=True, heaviest=heaviest, weight=row.max(), total=row.sum()
    )
    pattern = draw_matrix(walk, "pattern", "weight", say("steps", "pattern", head=walk.head), signed=False)
    yield Columns(((bars,), (pattern,)))


def show_weighted_sum(walk: Walk) -> Iterator[Item]:
    """What each key's value adds to the head's result."""
    weights, values = walk.of_query("attn.pattern"), walk.layer["attn.v"][walk.head]
    names = token_names(walk.layer.run.tokens)
    by_weight = np.argsort(weights)[::-1]
    drawn, others = by_weight[: MOST_VECTORS - 2], by_weight[MOST_VECTORS - 2 :]
    rows = {f"{weights[i]:.3f} × {names[i]}": weights[i] * values[i] for i in drawn}
    if others.size:
        rows[f"the {others.size} others"] = weights[others] @ values[others]
    rows["z, their sum"] = walk.computed("attn.z")
    yield draw_vectors("weighted_sum", rows)


def show_merge(walk: Walk) -> Iterator[Item]:
    """The pieces that the merged vector is made of."""
    names, z, pieces = token_names(walk.layer.run.tokens), walk.layer["attn.z"], walk.pieces()
    rows = {f"head {head}, {names[token]}": z[head, token] for head, token in pieces}
    others = sum(token != walk.query for _, token in pieces)
    width, most = walk.config.head_width, min(len(pieces), MOST_VECTORS)
    yield draw_vectors("merge", rows, pieces=len(pieces), width=width, others=others, drawn=most)


def show_output_projection(walk: Walk) -> Iterator[Item]:
    """The merged vector before W_O, and what W_O makes of it: columns of the two have nothing in common."""
    merged, output = walk.layer.merged[walk.query], walk.computed("attn.out")
    yield draw_vectors("merged_heads", {"merged heads": merged}, numbers="number in the merged heads")
    yield draw_vectors("output_projection", {"attention's output": output}, width=merged.size)


def show_residual(
    walk: Walk, key: str, names: tuple[str, str], vectors: Callable[[Walk], tuple[Floats, Floats]], result: str
) -> Iterator[Item]:
    """A vector so far, what comes to it, and what goes on; `names` are of the first two, `result` the last's point."""
    stream, added = vectors(walk)
    rows = {**dict(zip(names, (stream, added), strict=True)), "goes on": walk.computed(result)}
    yield draw_vectors(key, rows, stream=l2(stream), added=l2(added))


def show_norm(walk: Walk, key: str, name: str) -> Iterator[Item]:
    """The vector before and after one of the block's norms."""
    after = walk.of_query(f"{name}.out")
    if not walk.config.has_norm1(walk.layer.layer) and name == "norm1":
        before, rows = after, {"goes on": after}
    else:
        before = walk.of_query(f"{name}.in")
        rows = {"before": before, "normalised": walk.of_query(f"{name}.normalized"), "after": after}
    yield draw_vectors(key, rows, before=before.std(), after=after.std())


def show_feed_forward(walk: Walk) -> Iterator[Item]:
    """The feed-forward's input and output; apart from them its hidden features, before and after the activation."""
    hidden, output = walk.of_query("ffn.hidden"), walk.computed("ffn.out")
    yield draw_vectors("feed_forward", {"input y": walk.of_query("ffn.in"), "output f": output}, width=output.size)
    between = {
        "u, before activation": walk.of_query("ffn.up"),
        **({"g, the gate": walk.of_query("ffn.gate")} if walk.config.gated else {}),
        "h, after activation": hidden,
    }
    quiet = int((np.abs(hidden) < 0.01).sum())
    yield draw_vectors("hidden_features", between, numbers="hidden number", width=hidden.size, quiet=quiet)


def _row(name: str, point: str) -> Callable[[Walk], Mapping[str, Floats]]:
    """The query's row at a point of the layer, as the result of this name."""
    return lambda walk: {name: walk.of_query(point)}


def _norm(key: str, name: str) -> Stage:
    """A norm of the block, by its name in the trace; `key` is its chart's."""
    return Stage(partial(show_norm, key=key, name=name), _row("after", f"{name}.out"))


def _residual(key: str, names: tuple[str, str], vectors: Callable[[Walk], tuple[Floats, Floats]], result: str) -> Stage:
    """A residual connection; arguments as of `show_residual`."""
    return Stage(partial(show_residual, key=key, names=names, vectors=vectors, result=result), _row("goes on", result))


_of_head = partial(Stage, is_of_head=True)
_by_key = partial(Stage, is_of_head=True, is_by_key=True)

STAGES: Mapping[str, Stage] = {
    "embedding": Stage(show_embedding, lambda walk: {"embedding": walk.layer.run.arrays["embed.out"][walk.query]}),
    "projections": _of_head(
        show_projections,
        lambda walk: {name: walk.layer[f"attn.{name}"][walk.head, framed_row(walk, name)] for name in "qkv"},
    ),
    "norm of q and k": _of_head(
        show_query_key_norm,
        lambda walk: {"query": walk.normed("q")[walk.query], "key": walk.normed("k")[walk.key]},
    ),
    "rotation": _of_head(
        show_rotation,
        lambda walk: {
            "query": walk.layer["attn.q"][walk.head, walk.query],
            "key": walk.layer["attn.k"][walk.head, walk.key],
        },
    ),
    "dot products": _by_key(show_dot_products, lambda walk: {"q · k": walk.dot_products()}),
    "scale": _by_key(show_scale, lambda walk: {"q · k / √d_head": walk.scaled()}),
    "distance bias": _by_key(show_position_bias, lambda walk: {"score": walk.unmasked()}),
    "mask": _by_key(show_mask, _row("score", "attn.scores"), has_mask=True),
    "softmax": _by_key(show_softmax, _row("attention weight", "attn.pattern"), has_mask=True),
    "weighted sum": _of_head(show_weighted_sum, _row("z", "attn.z")),
    "merge": Stage(show_merge, lambda walk: {"merged heads": walk.layer.merged[walk.query]}),
    "output projection": Stage(show_output_projection, _row("attention's output", "attn.out")),
    "norm after attention": _norm("norm_after_attention", "post_norm1"),
    "first residual": _residual(
        "first_residual", ("into the block", "attention's output"), lambda walk: walk.first_sum, "resid_mid"
    ),
    "first norm": _norm("first_norm", "norm1"),
    "feed-forward": Stage(show_feed_forward, _row("output f", "ffn.out")),
    "norm after feed-forward": _norm("norm_after_feed_forward", "post_norm2"),
    "second residual": _residual(
        "second_residual", ("vector so far", "feed-forward's output"), lambda walk: walk.second_sum, "resid_post"
    ),
    "second norm": _norm("second_norm", "norm2"),
}
