"""How striking a head's pattern is, and whether striking heads are those that matter. Legend: L layers, H heads."""

import numpy as np
from numpy.typing import NDArray

from playground.analysis.attention import highest_entropy, mean_entropy
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run


def pattern_spread(run: Run) -> Array:
    """How evenly each head spreads its attention: mean entropy of its rows, as a share of the highest, (L, H).

    0: every token attends to one key alone, the most striking pattern. 1: every token attends to all keys evenly.
    NaN where no token has two keys to choose from. Padding's rows do not count.
    """
    rows = ~run.padding
    highest = highest_entropy(run.allowed, rows)
    spread = mean_entropy(run.patterns(), rows)
    return (spread / highest if highest > 0 else np.full_like(spread, np.nan)).astype(np.float32)


def rank_correlation(one: NDArray[np.floating], two: NDArray[np.floating]) -> float:
    """Spearman's rank correlation of two lists of numbers, from -1 to 1; equal numbers share their mean rank.

    Pairs with a NaN are left out. NaN where fewer than three pairs are left, or one list has one value throughout.
    """
    known = np.isfinite(one) & np.isfinite(two)
    ranks = [_mean_ranks(values[known]) for values in (one, two)]
    if known.sum() < 3 or any(np.ptp(each) == 0 for each in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _mean_ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """The rank of each value, from 0; equal values have the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = (last - (counts + 1) / 2)[place]
    return means
