"""What attention patterns show: entropy and rollout, what a head is known for, and which heads link two tokens.

Legend: L layers; H heads; T tokens, padding included. A pattern's rows are queries.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.config import ModelConfig
from playground.errors import InputError
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run


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


Mask = NDArray[np.bool_]

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
"""Sentences that every head can be measured on: short and long, with repeated words and several marks."""

KNOWN_FROM = 0.5
"""Score from which on a head is known for something; a rule's places also have to get twice an even head's share."""


def check_probes(unknown: Sequence[Sequence[bool]]) -> None:
    """Raise InputError where too many of these tokens, those of the fixed sentences, are unknown to the tokenizer."""
    flags = [flag for sentence in unknown for flag in sentence]
    if sum(flags) > len(flags) / 4:
        raise InputError("This tokenizer knows too few words of the fixed sentences; look at this text instead.")


@dataclass(frozen=True)
class Habits:
    """Every head's scores, by the name of the rule."""

    scores: dict[str, NDArray[np.float64]]
    """(L, H), in 0 … 1; NaN where no query has a place that the rule names."""
    even: dict[str, NDArray[np.float64]]
    """(L,): what a head of each layer would score that attends evenly to all keys it may."""

    def known_for(self, layer: int, head: int) -> str | None:
        """The rule that a head follows most, by `KNOWN_FROM`; None where it follows none.

        `position only` stands back where another rule is met: whoever looks one token back follows the distance too.
        """
        scores = {
            name: float(values[layer, head])
            for name, values in self.scores.items()
            if values[layer, head] >= max(KNOWN_FROM, 2 * self.even[name][layer])
        }
        if len(scores) > 1:
            scores.pop(POSITION_ONLY, None)
        return max(scores, key=lambda name: scores[name], default=None)


def _previous(run: Run) -> Mask:
    return np.eye(len(run.tokens), k=-1, dtype=bool)


def _next(run: Run) -> Mask:
    return np.eye(len(run.tokens), k=1, dtype=bool)


def _same(run: Run) -> Mask:
    tokens = np.array(run.tokens, dtype=object)
    return np.asarray(tokens[:, None] == tokens, dtype=bool)


def _special(run: Run) -> Mask:
    return np.broadcast_to(run.special & ~run.padding, run.allowed.shape)


def _punctuation(run: Run) -> Mask:
    marks = [all(unicodedata.category(letter).startswith("P") for letter in token) for token in run.tokens]
    return np.broadcast_to(np.array(marks) & ~run.special, run.allowed.shape)


POSITION_ONLY = "position only"

RULES: dict[str, Callable[[Run], Mask]] = {
    "previous token": _previous,
    "next token": _next,
    "same token": _same,
    "[CLS] and [SEP]": _special,
    "punctuation": _punctuation,
}
"""Which keys each rule names for every query: (T, T). Previous and next: Clark et al. 2019, "What Does BERT Look At?",
section 3.1, and the positional heads of Voita et al. 2019, section 5. Same token: the query's own place and every other
one with the same piece. Special tokens, as a sink for weight that has no better use, and punctuation: Clark et al.
2019, section 3.2."""


@np.errstate(invalid="ignore")
def measure_habits(runs: Sequence[Run]) -> Habits:
    """Score every head of one encoder on runs of it.

    A rule's score is the weight on the keys that it names, averaged over the queries for which it names one that they
    may attend to. `position only` is the share of the variance of all weights that the distance between query and key
    alone explains: R² of the mean weight at each distance, adjusted for their number (after the variability of Vig &
    Belinkov 2019, "Analyzing the Structure of Attention in a Transformer Language Model", which asks the same of
    position). Queries are the text's own tokens: special ones and padding ask nothing here.
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
    """(T,): the queries that count."""
    return ~run.special & ~run.padding


@np.errstate(divide="ignore", invalid="ignore")
def _explained_by_distance(
    runs: Sequence[Run], patterns: Sequence[NDArray[np.float32]], layer: int
) -> NDArray[np.float64]:
    """Adjusted R² of the mean weight at each distance in one layer, not below 0: (H,)."""
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


def pattern_spread(run: Run) -> Array:
    """How evenly each head spreads its attention: mean entropy of its rows, as a share of the highest, (L, H).

    0: every token attends to one key alone, the most striking pattern. 1: every token attends to all keys evenly.
    NaN where no token has two keys to choose from. Padding's rows do not count.
    """
    rows = ~run.padding
    highest = np.array([[highest_entropy(run.allowed_in(i), rows)] for i in range(run.config.n_layers)])  # (L, 1)
    spread = mean_entropy(run.patterns(), rows)
    shares: Array = np.divide(spread, highest, out=np.full_like(spread, np.nan), where=highest > 0).astype(np.float32)
    return shares
