"""Which heads link two tokens: every head of a run ranked by one cell of its pattern.

Legend: L layers, H heads, T tokens, padding included, n cells.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.runs.encoder_run import Run

FEWEST = 8
"""Cells of a head to compare one with; if fewer are at its distance, those at the nearest distances join them."""

LEAST = 1e-5
"""Weights are read as at least this, and at most 1 minus this: the log-odds of 0 and 1 are infinite."""


def search_heads(run: Run, query: int, key: int) -> pd.DataFrame:
    """Rank all heads by the weight from a query to a key, the largest first.

    `rank` is the weight's place among the keys that the layer lets the query see. `z` is the cell's log-odds,
    log w − log(1 − w), minus their mean over other cells of the same head, over their standard deviation: those with
    the same key − query, and with the nearest where there are fewer than `FEWEST`. So a head that always looks one
    token back is not called unusual for it. Rank and z are NaN if a window hides the cell.
    """
    queries, keys = _other_cells(run, query, key)
    allowed = run.allowed_in_layers()  # (L, T, T)
    patterns = [run.arrays[f"layers.{layer}.attn.pattern"] for layer in range(len(allowed))]

    def seen(*at: int | NDArray[np.intp]) -> NDArray[np.float32]:
        """All heads' weights at these places, (L · H, …); NaN where their layer hides them."""
        each = (np.where(may[at], pattern[:, *at], np.nan) for may, pattern in zip(allowed, patterns, strict=True))
        return np.concatenate([*each])

    cells, others, rows = seen(query, key), seen(queries, keys), seen(query)  # (L · H,), (L · H, n), (L · H, T)
    ranks = np.where(np.isnan(cells), np.nan, 1 + (rows > cells[:, None]).sum(axis=1))
    heads = pd.MultiIndex.from_product([range(len(patterns)), range(run.config.n_heads)], names=["layer", "head"])
    columns = {
        "weight": np.concatenate([pattern[:, query, key] for pattern in patterns]),
        "rank": ranks if np.isnan(cells).any() else ranks.astype(int),
        "z": _z_scores(cells, others),
    }
    return pd.DataFrame(columns, heads).sort_values("weight", ascending=False, kind="stable")


def _other_cells(run: Run, query: int, key: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return queries (n,) and keys (n,) of the cells to compare with."""
    allowed = run.allowed & ~run.padding[:, None]
    allowed[query, key] = False
    queries, keys = np.nonzero(allowed)
    off = np.abs((keys - queries) - (key - query))
    enough = np.flatnonzero(np.bincount(off, minlength=1).cumsum() >= FEWEST)
    nearest = off <= (enough[0] if enough.size else len(run.tokens) * 2)
    return queries[nearest], keys[nearest]


@np.errstate(divide="ignore", invalid="ignore")
def _z_scores(weights: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N,) cells against (N, n) others, row by row; NaN in them is what does not count."""
    if others.shape[1] < 2:
        return np.full(len(weights), np.nan, np.float32)
    compared = np.ma.masked_invalid(_log_odds(others))
    mean, spread = (each.filled(np.nan) for each in (compared.mean(axis=1), compared.std(axis=1)))
    z: NDArray[np.float32] = (_log_odds(weights) - mean) / np.where(spread > 1e-6, spread, np.nan)
    return z


def _log_odds(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    inside = np.clip(weights, LEAST, 1 - LEAST)
    odds: NDArray[np.float32] = np.log(inside) - np.log1p(-inside)
    return odds
