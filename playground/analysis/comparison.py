"""Two settings beside each other: what one run has changed of the other's, and which initial weights they share.

Legend: L layers, T real tokens, Tq/Tk queries/keys. Both runs are called by names that say what differs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.attention import mean_entropy
from playground.analysis.changes import compare_vectors
from playground.analysis.sentences import sentence_vector
from playground.runs.arrays import FLOAT32_ROUNDING, Array
from playground.runs.encoder_run import Run
from playground.text.wording import join_words, write_share

COMPARED_POINTS = ("attn.pattern", "attn.out", "resid_mid", "ffn.out", "out")
"""Of a block, in the order of computation: what every run keeps and means the same wherever the norms stand."""


@dataclass(frozen=True)
class PointDifference:
    """How far two runs are apart at one point of the forward pass."""

    name: str
    """As in the trace, such as `layers.0.attn.out`."""
    largest: float
    """The largest difference of two numbers there; NaN where a number has left fp32's range."""
    size: float
    """The largest number there, of both runs."""
    share: float
    """The length of the difference of the vector that differs most, by its length in the pinned run; of attention
    weights, a query's weights are the vector. NaN where a number is lost."""

    @property
    def is_apart(self) -> bool:
        """Whether the two differ by more than rounding; numbers that are lost count as different."""
        return not self.largest <= FLOAT32_ROUNDING * self.size


def have_same_tokens(one: Run, other: Run) -> bool:
    """Whether two runs read the same tokens, padding included."""
    return one.tokens == other.tokens


def compare_points(pinned: Run, now: Run) -> list[PointDifference]:
    """The differences at the points that both runs have in the same shape, in the order of computation.

    Nothing is compared where the tokens differ. `list_unequal_points` has those that are left out.
    """
    if not have_same_tokens(pinned, now):
        return []
    real = ~now.padding
    differences = []
    for name in _list_points(pinned, now):
        one, other = (_at_real_tokens(run.arrays[name], real) for run in (pinned, now))
        if one.shape == other.shape:
            with np.errstate(invalid="ignore"):
                apart = np.abs(one.astype(np.float64) - other)
            size = np.max(np.abs([one, other]), initial=0, where=np.isfinite([one, other]))
            share = float(np.max(compare_vectors(one, other).relative, initial=0))
            differences.append(PointDifference(name, float(np.max(apart, initial=0)), float(size), share))
    return differences


def list_unequal_points(pinned: Run, now: Run) -> list[str]:
    """The points that both runs have in different shapes, in the order of computation; both read the same tokens."""
    return [name for name in _list_points(pinned, now) if pinned.arrays[name].shape != now.arrays[name].shape]


def _list_points(pinned: Run, now: Run) -> list[str]:
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    return ["embed.out", *(f"layers.{i}.{point}" for i in range(n_layers) for point in COMPARED_POINTS), "final"]


@dataclass(frozen=True)
class Parting:
    """Where two runs of the same tokens and of one width first differ by more than rounding, and how far."""

    point: str
    """The first point that differs, as in the trace; `end` where one run goes on after the other's last layer."""
    token: int
    """The token whose vector differs most there, where the layer of that point ends."""
    share: float
    """The length of that difference, by the vector's length in the pinned run; NaN where a number is lost."""
    cosine: float
    """Of the sentence's two vectors at the end; NaN where a number is lost."""


def find_parting(pinned: Run, now: Run, differences: Sequence[PointDifference]) -> Parting | None:
    """Where two runs part, by their `compare_points`; None where they do nowhere."""
    first = next((each.name for each in differences if each.is_apart), None)
    if pinned.config.n_heads != now.config.n_heads and first != "embed.out":
        first = _PATTERN
    if first in (None, "final") and pinned.config.n_layers != now.config.n_layers:
        first = "end"
    if first is None:
        return None
    if first.startswith("layers."):
        vectors = f"layers.{first.split('.')[1]}.out"  # that layer's end: weights of attention are no token's vectors
    else:
        vectors = "embed.out" if first == "embed.out" else "final"
    real = ~now.padding
    relative = compare_vectors(pinned.arrays[vectors][real], now.arrays[vectors][real]).relative
    ends = compare_vectors(sentence_vector(pinned), sentence_vector(now))
    token = int(np.argmax(relative))  # of lost numbers, the first
    return Parting(first, token, float(relative[token]), float(ends.cosine))


def describe_parting(pinned: Run, now: Run, differences: list[PointDifference]) -> str:
    """Where two runs first part by more than rounding, in a few sentences; points of unequal shape are such places."""
    if not have_same_tokens(pinned, now):
        return (
            "The two read different tokens, so their numbers part at the input: there is nothing to set side by side."
        )
    first = next((each for each in differences if each.is_apart), None)
    one, other = pinned.config, now.config
    (d_model, heads), (d_model_now, heads_now) = (one.d_model, one.n_heads), (other.d_model, other.n_heads)
    depths = one.n_layers, other.n_layers
    deeper = f" One has {max(depths)} layers, the other {min(depths)}." if depths[0] != depths[1] else ""
    n_heads = f"{heads} heads in the pinned run and {heads_now} in this one"
    if d_model != d_model_now:
        told = f"The vectors have different widths ({d_model} → {d_model_now}), so the two part at the embeddings"
        if heads != heads_now:
            return f"{told}. Attention has {n_heads}, so no number has a counterpart.{deeper}"
        told += "; only attention weights can be compared number by number."
        return f"{told} Those {_describe_first(first)}{deeper}"
    if heads != heads_now and not (differences and differences[0].is_apart):
        return (
            f"**They first part in {name_point(_PATTERN)}**, which have {n_heads}. The embeddings are "
            f"the same but for rounding. The numbers that can be compared {_describe_first(first)}{deeper}"
        )
    if first is None:
        return f"Nothing parts them: every number that is compared is the same but for rounding.{deeper}"
    is_at_once = first is differences[0]
    opening = "They part at once, in" if is_at_once else "They first part in"
    before = "" if is_at_once else " What is compared before that is the same but for rounding."
    return f"**{opening} {name_point(first.name)}**: {_describe_size(first)}{before}{deeper}"


_PATTERN = "layers.0.attn.pattern"
"""The first point whose shape depends on the number of heads."""


def _describe_first(first: PointDifference | None) -> str:
    """What becomes of numbers in the plural, of which the first that differ are these."""
    if first is None:
        return "are the same but for rounding."
    return f"first differ in {name_point(first.name)}: {_describe_size(first)}"


def _describe_size(found: PointDifference) -> str:
    of = "a query's weights" if found.name.endswith(".pattern") else "a vector"
    if np.isnan(found.share):
        return "numbers there are too large for 32-bit floats."
    if np.isinf(found.share):
        return f"{of} there can be 0 in the pinned run, and not now."
    return f"the largest difference of {of} there is {write_share(found.share)} of its length."


_POINTS = {
    "attn.in": "what attention reads",
    "attn.q": "the queries",
    "attn.k": "the keys",
    "attn.v": "the values",
    "attn.q_projected": "the queries before norm and rotation",
    "attn.k_projected": "the keys before norm and rotation",
    "attn.v_projected": "the values before heads share them",
    "attn.q_normed": "the queries behind their norm",
    "attn.k_normed": "the keys behind their norm",
    "attn.scores": "the scores",
    "attn.pattern": "the attention weights",
    "attn.z": "the heads' results",
    "attn.out": "the output of attention",
    "resid_mid": "the residual stream after attention",
    "ffn.in": "what the feed-forward reads",
    "ffn.up": "the hidden layer before the activation",
    "ffn.gate": "the gate of the hidden layer",
    "ffn.hidden": "the hidden layer after the activation",
    "ffn.out": "the output of the feed-forward",
    "resid_post": "the residual stream after the feed-forward",
    "out": "the block's output",
}
_WHOLE_POINTS = {
    "embed.tokens": "the tokens' vectors",
    "embed.sum": "tokens' vectors with positions added",
    "embed.out": "the embeddings",
    "position_bias": "what scores get by distance",
    "final": "the output",
}
_NORMS = {
    "embed.norm": "the embeddings' norm",
    "norm1": "the first norm",
    "norm2": "the second norm",
    "post_norm1": "the norm behind attention",
    "post_norm2": "the norm behind the feed-forward",
    "final_norm": "the final norm",
}
_NORM_POINTS = {"in": "what {} reads", "normalized": "{}, before gain and bias", "out": "what {} gives"}


def name_point(name: str) -> str:
    """A point of the forward pass in words; those that only training has keep their names."""
    if name in _WHOLE_POINTS:
        return _WHOLE_POINTS[name]
    _, layer, point = name.split(".", maxsplit=2) if name.startswith("layers.") else ("", "", name)
    norm, _, part = point.rpartition(".")
    words = _NORM_POINTS[part].format(_NORMS[norm]) if norm in _NORMS else _POINTS.get(point, f"`{point}`")
    return f"layer {layer}, {words}" if layer else words


def _at_real_tokens(array: Array, real: NDArray[np.bool_]) -> Array:
    """Vectors (T, D) of real tokens, or weights (H, Tq, Tk) between them."""
    chosen: Array = array[real] if array.ndim == 2 else array[:, real][:, :, real]
    return chosen


def describe_growth_change(pinned: Mapping[str, Array], now: Mapping[str, Array], names: tuple[str, str]) -> str:
    """The median length of the residual stream after the last block in two runs' `streams.lengths`, in one sentence.

    `names` is what the two runs are called, the pinned one first.
    """
    before, after = (float(np.median(lengths["residual"][-1])) for lengths in (pinned, now))
    if math.isnan(before) or math.isnan(after):
        lost = [name for name, length in zip(names, (before, after), strict=True) if math.isnan(length)]
        return f"After the last layer, the numbers are too large for 32-bit floats ({join_words(lost)})."
    blocks = [len(lengths["residual"]) - 1 for lengths in (pinned, now)]
    where = "layer" if blocks[0] == blocks[1] else f"layer ({blocks[0]} → {blocks[1]} layers)"
    if abs(after - before) <= FLOAT32_ROUNDING * max(after, before):
        return f"After the last {where}, the residual stream's median length is {after:.4g} in both."
    ratio = f", which is {after / before:.3g} times as long" if before > 0 else ""
    return f"After the last {where}, the residual stream's median length goes {before:.4g} → {after:.4g}{ratio}."


def find_vector_change(pinned: Array, now: Array) -> tuple[str, dict[str, float]]:
    """The number of a vector (D,) that changed most, `at` its place; or both sizes, if they cannot be subtracted.

    Numbers that are masked in both, −∞, are the same.
    """
    if pinned.shape != now.shape:
        return "size", {"before": pinned.size, "after": now.size}
    change = np.abs(np.subtract(now, pinned, where=pinned != now, out=np.zeros(now.shape), dtype=np.float64))
    at = int(change.argmax())
    return "largest", {"at": at, "before": float(pinned[at]), "after": float(now[at])}


def moved_weight(pinned: Run, now: Run) -> Array:
    """The share of a query's weight that has moved to other keys, averaged over real queries: (L, H).

    Half the sum of all changes of a row, which is the total variation distance of two distributions (Levin, Peres &
    Wilmer 2009, section 4.1): 0 is the same row, 1 looks at other keys altogether. Of layers and heads that both have.
    Both have to read the same tokens.
    """
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    n_heads = min(pinned.config.n_heads, now.config.n_heads)
    apart = [np.abs(now.pattern(i)[:n_heads] - pinned.pattern(i)[:n_heads]).sum(axis=-1) for i in range(n_layers)]
    shares: Array = np.stack(apart)[..., ~now.padding].mean(axis=-1) / 2
    return shares


def describe_head_change(pinned: tuple[Run, Array], now: tuple[Run, Array]) -> str:
    """What became of one head's weights (Tq, Tk), in one or two sentences; each with the run that it is of."""
    bits = [float(mean_entropy(pattern[None, None], ~run.padding)[0, 0]) for run, pattern in (pinned, now)]
    spread = f"the mean entropy goes {bits[0]:.2f} → {bits[1]:.2f} bits"
    if not have_same_tokens(pinned[0], now[0]):
        return f"The two read different tokens, so weights cannot be subtracted; {spread}."
    change = now[1] - pinned[1]
    if np.isnan(change).any():
        return "Some of these weights are lost: the numbers are too large for 32-bit floats."
    if np.abs(change).max() <= FLOAT32_ROUNDING:
        return "Not one of these weights has changed."
    query, key = np.unravel_index(int(np.abs(change).argmax()), change.shape)
    before, after = (float(pattern[query, key]) for _, pattern in (pinned, now))
    tokens, moved = now[0].tokens, float(np.abs(change)[~now[0].padding].sum(axis=-1).mean() / 2)
    return (
        f"On average, {moved:.0%} of a query's weight has moved to other keys, and {spread}. The largest change: what "
        f"{tokens[query]} (position {query}) gives {tokens[key]} (position {key}) goes {before:.3f} → {after:.3f}."
    )
