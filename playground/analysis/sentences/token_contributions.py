"""Which tokens make two sentences alike: a cosine of means is an exact sum over pairs of tokens.

Legend: n and m tokens of two sentences, padding included, D = d_model.
"""

import numpy as np
from numpy.typing import NDArray

from playground.analysis.effects.sentence_vectors import Pooling
from playground.runs.arrays import Array

Array64 = NDArray[np.float64]


def token_weights(padding: NDArray[np.bool_], pooling: Pooling) -> Array64:
    """The weight of each token's vector in the sentence's vector, as `pool` makes it: padding (n,) → (n,), sum 1."""
    if pooling == "first token":
        weights: Array64 = np.zeros(len(padding))
        weights[0] = 1.0
        return weights
    counted: Array64 = np.ones(len(padding)) if pooling == "mean with padding" else (~padding).astype(np.float64)
    counted /= counted.sum()
    return counted


def token_contributions(
    first: tuple[Array, NDArray[np.bool_]], second: tuple[Array, NDArray[np.bool_]], pooling: Pooling
) -> Array64:
    """What each pair of tokens adds to the cosine of two sentences' vectors: (n, m); all of them add up to it.

    With x̄ = Σ aᵢ xᵢ and ȳ = Σ bⱼ yⱼ, the cosine is Σᵢⱼ aᵢ bⱼ (xᵢ · yⱼ) / (|x̄| |ȳ|). A row's sum is what one token of
    the first sentence adds. All are zero where a sentence's vector is.

    Args:
        first: a sentence's vectors (n, D) as they leave the encoder, and its padding (n,).
        second: those of the other, (m, D) and (m,).
        pooling: where the weights a and b come from.
    """
    left, right = (
        token_weights(padding, pooling)[:, None] * vectors.astype(np.float64) for vectors, padding in (first, second)
    )
    lengths = np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    parts: Array64 = left @ right.T
    return parts / lengths if lengths else np.zeros_like(parts)
