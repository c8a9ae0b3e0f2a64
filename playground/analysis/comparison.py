"""What one run has changed of another, and sweeps of many changes.

Legend: L layers, H heads, T real tokens, D = d_model, N variants, S other sentences.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.sentences import pool, sentence_vector
from playground.analysis.streams import l2, residual_stream
from playground.config import ModelConfig
from playground.errors import InputError
from playground.model import Encoder
from playground.model.changes import SUBLAYERS, Change
from playground.runs.arrays import FLOAT32_ROUNDING, Array
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import Sources
from playground.runs.variant_runs import Variant, run_variants
from playground.text import Batch


def compare_vectors(before: Array, after: Array) -> tuple[Array, Array]:
    """Return cosines, and lengths of differences over those before: (…, D) twice, or as they broadcast → (…) twice.

    A cosine to zeros is 0, a change of zeros infinite; NaN beyond fp32's range.
    """
    wide, moved = before.astype(np.float64), after.astype(np.float64)
    is_same = (before == after).all(axis=-1)
    lengths, moved_lengths = l2(before).astype(np.float64), l2(after).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        apart = np.sqrt(np.square(moved - wide).sum(axis=-1))
        products = (wide * moved).sum(axis=-1)
        cosine = np.where((lengths == 0) | (moved_lengths == 0), 0.0, products / (lengths * moved_lengths))
        relative = apart / lengths
    is_lost = ~np.isfinite(lengths + moved_lengths)
    return (
        np.where(is_lost, np.nan, np.where(is_same, 1.0, np.clip(cosine, -1, 1))).astype(np.float32),
        np.where(is_lost, np.nan, np.where(is_same, 0.0, relative)).astype(np.float32),
    )


def stream_change(before: Run, after: Run) -> Array:
    """Return the relative change of every token's vector between the blocks: (L + 1, T).

    Raises:
        InputError: the runs differ in tokens or shape.
    """
    _check_pair(before, after)
    return compare_vectors(residual_stream(before), residual_stream(after))[1]


def sentence_change(before: Run, after: Run) -> float:
    """Return the relative change of the sentence's vector. Errors as in `stream_change`."""
    _check_pair(before, after)
    return float(compare_vectors(sentence_vector(before), sentence_vector(after))[1])


def _check_pair(before: Run, after: Run) -> None:
    sizes = {(run.config.n_layers, run.config.n_heads, run.config.d_model) for run in (before, after)}
    if before.tokens != after.tokens or len(sizes) > 1:
        raise InputError("Two runs are compared vector by vector if both read the same tokens in the same shape.")


def list_places(changes: Iterable[Change]) -> list[tuple[int, int | None]]:
    """Return each change's first depth and token there, None for all."""
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


def compare_points(pinned: Run, now: Run) -> list[PointDifference]:
    """Compare the points that both runs have in the same shape."""
    if pinned.tokens != now.tokens:
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
            share = float(np.max(compare_vectors(one, other)[1], initial=0))
            differences.append(PointDifference(name, float(np.max(apart, initial=0)), float(size), share))
    return differences


def find_parting(pinned: Run, now: Run, differences: Sequence[PointDifference]) -> tuple[str, int, str] | None:
    """Return where two runs first differ, if anywhere, the layer, and the point to compare vectors at.

    `embeddings`, `layer`, the final `norm`, or the `end` of the shorter encoder.
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
    """Return the mean total variation distance of rows, of layers and heads in both: (L, H)."""
    n_layers = min(pinned.config.n_layers, now.config.n_layers)
    n_heads = min(pinned.config.n_heads, now.config.n_heads)
    apart = [np.abs(now.pattern(i)[:n_heads] - pinned.pattern(i)[:n_heads]).sum(axis=-1) for i in range(n_layers)]
    shares: Array = np.stack(apart)[..., ~now.padding].mean(axis=-1) / 2
    return shares


# --- sweeps: one sentence in many variants, each scored by what leaves the encoder

# Removed heads: Michel et al. 2019, sections 3.2 and 4.1; patches: Meng et al. 2022, section 2.1, without noise.

Score = Callable[[Array], Array]
"""(N, T, D) → (N, columns)."""


def measure_variants(
    variants: Sequence[Variant],
    score: Score,
    encoder: Encoder,
    batch: Batch,
    untouched: Run,
    *,
    sentence: int = 0,
    seed: int = 0,
    causal: bool = False,
    sources: Sources | None = None,
) -> Array:
    """Score variants of one sentence's run, each a sequence of changes: (N, columns).

    Raises:
        InterventionError: a variant has a change that this sentence cannot have.
        TooLargeError: not even one variant fits the memory budget.
    """
    steps = run_variants(
        encoder, batch, sentence, variants, seed=seed, causal=causal, sources=sources, untouched=untouched
    )
    scored = [(numbers, score(final)) for numbers, final in steps]
    order = np.argsort([number for numbers, _ in scored for number in numbers])
    measured: Array = np.concatenate([scores for _, scores in scored])[order]
    return measured


def score_change(untouched: Run, others: Array | None = None) -> Score:
    """Score by relative change and cosines with others, (S, D): (N, 1 + S)."""
    before = sentence_vector(untouched)
    compared = np.zeros((0, before.size), np.float32) if others is None else others

    def score(final: Array) -> Array:
        after = pool(final, untouched.padding)
        return np.column_stack([compare_vectors(before, after)[1], compare_vectors(after[:, None], compared)[0]])

    return score


def score_nearness(untouched: Run, source: Run) -> Score:
    """Score by 1 − ‖variant − source‖ / ‖sentence − source‖: (N, 1); NaN if these are equal."""
    start, goal = (sentence_vector(run) for run in (untouched, source))
    distance = float(l2(goal - start))

    def score(final: Array) -> Array:
        left = l2(pool(final, untouched.padding) - goal)[:, None]
        nearer: Array = 1 - left / distance if distance else np.full_like(left, np.nan)
        return nearer

    return score


def list_heads(config: ModelConfig) -> list[Change]:
    """Set every head to zero, one at a time, layer by layer."""
    return [Change("zero", layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]


def list_sublayers(config: ModelConfig) -> list[Change]:
    """Switch every sublayer off, one at a time, layer by layer."""
    return [Change("off", layer, None, (sublayer,)) for layer in range(config.n_layers) for sublayer in SUBLAYERS]


def list_pairs(run: Run, layer: int) -> list[tuple[int, int]]:
    """Return queries with keys to cut in a layer: no query's only one."""
    allowed = run.allowed_in(layer) & ~run.padding[:, None]
    return [(int(query), int(key)) for query, key in np.argwhere(allowed & (allowed.sum(axis=1) > 1)[:, None])]


def list_cuts(run: Run, layer: int, head: int) -> list[Change]:
    """Cut every pair of `list_pairs` before the softmax in one head."""
    return [Change("weight", layer, head, (query, key, 0.0)) for query, key in list_pairs(run, layer)]


def list_patches(n_layers: int, n_tokens: int, source: int) -> list[Change]:
    """Patch each token's vector of the residual stream from sentence `source`, depth by depth."""
    tokens = range(n_tokens)
    places = [Change("patch", None, None, ("embed", token, source)) for token in tokens]
    return places + [Change("patch", i, None, ("out", token, source)) for i in range(n_layers) for token in tokens]
