"""One vector for a sentence, and how far a changed run is from the untouched one.

Legend: N sentences, T tokens, D = d_model, L layers, H heads. A depth counts the blocks passed: 0 is the embeddings,
L the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from playground.analysis.streams import cosine_between_tokens, l2, residual_stream
from playground.errors import InputError
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run

Pooling = Literal["mean", "first token", "mean with padding"]
"""How a sentence's vectors become one: their mean over its tokens, special ones included, as Sentence-BERT and the
default model were trained (Reimers & Gurevych 2019, section 3); the first token's, which is [CLS] where a tokenizer
adds one; or a mean that forgets the mask, and so depends on how long the batch's other sentences are."""

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pool(vectors: Array, padding: NDArray[np.bool_], pooling: Pooling = "mean") -> Array:
    """One vector for a sentence from those of its tokens: (…, T, D), padding (T,) → (…, D)."""
    if pooling == "first token":
        first: Array = vectors[..., 0, :]
        return first
    counted = np.ones_like(padding) if pooling == "mean with padding" else ~padding
    mean: Array = vectors[..., counted, :].mean(axis=-2, dtype=np.float64).astype(np.float32)
    return mean


def sentence_vector(run: Run, pooling: Pooling = "mean") -> Array:
    """A run's sentence as one vector, (D,), of what left the encoder."""
    return pool(run.arrays["final"], run.padding, pooling)


def sentence_similarity(runs: Sequence[Run], pooling: Pooling = "mean") -> Array:
    """Cosine of the angle between each two sentences' vectors, (N, N), from -1 to 1; runs of one model."""
    return cosine_between_tokens(np.stack([sentence_vector(run, pooling) for run in runs]))


@dataclass(frozen=True)
class VectorChange:
    """How far vectors have moved: arrays of the vectors' shape without D, NaN where a number has left fp32's range."""

    cosine: Array
    """Of the angle between before and after, from -1 to 1; 1 where nothing has changed, 0 to a vector of zeros."""
    relative: Array
    """The length of the difference, by that of the vector before; infinite where that was zero."""


def compare_vectors(before: Array, after: Array) -> VectorChange:
    """The change of each vector: (…, D) twice, in float64 → (…)."""
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
    """The change of every token's vector between the blocks: (L + 1, T), padding left out.

    Raises:
        InputError: the two are not runs of the same tokens in the same shape of model.
    """
    _check_pair(before, after)
    return compare_vectors(residual_stream(before), residual_stream(after))


def sentence_change(before: Run, after: Run, pooling: Pooling = "mean") -> VectorChange:
    """The change of the sentence's vector, a number each. Errors as in `stream_change`."""
    _check_pair(before, after)
    return compare_vectors(sentence_vector(before, pooling), sentence_vector(after, pooling))


def _check_pair(before: Run, after: Run) -> None:
    sizes = {(run.config.n_layers, run.config.n_heads, run.config.d_model) for run in (before, after)}
    if before.tokens != after.tokens or len(sizes) > 1:
        raise InputError("Two runs are compared vector by vector where both read the same tokens in the same shape.")
