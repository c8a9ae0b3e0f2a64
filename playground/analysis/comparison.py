"""What one run has changed of another: vectors, points of the forward pass, attention weights.

Legend: L layers, T real tokens, Tq/Tk queries/keys, D = d_model. Depth 0 is the embeddings, L the last block's output.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.sentences import Pooling, sentence_vector
from playground.analysis.streams import l2, residual_stream
from playground.errors import InputError
from playground.model.changes import Change
from playground.runs.arrays import FLOAT32_ROUNDING, Array
from playground.runs.encoder_run import Run


@dataclass(frozen=True)
class VectorChange:
    """How far vectors have moved: arrays of the vectors' shape without D; NaN if a number is beyond fp32's range."""

    cosine: Array
    """Between before and after, -1 … 1; 1 if nothing has changed, 0 to a vector of zeros."""
    relative: Array
    """The difference's length over the length before; infinite if that is 0."""


def compare_vectors(before: Array, after: Array) -> VectorChange:
    """Compare vector by vector in float64: (…, D) twice → (…)."""
    wide, moved = before.astype(np.float64), after.astype(np.float64)
    is_same = (before == after).all(axis=-1)
    lengths, moved_lengths = l2(before).astype(np.float64), l2(after).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        apart = np.sqrt(np.square(moved - wide).sum(axis=-1))
        products = (wide * moved).sum(axis=-1)
        cosine = np.where((lengths == 0) | (moved_lengths == 0), 0.0, products / (lengths * moved_lengths))
        relative = apart / lengths
    is_lost = ~np.isfinite(lengths + moved_lengths)
    return VectorChange(
        np.where(is_lost, np.nan, np.where(is_same, 1.0, np.clip(cosine, -1, 1))).astype(np.float32),
        np.where(is_lost, np.nan, np.where(is_same, 0.0, relative)).astype(np.float32),
    )


def stream_change(before: Run, after: Run) -> VectorChange:
    """Compare every token's vector between the blocks: (L + 1, T).

    Raises:
        InputError: the runs differ in tokens or shape.
    """
    _check_pair(before, after)
    return compare_vectors(residual_stream(before), residual_stream(after))


def sentence_change(before: Run, after: Run, pooling: Pooling = "mean") -> VectorChange:
    """Compare the sentence's vector, a number each. Errors as in `stream_change`."""
    _check_pair(before, after)
    return compare_vectors(sentence_vector(before, pooling), sentence_vector(after, pooling))


def _check_pair(before: Run, after: Run) -> None:
    sizes = {(run.config.n_layers, run.config.n_heads, run.config.d_model) for run in (before, after)}
    if before.tokens != after.tokens or len(sizes) > 1:
        raise InputError("Two runs are compared vector by vector if both read the same tokens in the same shape.")


def list_places(changes: Iterable[Change]) -> list[tuple[int, int | None]]:
    """Return the first depth that each change reaches, and the token it changes there, None for all; once each."""
    return list(
        dict.fromkeys(
            (each.first_layer + 1, None if each["point"] in ("k", "v") else each["query"]) for each in changes
        )
    )


COMPARED_POINTS = ("attn.pattern", "attn.out", "resid_mid", "ffn.out", "out")
"""Points of a block with one meaning in every run."""


@dataclass(frozen=True)
class PointDifference:
    """How far two runs are apart at one point of the forward pass."""

    name: str
    largest: float
    """Difference of two numbers; NaN if one is beyond fp32's range."""
    size: float
    share: float
    """Largest relative change of a vector."""

    @property
    def is_apart(self) -> bool:
        """Whether the two differ by more than rounding."""
        return not self.largest <= FLOAT32_ROUNDING * self.size


def have_same_tokens(one: Run, other: Run) -> bool:
    """Whether two runs read the same tokens, padding included."""
    return one.tokens == other.tokens


def compare_points(pinned: Run, now: Run) -> list[PointDifference]:
    """Compare the points that both runs have in the same shape, in order; none if the tokens differ."""
    if not have_same_tokens(pinned, now):
        return []
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    names = ["embed.out", *(f"layers.{i}.{point}" for i in range(n_layers) for point in COMPARED_POINTS), "final"]
    differences = []
    for name in names:
        one, other = (_at_real_tokens(run.arrays[name], ~now.padding) for run in (pinned, now))
        if one.shape == other.shape:
            with np.errstate(invalid="ignore"):
                apart = np.abs(one.astype(np.float64) - other)
            size = np.max(np.abs([one, other]), initial=0, where=np.isfinite([one, other]))
            share = float(np.max(compare_vectors(one, other).relative, initial=0))
            differences.append(PointDifference(name, float(np.max(apart, initial=0)), float(size), share))
    return differences


def find_parting(pinned: Run, now: Run, differences: Sequence[PointDifference]) -> tuple[str, int, str] | None:
    """Return where two runs of one width first differ, the layer, and the point to compare vectors at; None if nowhere.

    That is `embeddings`, `layer`, the final `norm`, or the `end` of the shorter encoder.
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


def _at_real_tokens(array: Array, real: NDArray[np.bool_]) -> Array:
    chosen: Array = array[real] if array.ndim == 2 else array[:, real][:, :, real]
    return chosen


def moved_weight(pinned: Run, now: Run) -> Array:
    """Return the mean share of a query's weight that has moved to other keys, of layers and heads in both: (L, H).

    That is the total variation distance of rows (Levin, Peres & Wilmer 2009, section 4.1).
    """
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    n_heads = min(pinned.config.n_heads, now.config.n_heads)
    apart = [np.abs(now.pattern(i)[:n_heads] - pinned.pattern(i)[:n_heads]).sum(axis=-1) for i in range(n_layers)]
    shares: Array = np.stack(apart)[..., ~now.padding].mean(axis=-1) / 2
    return shares
