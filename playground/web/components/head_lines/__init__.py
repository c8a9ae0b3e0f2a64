"""One attention pattern as lines between two columns of tokens. Legend: T tokens; rows are queries, columns keys.

A drawing of our own: Plotly needs several passes over a chart, each of which measures every token on it; that took
longer than all else on the page.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import Array, token_names
from playground.web.components.load_component import load_component

SMALLEST_WEIGHT = 0.02
"""Lighter weights have no line."""

MOST_TOKENS = 100
"""Tokens that are drawn, at most: names of more would overlap, or leave two screens."""

_HEIGHT = 1_500
"""Pixels for all rows, where they are many; each has between the two numbers of `_ROW_HEIGHTS`."""

_ROW_HEIGHTS = (15, 22)

_WIDTHS = ((SMALLEST_WEIGHT, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""Widths in pixels, by the weight from which they are used."""

_lines = load_component("head_lines", draws=True)


@dataclass(frozen=True)
class Stroke:
    """Lines that look alike, each with its ends, (row of its query, row of its key), from 0."""

    colour: str
    width: int
    """In pixels."""
    edges: list[tuple[int, int]]


@dataclass(frozen=True)
class HeadLines:
    """Two columns of the same tokens and what is drawn between them, the first stroke lowest."""

    names: list[str]
    strokes: list[Stroke]
    row_height: int
    """Of each token, in pixels."""


def draw_head_lines(key: str, lines: HeadLines, *, caption: str, alt: str) -> None:
    """Draw a head's lines in a container of its name, with one caption, as `panels.chart` does."""
    with st.container(key=key):
        _lines(key=f"{key}_drawing", data={**asdict(lines), "dots": palette.ATTENTION, "alt": alt})
        st.caption(caption)


def head_lines(pattern: Array, tokens: Sequence[str], query: int, *, shown: NDArray[np.bool_]) -> HeadLines:
    """Lines from queries (left) to keys (right): the heavier the weight, the thicker the line.

    Each query's `strongest_keys(T)` keys are drawn, from `SMALLEST_WEIGHT` on; the chosen query's lines stand out.
    The pattern is (T, T); `shown` (T,) bool marks the tokens to draw.
    """
    rows = np.flatnonzero(shown)
    names = token_names(tokens)
    edges = _edges(pattern[np.ix_(rows, rows)], rows == query)
    strokes = [
        Stroke(palette.ATTENTION if chosen else palette.MUTED, width, ends)
        for (chosen, width), ends in sorted(edges.items())
    ]
    row_height = int(np.clip(_HEIGHT // max(1, len(rows)), *_ROW_HEIGHTS))
    return HeadLines([names[token] for token in rows], strokes, row_height)


def choose_tokens(weights: Array, query: int, *, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The shown tokens that are drawn, (T,): of more than MOST_TOKENS, the query's strongest keys and its neighbours.

    Weights are the query's, (T,).
    """
    if shown.sum() <= MOST_TOKENS:
        return shown
    distance = np.abs(np.arange(len(weights)) - query)
    if shown[query]:
        distance[np.argsort(weights)[::-1][: strongest_keys(MOST_TOKENS)]] = 0
    nearest = np.argsort(np.where(shown, distance, 2 * len(weights)), kind="stable")
    drawn = np.zeros(len(weights), bool)
    drawn[nearest[:MOST_TOKENS]] = True
    return drawn


def strongest_keys(n_tokens: int) -> int:
    """How many keys are drawn of each query: five, or fewer where the lines would run into a grey area."""
    return max(1, min(5, 300 // n_tokens))


def _edges(pattern: Array, chosen: NDArray[np.bool_]) -> dict[tuple[bool, int], list[tuple[int, int]]]:
    """The lines to draw, (row of the query, row of the key), by whether they are the chosen query's and their width."""
    edges: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for query, row in enumerate(pattern):
        for key in np.argsort(row)[::-1][: strongest_keys(len(pattern))]:
            if row[key] >= SMALLEST_WEIGHT:
                width = next(width for low, width in reversed(_WIDTHS) if row[key] >= low)
                edges.setdefault((bool(chosen[query]), width), []).append((query, int(key)))
    return edges
