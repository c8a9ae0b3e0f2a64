"""The layer, the head and the two tokens that one run is looked at in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from playground.runs.encoder_run import Run
from playground.text.pronouns import choose_pronoun


@dataclass(frozen=True)
class Focus:
    """A place in one run: each number counts from 0 and is one that the run has."""

    layer: int
    head: int
    query: int
    """Position of the token that asks; padding asks nothing."""
    key: int
    """Position of the token that is asked; it may be padding."""


def last_places(n_layers: int, n_heads: int, n_real: int, n_tokens: int) -> Focus:
    """The last layer, head, query and key of a run with so many layers, heads, tokens but padding, and tokens."""
    return Focus(n_layers - 1, n_heads - 1, max(n_real - 1, 0), n_tokens - 1)


def nearest_places(asked: Mapping[str, int], last: Focus) -> Focus:
    """What was asked for, by the fields of `Focus`, or the nearest that a run with these last places has."""
    return Focus(**{place: min(asked[place], limit) for place, limit in vars(last).items()})


def choose_pair(run: Run, focus: Focus, query: int | None = None) -> Focus:
    """The focus with a query and a key that say something about its head, where nobody has chosen any.

    Args:
        run: whose tokens and weights they are.
        focus: whose layer and head stay.
        query: one that stands already; else it is the first pronoun, or the last word where there is none.

    Returns:
        With the word that the query looks at most as its key, itself aside. Punctuation is taken where there is no
        other word, and special tokens where there is nothing else.
    """
    is_word = [any(map(str.isalnum, token)) for token in run.tokens]
    ranks = np.where(run.padding, -1, np.where(run.special, 0, np.where(is_word, 2, 1)))
    if query is None:
        query = _choose_query(run, ranks)
    ranks = np.where(run.allowed[query], ranks, -1)
    ranks[query] = min(ranks[query], 0)
    weights = np.nan_to_num(run.pattern(focus.layer)[focus.head, query], nan=-1.0)
    return replace(focus, query=query, key=int(np.where(ranks == ranks.max(), weights, -2.0).argmax()))


def _choose_query(run: Run, ranks: NDArray[np.int_]) -> int:
    pronoun = choose_pronoun([token if rank > 0 else "" for token, rank in zip(run.tokens, ranks, strict=True)])
    return int(np.flatnonzero(ranks == ranks.max())[-1]) if pronoun is None else pronoun
