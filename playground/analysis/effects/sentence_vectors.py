"""One vector for a sentence, and how similar sentences are by it. Legend: N sentences, T tokens, D = d_model."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from playground.analysis.streams import cosine_between_tokens
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
