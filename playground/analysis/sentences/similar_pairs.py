"""The pairs of a list's sentences, most similar first, and what another pooling makes of them. Legend: N sentences."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from playground.runs.arrays import Array
from playground.text import Batch
from playground.text.split_words import is_punctuation


class Pair(NamedTuple):
    """Two different sentences, counted from 0, the first one first."""

    first: int
    second: int
    cosine: float


def rank_pairs(similarity: Array) -> list[Pair]:
    """Every pair of two different sentences of a matrix (N, N), the most similar first; equal ones as they stand."""
    rows, columns = np.triu_indices(len(similarity), k=1)
    cosines = similarity[rows, columns]
    order = np.argsort(-cosines, kind="stable")
    return [Pair(int(rows[i]), int(columns[i]), float(cosines[i])) for i in order]


def spread_of_pairs(similarity: Array) -> tuple[float, float]:
    """The lowest and the highest cosine of two different sentences, of a matrix (N, N) with N at least 2."""
    rows, columns = np.triu_indices(len(similarity), k=1)
    cosines = similarity[rows, columns]
    return float(cosines.min()), float(cosines.max())


def common_tokens(batch: Batch) -> NDArray[np.float64]:
    """The share of different tokens that two sentences have in common: (N, N), 0 … 1.

    Of all tokens of either, how many are in both (Jaccard 1912); 0 where neither has one. Special tokens and
    punctuation are left out: a full stop says nothing of what two sentences share. The share knows neither order nor
    meaning, so a cosine that only follows it has added nothing.
    """
    pieces = [
        {token for token, added in zip(tokens, special, strict=True) if not (added or is_punctuation(token))}
        for tokens, special in zip(batch.tokens, batch.special, strict=True)
    ]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in pieces] for one in pieces])
