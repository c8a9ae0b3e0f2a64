"""Two settings beside each other: what one run has changed of the other's, and which initial weights they share.

Legend: L layers, T real tokens, Tq/Tk queries/keys. Both runs are called by names that say what differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.attention import mean_entropy
from playground.analysis.changes import compare_vectors
from playground.runs.arrays import FLOAT32_ROUNDING, Array
from playground.runs.encoder_run import Run

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

    Nothing is compared where the tokens differ.
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


def _list_points(pinned: Run, now: Run) -> list[str]:
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    return ["embed.out", *(f"layers.{i}.{point}" for i in range(n_layers) for point in COMPARED_POINTS), "final"]


def find_parting(pinned: Run, now: Run, differences: Sequence[PointDifference]) -> tuple[str, int, str] | None:
    """Where two runs of one width first part, by their `compare_points`; None where they do nowhere.

    Returns:
        The place, `embeddings`, `layer`, `norm` for the last one, or `end` of the shorter encoder; its layer, or how
        many layers are the same; and the point where its vectors can be compared, which for a layer is its end.
    """
    first = next((each.name for each in differences if each.is_apart), "final")
    n_layers = sorted((pinned.config.n_layers, now.config.n_layers))
    if first == "embed.out":
        return "embeddings", 0, first
    if pinned.config.n_heads != now.config.n_heads:
        first = "layers.0.attn.pattern"
    if first != "final":
        layer = int(first.split(".")[1])
        return "layer", layer, f"layers.{layer}.out"
    if n_layers[0] != n_layers[1]:
        return "end", n_layers[0], first
    return ("norm", n_layers[0], first) if differences[-1].is_apart else None


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
