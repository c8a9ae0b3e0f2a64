"""One attention pattern as lines between two columns of tokens. Legend: T tokens; rows are queries, columns keys."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import token_names

Array = NDArray[np.float32]

_WIDTHS = ((0.02, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""The line view's widths in pixels, by the weight from which they are used."""


@dataclass(frozen=True)
class Stroke:
    """Lines that look alike.

    Attributes:
        colour: as CSS writes it.
        width: in pixels.
        edges: each line's ends, (row of its query, row of its key), from 0.
    """

    colour: str
    width: int
    edges: list[tuple[int, int]]


@dataclass(frozen=True)
class Lines:
    """Two columns of the same tokens and what is drawn between them, the first stroke lowest."""

    names: list[str]
    strokes: list[Stroke]


def head_lines(pattern: Array, tokens: Sequence[str], query: int, *, shown: NDArray[np.bool_]) -> Lines:
    """One pattern as lines from queries (left) to keys (right): the heavier the weight, the thicker the line.

    Each query's `strongest_keys(T)` keys are drawn, above a weight of 0.02; the chosen query's lines stand out.

    Args:
        pattern: (T, T).
        tokens: T pieces.
        query: the query in colour.
        shown: (T,) bool, the tokens to show.
    """
    keep = np.flatnonzero(shown)
    names = token_names(tokens)
    edges = _edges(pattern[np.ix_(keep, keep)], keep == query)
    strokes = [
        Stroke(palette.ATTENTION if chosen else palette.MUTED, width, ends)
        for (chosen, width), ends in sorted(edges.items())
    ]
    return Lines([names[token] for token in keep], strokes)


def strongest_keys(n_tokens: int) -> int:
    """How many keys the line view draws of each query: five, or fewer where the lines would run into a grey area."""
    return max(1, min(5, 300 // n_tokens))


def _edges(pattern: Array, chosen: NDArray[np.bool_]) -> dict[tuple[bool, int], list[tuple[int, int]]]:
    """The lines to draw, (row of the query, row of the key), by whether they are the chosen query's and their width."""
    edges: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for query, row in enumerate(pattern):
        for key in np.argsort(row)[::-1][: strongest_keys(len(pattern))]:
            if row[key] >= _WIDTHS[0][0]:
                width = next(width for low, width in reversed(_WIDTHS) if row[key] >= low)
                edges.setdefault((bool(chosen[query]), width), []).append((query, int(key)))
    return edges
