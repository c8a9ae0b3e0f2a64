"""Which heads link two tokens: every head of a run ranked by one cell of its pattern.

Legend: L layers, H heads, T tokens, padding included, n cells.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.runs.encoder_run import Run

FEWEST = 8
"""Cells of a head to compare one with; where fewer are at its distance, those at the nearest distances join them."""

LEAST = 1e-5
"""Weights are read as at least this, and at most 1 minus this: the log-odds of 0 and 1 are infinite."""


@dataclass(frozen=True)
class HeadSearch:
    """Every head's weight from a query to a key, and how it compares."""

    table: pd.DataFrame
    """A row a head, the largest weight first: `layer`, `head`, `weight`, `rank` of the weight among the keys that its
    layer lets the query see, from 1, and `z`, how unusual it is for that head. Rank and z are NaN where a window hides
    the key."""
    n_keys: int
    """Keys that the query may attend to, in the layers where these are most."""
    n_compared: int
    """Cells of each head that `z` compares with, where no window hides some of them."""
    distances: tuple[int, int]
    """The lowest and the highest key − query of those cells; the cell's own where there are none."""


def search_heads(run: Run, query: int, key: int) -> HeadSearch:
    """Rank all heads by the weight from a query to a key that it may attend to.

    `z` is the cell's log-odds, log w − log(1 − w), minus their mean over other cells of the same head in this text,
    over their standard deviation. Those are the cells with the same key − query: a head that always looks one token
    back is not called unusual for it. Where they are fewer than `FEWEST`, those at the nearest distances join them.
    Padding never counts, nor does what a layer's window hides. `z` is NaN where the window hides the cell itself, where
    there are fewer than two such cells, or all are equal.
    """
    queries, keys = _other_cells(run, query, key)
    allowed = run.allowed_in_layers()  # (L, T, T)
    patterns = [run.arrays[f"layers.{layer}.attn.pattern"] for layer in range(len(allowed))]
    weights = np.concatenate([pattern[:, query, key] for pattern in patterns])  # (L · H,)

    def seen(*at: int | NDArray[np.intp]) -> NDArray[np.float32]:
        """All heads' weights at these places, (L · H, …); NaN where their layer hides them."""
        each = (np.where(may[at], pattern[:, *at], np.nan) for may, pattern in zip(allowed, patterns, strict=True))
        return np.concatenate([*each])

    cells, others, rows = seen(query, key), seen(queries, keys), seen(query)  # (L · H,), (L · H, n), (L · H, T)
    ranks = np.where(np.isnan(cells), np.nan, 1 + (rows > cells[:, None]).sum(axis=1))
    n_heads = run.config.n_heads
    table = pd.DataFrame(
        {
            "layer": np.repeat(np.arange(len(patterns)), n_heads),
            "head": np.tile(np.arange(n_heads), len(patterns)),
            "weight": weights,
            "rank": ranks if np.isnan(cells).any() else ranks.astype(int),
            "z": _z_scores(cells, others),
        }
    )
    table = table.sort_values("weight", ascending=False, kind="stable", ignore_index=True)
    distances = keys - queries if queries.size else np.array([key - query])
    n_keys = int(allowed[:, query].sum(axis=-1).max())
    return HeadSearch(table, n_keys, others.shape[1], (int(distances.min()), int(distances.max())))


def strongest_heads(run: Run, query: int, key: int, n: int) -> list[tuple[int, int, float]]:
    """Layer, head and weight of the n heads with the most weight from a query to a key, in `search_heads`' order."""
    layers = range(run.config.n_layers)
    weights = np.stack([run.arrays[f"layers.{layer}.attn.pattern"][:, query, key] for layer in layers])  # (L, H)
    largest = np.argsort(-weights, axis=None, kind="stable")[: min(n, int(np.isfinite(weights).sum()))]
    places = zip(*np.unravel_index(largest, weights.shape), strict=True)
    return [(int(layer), int(head), float(weights[layer, head])) for layer, head in places]


def _other_cells(run: Run, query: int, key: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Queries (n,) and keys (n,) of the cells to compare with."""
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
