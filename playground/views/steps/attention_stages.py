"""What each stage of attention shows, from the queries, keys and values to the output projection."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Columns, Item, Picture
from playground.charts.draw.vectors import MOST_VECTORS, SHOWN
from playground.charts.figure import Figure, colour_bar
from playground.charts.markdown import quote_token
from playground.charts.names import token_labels, token_names
from playground.text.wording import write_number
from playground.views.steps.charts import draw_keys, draw_matrix, draw_vectors, quote_tokens


def show_projections(walk: Walk) -> Iterator[Item]:
    """Queries, keys and values of every token, the chosen query and key framed."""
    query, key = quote_tokens(walk)
    d_head = walk.config.head_width
    drawn = "" if d_head <= SHOWN else f"; the first {SHOWN} are drawn"
    yield Picture(
        key="step_projections",
        alt="Heatmaps of the head's queries, keys and values",
        caption=f"The queries, keys and values of head {walk.head}. A row is a token; a column is one of the head's "
        f"d_head = {d_head} numbers{drawn}. Frames mark q of {query}, k and v of {key}.",
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
    pairs = (("query", "q", walk.query), ("key", "k", walk.key))
    rows: dict[str, Floats] = {}
    for name, letter, token in pairs:
        rows |= {f"{name}, projected": walk.projected(letter)[token], f"{name}, normed": walk.normed(letter)[token]}
    lengths = [
        f"the {name}'s length goes from {l2(rows[f'{name}, projected']):.3g} to {l2(rows[f'{name}, normed']):.3g}"
        for name, _, _ in pairs
    ]
    yield draw_vectors("norm_of_q_and_k", rows, f"Here {lengths[0]}, and {lengths[1]}.")


def show_rotation(walk: Walk) -> Iterator[Item]:
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
        f"{write_number(speed[0])} radian from one token to the next, the slowest by {write_number(speed[-1], 2)}: it "
        "repeats after "
        f"{2 * np.pi / speed[-1]:,.0f} tokens. Lengths stay as they are."
    )
    yield draw_vectors("rotation", rows, reading)


def show_position_bias(walk: Walk) -> Iterator[Item]:
    """What the query's scores get by distance."""
    query, _ = quote_tokens(walk)
    bias = walk.position_bias()
    what = "A slope of this head alone, times the distance" if walk.config.positions == "alibi" else "A learned number"
    reading = (
        f"{what}, is added to {query}'s score with each key: from {write_number(bias.min())} to "
        f"{write_number(bias.max())}."
    )
    yield draw_keys(walk, "distance_bias", "added by distance", Walk.position_bias, reading, masked=False)


def show_dot_products(walk: Walk) -> Iterator[Item]:
    """Query times key, number by number, and the dot product with every key."""
    query, key = quote_tokens(walk)
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    reading = f"The query of {query} and the key of {key}. The last row adds up to their *dot product*."
    products = draw_vectors("products", {"q": q, "k": k, "q × k": q * k}, reading)
    reading = f"The dot product of {query}'s query with every key."
    yield products
    yield draw_keys(walk, "dot_products", "q · k", Walk.dot_products, reading, masked=False)


def show_scale(walk: Walk) -> Iterator[Item]:
    """The dot products divided by √d_head."""
    before, after = walk.dot_products().std(), walk.scaled().std()
    reading = (
        f"The dot products, divided by √{walk.config.head_width} = {write_number(walk.config.head_width**0.5, 4)}. "
        f"Their standard deviation goes from {write_number(before)} to {write_number(after)}."
    )
    yield draw_keys(walk, "scale", "q · k / √d_head", Walk.scaled, reading, masked=False)


def show_mask(walk: Walk) -> Iterator[Item]:
    """Every query's scores, with what the mask hides."""
    later, padding = walk.hidden()
    reasons = [f"{later} later in the sentence (the mask is causal)"] * (later > 0)
    reasons += [f"{padding} of padding (which is no word)"] * (padding > 0)
    query, _ = quote_tokens(walk)
    window = walk.config.window_of(walk.layer.layer)
    if window and (far := int((~walk.allowed & ~walk.layer.run.padding).sum()) - later) > 0:
        reasons.append(f"{far} further away than {window // 2} tokens (this layer's window)")
    hidden = f"Keys hidden from {query}: {', '.join(reasons)}." if reasons else f"No key is hidden from {query}."
    grey = "" if walk.allowed.all() else "; grey is −∞"
    reading = f"The scores of every query with every key{grey}. {hidden}"
    yield draw_matrix(walk, "mask", "score", reading, signed=True)


def show_softmax(walk: Walk) -> Iterator[Item]:
    """The query's weights, and every other query's beside them."""
    query, _ = quote_tokens(walk)
    weights = walk.computed("attn.pattern")
    heaviest = quote_token(walk.layer.run.tokens[int(weights.argmax())])
    reading = (
        f"{query} attends most to {heaviest}, with weight {weights.max():.3f}. "
        f"All its weights add up to {weights.sum():.4f}."
    )
    row = draw_keys(walk, "softmax", "attention weight", lambda walk: walk.computed("attn.pattern"), reading)
    reading = f"The weights of every query: the *pattern* of head {walk.head}. Each row adds up to 1."
    yield Columns(((row,), (draw_matrix(walk, "pattern", "weight", reading, signed=False),)))


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
    reading = "Each row is one key's value times its weight, the heaviest first. The last row is their sum."
    yield draw_vectors("weighted_sum", rows, reading)


def show_merge(walk: Walk) -> Iterator[Item]:
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
    yield draw_vectors("merge", {f"head {head}, {names[token]}": z[head, token] for head, token in pieces}, reading)


def show_output_projection(walk: Walk) -> Iterator[Item]:
    """The merged vector before W_O, and what W_O makes of it: columns of the two have nothing in common."""
    merged, output = walk.layer.merged[walk.query], walk.computed("attn.out")
    reading = "What goes in: the heads' results, end to end."
    yield draw_vectors("merged_heads", {"merged heads": merged}, reading, "number in the merged heads")
    reading = f"What comes out. Each of its numbers depends on all {merged.size:,} numbers that go in."
    yield draw_vectors("output_projection", {"attention's output": output}, reading)
