"""Summaries of attention patterns. Legend: L layers, H heads, T tokens; a pattern's rows are queries."""

import numpy as np
from numpy.typing import NDArray

from playground.config import ModelConfig
from playground.runs.arrays import Array


def entropy(patterns: Array) -> Array:
    """How spread out each row is, in bits: −Σ p log₂ p over keys; (…, T, T) → (…, T).

    0: all on one token; log₂ n: evenly on n tokens. A fully masked row gives 0.
    """
    logs = np.log2(patterns, where=patterns > 0, out=np.zeros_like(patterns))
    bits: Array = np.maximum(0, 0 - (patterns * logs).sum(axis=-1))
    return bits


def mean_entropy(patterns: Array, rows: NDArray[np.bool_]) -> Array:
    """Each head's entropy in bits, averaged over the query rows that count: (L, H, T, T), (T,) → (L, H)."""
    means: Array = entropy(patterns)[..., rows].mean(axis=-1)
    return means


def highest_entropy(allowed: NDArray[np.bool_], rows: NDArray[np.bool_]) -> float:
    """What `mean_entropy` is if every query attends evenly to all that it may: (T, T) queries by keys, (T,) → bits."""
    return float(np.log2(allowed[rows].sum(axis=-1)).mean())


def rollout(patterns: Array, *, residual: bool = True) -> Array:
    """Attention traced back through the layers to the input (Abnar & Zuidema 2020, section 3).

    Heads are averaged; with residual connections half of every token stays where it is, 0.5 A + 0.5 I; the layers'
    matrices are multiplied. What a query gathers is taken to stay at its position: see `merge_moves_results`.
    (L, H, T, T) → (L, T, T): row q of layer l is what q holds there of each input token.
    """
    mixing = patterns.mean(axis=1)  # (L, T, T)
    if residual:
        mixing = 0.5 * mixing + 0.5 * np.eye(patterns.shape[-1], dtype=patterns.dtype)
    rows = mixing.sum(axis=-1, keepdims=True)
    mixing = np.divide(mixing, rows, where=rows > 0, out=np.zeros_like(mixing))
    shares = [mixing[0]]
    for layer in mixing[1:]:
        shares.append(layer @ shares[-1])
    return np.stack(shares)


def merge_moves_results(config: ModelConfig, n_tokens: int) -> bool:
    """Whether joining the heads puts their results at other positions than the query's; padding is among the tokens.

    The merge `reshape` does, wherever there is more than one head and more than one token.
    """
    return config.head_merge == "reshape" and config.n_heads > 1 and n_tokens > 1
