"""Attention patterns: entropy, what a head is known for, which heads link two tokens.

Legend: L layers, H heads, T tokens with padding, n cells.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.errors import InputError
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run

Mask = NDArray[np.bool_]


def entropy(patterns: Array) -> Array:
    """Return −Σ p log₂ p of each row: (…, T, T) → (…, T), in bits."""
    logs = np.log2(patterns, where=patterns > 0, out=np.zeros_like(patterns))
    bits: Array = np.maximum(0, 0 - (patterns * logs).sum(axis=-1))
    return bits


def mean_entropy(patterns: Array, rows: Mask) -> Array:
    """Average entropy over the chosen rows: (L, H, T, T), (T,) → (L, H)."""
    means: Array = entropy(patterns)[..., rows].mean(axis=-1)
    return means


def highest_entropy(allowed: Mask, rows: Mask) -> float:
    """Return `mean_entropy` of even attention: (T, T), (T,) → bits."""
    return float(np.log2(allowed[rows].sum(axis=-1)).mean())


def pattern_spread(run: Run) -> Array:
    """Return each head's mean entropy as a share of the highest, (L, H); NaN without two keys."""
    rows = ~run.padding
    highest = np.array([[highest_entropy(run.allowed_in(i), rows)] for i in range(run.config.n_layers)])  # (L, 1)
    spread = mean_entropy(run.patterns(), rows)
    shares: Array = np.divide(spread, highest, out=np.full_like(spread, np.nan), where=highest > 0).astype(np.float32)
    return shares


# --- what heads are known for

PROBES = (
    "The old clock on the wall stopped at noon.",
    "Anna gave the book to her brother, and he read it twice.",
    "When the rain began, the children ran back to the house.",
    "A red car and a blue car waited behind a red bus.",
    "Did you see where the cat went last night?",
    "Fresh bread, warm milk and honey: that was our breakfast.",
    "The doctor who treated my father moved to another town.",
    "Nobody knew the answer, so nobody spoke.",
    "He said that she said that they would be late!",
    "Seven plus five is twelve; five plus seven is twelve.",
    "Snow fell.",
    "Because the bridge was closed, we took the long road along the river to the city.",
)

KNOWN_FROM = 0.5
"""Least score of a known head; it must also be twice an even head's."""


def check_probes(unknown: Sequence[Sequence[bool]]) -> None:
    """Raise InputError if a quarter of the probes' tokens are unknown."""
    flags = [flag for sentence in unknown for flag in sentence]
    if sum(flags) > len(flags) / 4:
        raise InputError("This tokenizer knows too few words of the fixed sentences; look at this text instead.")


@dataclass(frozen=True)
class Habits:
    """Every head's scores, by the name of the rule."""

    scores: dict[str, NDArray[np.float64]]
    """(L, H), 0 … 1; NaN if no key follows the rule."""
    even: dict[str, NDArray[np.float64]]
    """(L,): the score of even attention."""

    def known_for(self, layer: int, head: int) -> str | None:
        """Return the rule that a head follows most."""
        scores = {
            name: float(values[layer, head])
            for name, values in self.scores.items()
            if values[layer, head] >= max(KNOWN_FROM, 2 * self.even[name][layer])
        }
        if len(scores) > 1:
            scores.pop(POSITION_ONLY, None)
        return max(scores, key=lambda name: scores[name], default=None)


POSITION_ONLY = "position only"


def _same(run: Run) -> Mask:
    tokens = np.array(run.tokens, dtype=object)
    return np.asarray(tokens[:, None] == tokens, dtype=bool)


def _punctuation(run: Run) -> Mask:
    marks = [all(unicodedata.category(letter).startswith("P") for letter in token) for token in run.tokens]
    return np.broadcast_to(np.array(marks) & ~run.special, run.allowed.shape)


RULES: dict[str, Callable[[Run], Mask]] = {
    "previous token": lambda run: np.eye(len(run.tokens), k=-1, dtype=bool),
    "next token": lambda run: np.eye(len(run.tokens), k=1, dtype=bool),
    "same token": _same,
    "[CLS] and [SEP]": lambda run: np.broadcast_to(run.special & ~run.padding, run.allowed.shape),
    "punctuation": _punctuation,
}
"""Keys by rule, (T, T): Clark et al. 2019, section 3."""


@np.errstate(invalid="ignore")
def measure_habits(runs: Sequence[Run]) -> Habits:
    """Score every head on runs of one encoder: the mean weight on a rule's keys, over the text's own tokens.

    `position only`: adjusted R² of the mean weight at each distance (after Vig & Belinkov 2019).
    """
    scores, even = {}, {}
    patterns = [run.patterns() for run in runs]
    allowed = [run.allowed_in_layers() for run in runs]  # (L, T, T) each
    for name, rule in RULES.items():
        named = [rule(run) & may & _asking(run)[:, None] for run, may in zip(runs, allowed, strict=True)]
        n_queries = sum(places.any(axis=-1).sum(axis=-1) for places in named)  # (L,)
        weights = sum(
            np.einsum("lhqk,lqk->lh", pattern, places) for pattern, places in zip(patterns, named, strict=True)
        )
        shares = sum(
            (places.sum(-1) / may.sum(-1).clip(1)).sum(axis=-1) for may, places in zip(allowed, named, strict=True)
        )
        counted = np.where(n_queries, n_queries, np.nan)
        scores[name] = np.asarray(weights, np.float64) / counted[:, None]
        even[name] = shares / counted
    layers = range(runs[0].config.n_layers)
    scores[POSITION_ONLY] = np.stack([_explained_by_distance(runs, patterns, layer) for layer in layers])
    even[POSITION_ONLY] = np.zeros(len(layers))
    return Habits(scores, even)


def _asking(run: Run) -> Mask:
    return ~run.special & ~run.padding


@np.errstate(divide="ignore", invalid="ignore")
def _explained_by_distance(runs: Sequence[Run], patterns: Sequence[Array], layer: int) -> NDArray[np.float64]:
    """Adjusted R², not below 0: (H,)."""
    cells, distances = [], []
    for run, pattern in zip(runs, patterns, strict=True):
        queries, keys = np.nonzero(run.allowed_in(layer) & _asking(run)[:, None])
        cells.append(pattern[layer][:, queries, keys])
        distances.append(keys - queries)
    weights, distance = np.concatenate(cells, axis=-1), np.concatenate(distances)  # (H, n), (n,)
    order = np.argsort(distance, kind="stable")
    different, starts, counts = np.unique(distance[order], return_index=True, return_counts=True)
    n = len(distance)
    if n <= len(different):
        return np.full(len(weights), np.nan)
    weights = weights[:, order].astype(np.float64)
    weights -= weights.mean(axis=-1, keepdims=True)
    between = (np.add.reduceat(weights, starts, axis=-1) ** 2 / counts).sum(axis=-1)
    total = (weights**2).sum(axis=-1)
    left = (1 - between / np.where(total > 1e-12, total, np.nan)) * (n - 1) / (n - len(different))
    explained: NDArray[np.float64] = np.clip(1 - left, 0, 1)
    return explained


# --- which heads link two tokens

FEWEST = 8
"""Cells to compare one with, at least."""

LEAST = 1e-5
"""Weights are clipped to this and 1 minus this: log-odds end."""


def weights_by_head(run: Run, *at: Any) -> Array:
    """Return all heads' weights at places (query, key) of their maps: (L, H, …); NaN if hidden."""
    layers = range(run.config.n_layers)
    patterns = (run.arrays[f"layers.{layer}.attn.pattern"] for layer in layers)
    return np.stack([np.where(run.allowed_in(layer)[at], each[:, *at], np.nan) for layer, each in enumerate(patterns)])


def search_heads(run: Run, query: int, key: int) -> pd.DataFrame:
    """Rank all heads by the weight from a query to a key.

    `rank` is among the query's keys, `z` among the head's log-odds at that distance; NaN if hidden.
    """
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
    seen = (weights_by_head(run, *at) for at in ((query, key), _other_cells(run, query, key), (query,)))
    cells, others, rows = (each.reshape(n_layers * n_heads, *each.shape[2:]) for each in seen)
    ranks = np.where(np.isnan(cells), np.nan, 1 + (rows > cells[:, None]).sum(axis=1))
    heads = pd.MultiIndex.from_product([range(n_layers), range(n_heads)], names=["layer", "head"])
    columns = {
        "weight": np.concatenate([run.arrays[f"layers.{n}.attn.pattern"][:, query, key] for n in range(n_layers)]),
        "rank": ranks if np.isnan(cells).any() else ranks.astype(int),
        "z": _z_scores(cells, others),
    }
    return pd.DataFrame(columns, heads).sort_values("weight", ascending=False, kind="stable")


def _other_cells(run: Run, query: int, key: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    allowed = run.allowed & ~run.padding[:, None]
    allowed[query, key] = False
    queries, keys = np.nonzero(allowed)
    off = np.abs((keys - queries) - (key - query))
    enough = np.flatnonzero(np.bincount(off, minlength=1).cumsum() >= FEWEST)
    nearest = off <= (enough[0] if enough.size else len(run.tokens) * 2)
    return queries[nearest], keys[nearest]


@np.errstate(divide="ignore", invalid="ignore")
def _z_scores(weights: Array, others: Array) -> Array:
    """Compare (N,) cells with (N, n) others, row by row; NaN is left out."""
    if others.shape[1] < 2:
        return np.full(len(weights), np.nan, np.float32)
    compared = np.ma.masked_invalid(_log_odds(others))
    mean, spread = (each.filled(np.nan) for each in (compared.mean(axis=1), compared.std(axis=1)))
    z: Array = (_log_odds(weights) - mean) / np.where(spread > 1e-6, spread, np.nan)
    return z


def _log_odds(weights: Array) -> Array:
    inside = np.clip(weights, LEAST, 1 - LEAST)
    odds: Array = np.log(inside) - np.log1p(-inside)
    return odds
