"""The stages of a layer by name: each one's charts and its result, from the embedding to the end."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.streams import l2
from playground.analysis.walkthrough import Walk
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, Bars, Columns, Heatmap, Item, Vectors, token_axis
from playground.charts.draw.heatmap import MOST_VECTORS, SHOWN
from playground.charts.figure import PALE, Array
from playground.charts.heads import CLICK_CELL, head_map
from playground.charts.names import quote_token, token_names
from playground.runs.arrays import Floats
from playground.words import say

Numbers = Callable[[Walk], Mapping[str, Floats]]
"""Vectors of a walk by their names."""


def find_idea(walk: Walk, stage: str) -> str:
    """Return the message of a stage's idea in this architecture."""
    config = walk.config
    special = {
        "embedding": ("vectors", not config.vocab_size),
        "projections": ("fused" if config.fused_qkv else config.tied, config.fused_qkv or config.tied != "separate"),
        "merge": ("reshape", walk.merge_moves_results),
    }
    if "residual" in stage and not config.residual:
        return "no-residual"
    if "norm " in f"{stage} " and stage != "norm of q and k" and config.norm == "none":
        return "no-norm"
    name, is_special = special.get(stage, ("", False))
    return name if is_special else stage.replace(" ", "-")


# --- charts that stages share


def draw_vectors(
    walk: Walk, key: str, rows: Numbers, /, *, numbers: str = "number in the vector", **values: Any
) -> Vectors[Walk]:
    """Draw vectors below one another; `values` are the caption's."""
    return Vectors(
        key=f"step_{key}",
        alt=say("steps", "vectors.alt", names=", ".join(rows(walk))),
        caption=say("steps", f"vectors-{key.replace('_', '-')}", **values),
        rows=rows,
        numbers=numbers,
        compares=False,
    )


def draw_bars(
    walk: Walk, key: str, title: str, numbers: Numbers, caption: str, *, masked: bool = True, click: str = ""
) -> Bars[Walk]:
    """Draw one number a key, by series."""

    def table(walk: Walk) -> pd.DataFrame:
        names = token_names(walk.layer.run.tokens)
        return pd.DataFrame({name or title: row for name, row in numbers(walk).items()}, names).rename_axis("key")

    def bars(walk: Walk) -> dict[str, dict[str, float]]:
        names, shown = token_names(walk.layer.run.tokens), walk.allowed | (not masked)
        rows = {name: np.where(np.isfinite(row) & shown, row, np.nan) for name, row in numbers(walk).items()}
        return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in rows.items()}

    return Bars(
        key=f"step_{key}",
        alt=say("steps", "keys.alt", title=title),
        caption=caption,
        bars=bars,
        labels=Axis("key", place="key", options={"range": [-0.5, len(walk.allowed) - 0.5], "fixedrange": True}),
        value={"title": title, "fixedrange": True},
        colours=_BAR_COLOURS,
        horizontal=False,
        height=320,
        table=table,
        click=click,
        compares=bool(click),
    )


_BAR_COLOURS = {"": palette.ATTENTION, "changed": palette.ATTENTION, "computed": figures.faint(palette.ATTENTION, PALE)}


def _draw_keys(
    walk: Walk, key: str, title: str, numbers: Callable[[Walk], Floats], *, masked: bool = False, **values: Any
) -> Bars[Walk]:
    query, chosen = _quote_tokens(walk)
    told = say("steps", f"keys-{key.replace('_', '-')}", query=query, **values)
    frame = say("steps", "masked-keys", key=chosen) if masked else say("steps", "keys", key=chosen)
    click = say("steps", "keys.click")
    return draw_bars(walk, key, title, lambda walk: {"": numbers(walk)}, f"{told} {frame}", masked=masked, click=click)


def _draw_matrix(walk: Walk, key: str, title: str, caption: str, *, signed: bool) -> Heatmap[Walk]:
    name = "attn.scores" if signed else "attn.pattern"
    query, chosen = _quote_tokens(walk)
    chart: Heatmap[Walk] = head_map(
        key=f"step_{key}",
        alt=say("steps", "matrix.alt", title=title),
        caption=f"{caption} {say('steps', 'matrix', query=query, key=chosen)}",
        weights=lambda walk: walk.layer.computed(name)[walk.head],
        tokens=lambda walk: walk.layer.run.tokens,
        allowed=lambda walk: walk.layer.run.allowed_in(walk.layer.layer),
        window=lambda walk: walk.config.window_of(walk.layer.layer),
        colours=colour_scales.around_zero if signed else colour_scales.from_zero,
        bar=title,
        click=CLICK_CELL,
    )
    asking = [None if padding else query for query, padding in enumerate(walk.layer.run.padding)]
    return replace(chart, rows=replace(chart.rows, numbers=lambda _: asking))


def _quote_tokens(walk: Walk) -> tuple[str, str]:
    tokens = walk.layer.run.tokens
    return quote_token(tokens[walk.query]), quote_token(tokens[walk.key])


# --- the stages


def _show_embedding(walk: Walk) -> Iterator[Item]:
    def rows(walk: Walk) -> dict[str, Floats]:
        layer, arrays = walk.layer, walk.layer.run.arrays
        found = {"token": arrays["embed.tokens"][walk.query]}
        if "embed.positions" in layer.learned:
            found["position"] = layer.learned["embed.positions"][walk.query]
        if "embed.segments" in layer.learned:
            found["segment"] = layer.learned["embed.segments"]
        if (change := layer.run.change("embed.sum")) is not None:
            found["your changes"] = change[walk.query]
        found["sum"] = np.sum([*found.values()], axis=0)
        return {**found, "embedding": layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]}

    yield draw_vectors(walk, "embedding", rows)


def _show_projections(walk: Walk) -> Iterator[Item]:
    (query, key), width = _quote_tokens(walk), walk.config.head_width
    widths = f"d_head = {width}"
    if walk.config.tied == "merged":
        widths = f"d_model = {walk.config.d_model} (of v: {widths})"
    n, rows = min(width, SHOWN), {"q": walk.query, "k": walk.key, "v": walk.key}

    def matrices(walk: Walk) -> Array:
        drawn: Array = np.hstack([walk.layer.computed(f"attn.{name}")[walk.head][:, :n] for name in rows])
        return drawn.astype(np.float32)

    yield Heatmap[Walk](
        key="step_projections",
        alt=say("steps", "projections.alt"),
        caption=say("steps", "projections", head=walk.head, widths=widths, drawn=n, query=query, key=key),
        values=matrices,
        rows=token_axis(lambda walk: walk.layer.run.tokens, ""),
        columns=Axis("number", lambda _: [f"{name.upper()} {i}" for name in rows for i in range(n)]),
        bar="value",
        hover="%{x} of %{y}",
        more="a larger number",
        colours=colour_scales.around_zero,
        frames=lambda _: [
            ((row, row), (i * n, i * n + n - 1), palette.FOCUS, 3) for i, row in enumerate(rows.values())
        ],
        table=lambda walk: pd.DataFrame(
            {name: pd.Series(walk.layer.computed(f"attn.{name}")[walk.head, row]) for name, row in rows.items()}
        ).rename_axis("number"),
    )


def _show_query_key_norm(walk: Walk) -> Iterator[Item]:
    def rows(walk: Walk) -> dict[str, Floats]:
        both = {"query": ("q", walk.query), "key": ("k", walk.key)}
        projected = {f"{name}, projected": walk.projected(q)[token] for name, (q, token) in both.items()}
        return projected | {f"{name}, normed": walk.normed(q)[token] for name, (q, token) in both.items()}

    names = ("query", "key", "query_after", "key_after")
    lengths: dict[str, Any] = dict(zip(names, map(l2, rows(walk).values()), strict=True))
    yield draw_vectors(walk, "norm_of_q_and_k", rows, **lengths)


def _show_rotation(walk: Walk) -> Iterator[Item]:
    speed = walk.rotary_frequencies()

    def halves(name: str, vector: Floats) -> dict[str, Floats]:
        half = len(vector) // 2  # a pair stands in one column
        return {f"{name}, from {i}": vector[i : i + half] for i in (0, half)}

    def rows(walk: Walk) -> dict[str, Floats]:
        both = {"query": ("q", walk.query), "key": ("k", walk.key)}
        found: dict[str, Floats] = {}
        for name, (q, token) in both.items():
            found |= halves(name, walk.normed(q)[token])
        for name, (q, token) in both.items():
            found |= halves(f"{name} at {token}", walk.layer.computed(f"attn.{q}")[walk.head, token])
        return found

    period = f"{2 * np.pi / speed[-1]:,.0f}"
    told = {"half": len(speed), "fastest": speed[0], "slowest": speed[-1], "period": period}
    yield draw_vectors(walk, "rotation", rows, **told)


def _show_position_bias(walk: Walk) -> Iterator[Item]:
    bias = walk.position_bias()
    yield _draw_keys(
        walk, "distance_bias", "added by distance", Walk.position_bias, lowest=bias.min(), highest=bias.max()
    )


def _show_dot_products(walk: Walk) -> Iterator[Item]:
    query, key = _quote_tokens(walk)

    def rows(walk: Walk) -> dict[str, Floats]:
        q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
        return {"q": q, "k": k, "q × k": q * k}

    yield draw_vectors(walk, "products", rows, query=query, key=key)
    yield _draw_keys(walk, "dot_products", "q · k", Walk.dot_products)


def _show_scale(walk: Walk) -> Iterator[Item]:
    width, before, after = walk.config.head_width, walk.dot_products().std(), walk.scaled().std()
    numbers = {"width": width, "divisor": width**0.5, "before": before, "after": after}
    yield _draw_keys(walk, "scale", "q · k / √d_head", Walk.scaled, **numbers)


def _show_mask(walk: Walk) -> Iterator[Item]:
    query, _ = _quote_tokens(walk)
    caption = say("steps", "mask", query=query, hidden=int((~walk.allowed).sum()), keys=len(walk.allowed))
    yield _draw_matrix(walk, "mask", "score", caption, signed=True)


def _show_softmax(walk: Walk) -> Iterator[Item]:
    def weights(walk: Walk) -> Floats:
        return walk.computed("attn.pattern")

    row = weights(walk)
    heaviest = quote_token(walk.layer.run.tokens[int(row.argmax())])
    bars = _draw_keys(
        walk, "softmax", "attention weight", weights, masked=True, heaviest=heaviest, weight=row.max(), total=row.sum()
    )
    pattern = _draw_matrix(walk, "pattern", "weight", say("steps", "pattern", head=walk.head), signed=False)
    yield Columns(((bars,), (pattern,)))


def _show_weighted_sum(walk: Walk) -> Iterator[Item]:
    def rows(walk: Walk) -> dict[str, Floats]:
        weights, values = walk.of_query("attn.pattern"), walk.layer["attn.v"][walk.head]
        names, by_weight = token_names(walk.layer.run.tokens), np.argsort(weights)[::-1]
        drawn, others = by_weight[: MOST_VECTORS - 2], by_weight[MOST_VECTORS - 2 :]
        found = {f"{weights[i]:.3f} × {names[i]}": weights[i] * values[i] for i in drawn}
        if others.size:
            found[f"the {others.size} others"] = weights[others] @ values[others]
        return {**found, "z, their sum": walk.computed("attn.z")}

    yield draw_vectors(walk, "weighted_sum", rows)


def _show_merge(walk: Walk) -> Iterator[Item]:
    names, z, pieces = token_names(walk.layer.run.tokens), walk.layer["attn.z"], walk.pieces()
    rows = {f"head {head}, {names[token]}": z[head, token] for head, token in pieces}
    others = sum(token != walk.query for _, token in pieces)
    width, drawn = walk.config.head_width, min(len(pieces), MOST_VECTORS)
    yield draw_vectors(walk, "merge", lambda _: rows, pieces=len(pieces), width=width, others=others, drawn=drawn)


def _show_output_projection(walk: Walk) -> Iterator[Item]:
    width = walk.layer.merged[walk.query].size
    merged: Numbers = lambda walk: {"merged heads": walk.layer.merged[walk.query]}  # noqa: E731
    output: Numbers = lambda walk: {"attention's output": walk.computed("attn.out")}  # noqa: E731
    yield draw_vectors(walk, "merged_heads", merged, numbers="number in the merged heads")
    yield draw_vectors(walk, "output_projection", output, width=width)


def _show_residual(
    walk: Walk, key: str, names: tuple[str, str], vectors: Callable[[Walk], tuple[Floats, Floats]], result: str
) -> Iterator[Item]:
    def rows(walk: Walk) -> dict[str, Floats]:
        return {**dict(zip(names, vectors(walk), strict=True)), "goes on": walk.computed(result)}

    stream, added = map(l2, vectors(walk))
    yield draw_vectors(walk, key, rows, stream=stream, added=added)


def _show_norm(walk: Walk, key: str, name: str) -> Iterator[Item]:
    def rows(walk: Walk) -> dict[str, Floats]:
        after = walk.of_query(f"{name}.out")
        if not walk.config.has_norm1(walk.layer.layer) and name == "norm1":
            return {"before": after, "after": after}
        between = {"normalised": walk.of_query(f"{name}.normalized")}
        return {"before": walk.of_query(f"{name}.in"), **between, "after": after}

    shown = rows(walk)
    yield draw_vectors(walk, key, rows, before=shown["before"].std(), after=shown["after"].std())


def _show_feed_forward(walk: Walk) -> Iterator[Item]:
    def between(walk: Walk) -> dict[str, Floats]:
        gate = {"g, the gate": walk.of_query("ffn.gate")} if walk.config.gated else {}
        hidden = walk.of_query("ffn.hidden")
        return {"u, before activation": walk.of_query("ffn.up"), **gate, "h, after activation": hidden}

    def rows(walk: Walk) -> dict[str, Floats]:
        return {"input y": walk.of_query("ffn.in"), "output f": walk.computed("ffn.out")}

    hidden = walk.of_query("ffn.hidden")
    quiet = int((np.abs(hidden) < 0.01).sum())
    yield draw_vectors(walk, "hidden_features", between, numbers="hidden number", width=hidden.size, quiet=quiet)
    yield draw_vectors(walk, "feed_forward", rows, width=walk.config.d_model)


STAGES: Mapping[str, Callable[[Walk], Iterator[Item]]] = {
    "embedding": _show_embedding,
    "projections": _show_projections,
    "norm of q and k": _show_query_key_norm,
    "rotation": _show_rotation,
    "dot products": _show_dot_products,
    "scale": _show_scale,
    "distance bias": _show_position_bias,
    "mask": _show_mask,
    "softmax": _show_softmax,
    "weighted sum": _show_weighted_sum,
    "merge": _show_merge,
    "output projection": _show_output_projection,
    "norm after attention": partial(_show_norm, key="norm_after_attention", name="post_norm1"),
    "first residual": partial(
        _show_residual,
        key="first_residual",
        names=("into the block", "attention's output"),
        vectors=lambda walk: walk.first_sum,
        result="resid_mid",
    ),
    "first norm": partial(_show_norm, key="first_norm", name="norm1"),
    "feed-forward": _show_feed_forward,
    "norm after feed-forward": partial(_show_norm, key="norm_after_feed_forward", name="post_norm2"),
    "second residual": partial(
        _show_residual,
        key="second_residual",
        names=("vector so far", "feed-forward's output"),
        vectors=lambda walk: walk.second_sum,
        result="resid_post",
    ),
    "second norm": partial(_show_norm, key="second_norm", name="norm2"),
}
"""What each stage draws; the last vector, or vectors, are its result."""

RESULTS = {"norm of q and k": 2, "rotation": 4, "merge": 0}
"""How many vectors are a stage's result, if not one; the pieces of a merge are those of the stage before."""
