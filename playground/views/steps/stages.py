"""The stages by name: each one's idea, charts, result and symbols, and what it depends on."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item
from playground.views.steps.attention_stages import (
    framed_row,
    show_dot_products,
    show_mask,
    show_merge,
    show_output_projection,
    show_position_bias,
    show_projections,
    show_query_key_norm,
    show_rotation,
    show_scale,
    show_softmax,
    show_weighted_sum,
)
from playground.views.steps.block_stages import show_embedding, show_feed_forward, show_norm, show_residual


@dataclass(frozen=True)
class Stage:
    """A stage of the computation."""

    idea: str
    show: Callable[[Walk], Iterator[Item]]
    """Its charts."""
    result: Callable[[Walk], Mapping[str, Floats]]
    """The vectors that it gives, by their names."""
    symbols: Mapping[str, str]
    """What the symbols of its formulas stand for."""
    is_of_head: bool = False
    """Whether it depends on the chosen head, and on the key or shows it; the others depend on layer and query alone."""
    is_by_key: bool = False
    """Whether its result is one number a key."""
    has_mask: bool = False
    """Whether masked keys have no such number."""
    idea_here: Callable[[Walk], str] = lambda _: ""
    """The idea in this architecture, where that is another one; else empty."""


def _row(name: str, point: str) -> Callable[[Walk], Mapping[str, Floats]]:
    """The query's row at a point of the layer, as the result of this name."""
    return lambda walk: {name: walk.of_query(point)}


def _explain_no_table(walk: Walk) -> str:
    if walk.config.vocab_size:
        return ""
    return "A word is a vector of random numbers, drawn from the seed and not learned. Positions may be added."


def _explain_fused_map(walk: Walk) -> str:
    if not walk.config.fused_qkv:
        return ""
    return (
        "One learned map gives every token's query, key and value at once (`fused_qkv`). Its rows lie head by "
        "head: those of q, then of k, then of v."
    )


def _explain_reshape(walk: Walk) -> str:
    if not walk.merge_moves_results:
        return ""
    return (
        "The heads' results lie in memory head by head. They are cut into vectors of d_model numbers as they lie "
        "(`head_merge = reshape`). Each vector then holds results of several tokens."
    )


def _explain_mixed_pieces(walk: Walk) -> str:
    if not walk.merge_moves_results:
        return ""
    return "One more learned map mixes the pieces of that vector, whichever heads and tokens they come from."


def _explain_no_residual(walk: Walk) -> str:
    return "" if walk.config.residual else "There are no residual connections here: the output goes on alone."


def _explain_no_norm(walk: Walk) -> str:
    if walk.config.norm != "none":
        return ""
    return "This encoder has no norms (`norm = none`): the vector goes on as it is."


_SCORE = {"s_{t,j}": "the score of query t with key j"}

_WEIGHT = {"a_{t,j}": "the attention weight that query t gives key j"}

_NORM_PARTS = {
    r"\hat{x}": "the vector after the division",
    r"\mu": "the mean of its numbers",
    r"\sigma": "their standard deviation",
    "m": "the mean of their squares",
    "s": "their unbiased standard deviation",
    r"\epsilon": "a small constant, against a division by 0",
    r"\gamma": "a learned factor, the gain",
    r"\beta": "a learned number, the bias",
    "D": "d_model, how many numbers a vector has",
}

_NORM = {"x": "the vector before the norm", **_NORM_PARTS, "y": "the vector after the norm"}

_RESIDUAL = {
    "x_t": "the vector that entered the block",
    "o_t": "attention's output",
    "x'_t": "the vector after attention",
    "y_t": "the vector that entered the feed-forward network",
    "f_t": "the feed-forward network's output",
    "x''_t": "the vector after both",
}


def _norm(idea: str, *, key: str, name: str) -> Stage:
    """A norm of the block, by its name in the trace; `key` is its chart's."""
    show, after = partial(show_norm, key=key, name=name), _row("after", f"{name}.out")
    return Stage(idea, show, after, _NORM, idea_here=_explain_no_norm)


def _residual(
    idea: str, *, key: str, names: tuple[str, str], vectors: Callable[[Walk], tuple[Floats, Floats]], result: str
) -> Stage:
    """A residual connection; arguments as of `show_residual`."""
    show = partial(show_residual, key=key, names=names, vectors=vectors, result=result)
    return Stage(idea, show, _row("goes on", result), _RESIDUAL, idea_here=_explain_no_residual)


STAGES: Mapping[str, Stage] = {
    "embedding": Stage(
        "A token becomes a vector: its row of the token table. Vectors for its position, and for its *segment*, the "
        "first or the second text of a pair, may be added. That happens once, before layer 0.",
        show_embedding,
        lambda walk: {"embedding": walk.layer.run.arrays["embed.out"][walk.query]},
        {
            r"E_{\mathrm{id}}": "the token's row of the token table",
            "v": "the word's random vector",
            "P_t": "its position's row of the position table",
            "S_0": "the row of segment 0",
            r"\Delta_t": "your changes",
            "W_E": "a learned matrix",
            "b_E": "a learned vector",
            **_NORM_PARTS,
        },
        idea_here=_explain_no_table,
    ),
    "projections": Stage(
        "Three learned maps turn every token's vector into a query, a key and a value.",
        show_projections,
        lambda walk: {name: walk.layer[f"attn.{name}"][walk.head, framed_row(walk, name)] for name in "qkv"},
        {
            "W": "a learned matrix of this head",
            "b": "a learned vector",
            "x_t": "the vector of the query's token",
            "x_j": "the vector of the key's token",
        },
        is_of_head=True,
        idea_here=_explain_fused_map,
    ),
    "norm of q and k": Stage(
        "Each head's queries and keys are divided by their root mean square: no score grows with their lengths.",
        show_query_key_norm,
        lambda walk: {"query": walk.normed("q")[walk.query], "key": walk.normed("k")[walk.key]},
        {symbol: _NORM_PARTS[symbol] for symbol in (r"\epsilon", r"\gamma")},
        is_of_head=True,
    ),
    "rotation": Stage(
        "Pairs of numbers turn by the token's position times a speed of their own. The product of two turned vectors "
        "depends on how far apart they stand, and on no position alone.",
        show_rotation,
        lambda walk: {
            "query": walk.layer["attn.q"][walk.head, walk.query],
            "key": walk.layer["attn.k"][walk.head, walk.key],
        },
        {"x_{t,i}": "number i of the query, or of the key, at position t", r"\theta_i": "the speed of pair i"},
        is_of_head=True,
    ),
    "dot products": Stage(
        "The query is compared with every key. The more they point the same way, the larger the product.",
        show_dot_products,
        lambda walk: {"q · k": walk.dot_products()},
        {"q_t": "the query of token t", "k_j": "the key of token j", "i": "counts their numbers"},
        is_of_head=True,
        is_by_key=True,
    ),
    "scale": Stage(
        "A sum of more products spreads wider. Dividing by √d_head keeps the softmax from being all or nothing.",
        show_scale,
        lambda walk: {"q · k / √d_head": walk.scaled()},
        {**_SCORE, r"d_\text{head}": "how many numbers q and k have"},
        is_of_head=True,
        is_by_key=True,
    ),
    "distance bias": Stage(
        "Each score gets a number by how far away the key stands, whatever the words are.",
        show_position_bias,
        lambda walk: {"score": walk.unmasked()},
        {**_SCORE, "m": "this head's slope", "b": "a learned number for this range of distances"},
        is_of_head=True,
        is_by_key=True,
    ),
    "mask": Stage(
        "A key that the query may not see gets the score −∞. The softmax turns it into a weight of 0.",
        show_mask,
        _row("score", "attn.scores"),
        _SCORE,
        is_of_head=True,
        is_by_key=True,
        has_mask=True,
    ),
    "softmax": Stage(
        "The softmax divides powers of e by their sum. The weights lie between 0 and 1 and add up to 1. "
        "Subtracting the largest score first changes no weight; it keeps the powers small.",
        show_softmax,
        _row("attention weight", "attn.pattern"),
        {**_WEIGHT, "s_{t,j}": "their score", "s_{t,i}": "the score with key i", "m": "the largest score"},
        is_of_head=True,
        is_by_key=True,
        has_mask=True,
    ),
    "weighted sum": Stage(
        "Every value counts as much as the weight of its key.",
        show_weighted_sum,
        _row("z", "attn.z"),
        {"z_t": "the head's result for token t", **_WEIGHT, "v_j": "the value of token j"},
        is_of_head=True,
    ),
    "merge": Stage(
        "The heads' results are joined end to end. They are one vector of d_model numbers again.",
        show_merge,
        lambda walk: {"merged heads": walk.layer.merged[walk.query]},
        {"c": "the merged heads", "z": "the heads' results", "H": "heads", "T": "tokens", "D": _NORM_PARTS["D"]},
        idea_here=_explain_reshape,
    ),
    "output projection": Stage(
        "One more learned map mixes the results of the heads.",
        show_output_projection,
        _row("attention's output", "attn.out"),
        {"o_t": "attention's output", "W_O": "a learned matrix", "c_t": "the merged heads"},
        idea_here=_explain_mixed_pieces,
    ),
    "norm after attention": _norm(
        "A norm stands behind attention too: what is added to the vector has a common scale.",
        key="norm_after_attention",
        name="post_norm1",
    ),
    "first residual": _residual(
        "A *residual connection* adds attention's output to the vector that entered the block.",
        key="first_residual",
        names=("into the block", "attention's output"),
        vectors=lambda walk: walk.first_sum,
        result="resid_mid",
    ),
    "first norm": _norm(
        "A *norm* brings the vector to a common scale. Learned numbers then stretch it, and may shift it.",
        key="first_norm",
        name="norm1",
    ),
    "feed-forward": Stage(
        "The feed-forward network treats each token alone: its vector becomes *hidden numbers*, d_ff of them; they "
        "pass the activation, and become a vector again.",
        show_feed_forward,
        _row("output f", "ffn.out"),
        {
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
    ),
    "norm after feed-forward": _norm(
        "A norm stands behind the feed-forward network too: what is added to the vector has a common scale.",
        key="norm_after_feed_forward",
        name="post_norm2",
    ),
    "second residual": _residual(
        "A second residual connection adds the feed-forward network's output to the vector so far.",
        key="second_residual",
        names=("vector so far", "feed-forward's output"),
        vectors=lambda walk: walk.second_sum,
        result="resid_post",
    ),
    "second norm": _norm(
        "A second norm brings the vector to a common scale once more.",
        key="second_norm",
        name="norm2",
    ),
}
