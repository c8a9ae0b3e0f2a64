"""One attention pattern as lines between two columns of tokens. Legend: T tokens; rows are queries, columns keys.

A drawing of our own: Plotly needs several passes over a chart, each of which measures every token on it; that took
longer than all else on the page.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.figure import Array, Figure, style
from playground.charts.names import token_names

SMALLEST_WEIGHT = 0.02
"""Lighter weights have no line."""

MOST_TOKENS = 100
"""Tokens that are drawn, at most: names of more would overlap, or leave two screens."""

_HEIGHT = 1_500
"""Pixels for all rows, where they are many; each has between the two numbers of `_ROW_HEIGHTS`."""

_ROW_HEIGHTS = (15, 22)

_INK = "#17151f"
"""Colour of names, which are read on white paper or on a white page alone."""

_WIDTHS = ((SMALLEST_WEIGHT, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""Widths in pixels, by the weight from which they are used."""


@dataclass(frozen=True)
class Stroke:
    """Lines that look alike, each with its ends, (row of its query, row of its key), from 0."""

    colour: str
    width: int
    """In pixels."""
    edges: list[tuple[int, int]]


@dataclass(frozen=True)
class Lines:
    """Two columns of the same tokens and what is drawn between them, the first stroke lowest."""

    names: list[str]
    positions: list[int]
    """Of the tokens, in the sentence."""
    strokes: list[Stroke]
    row_height: int
    """Of each token, in pixels."""


def lines_figure(lines: Lines) -> Figure:
    """A head's lines as a figure, for pictures and notebooks: queries on the left, keys on the right."""
    traces = [
        {
            "type": "scatter",
            "x": np.array([0, 1, np.nan] * len(stroke.edges)),
            "y": np.array([row for ends in stroke.edges for row in (*ends, np.nan)], np.float64),
            "mode": "lines",
            "line": {"color": stroke.colour, "width": stroke.width},
            "hoverinfo": "skip",
        }
        for stroke in lines.strokes
    ]
    names, rows = [html.escape(name, quote=False) for name in lines.names], np.arange(len(lines.names))
    traces += [
        {
            "type": "scatter",
            "x": np.full(len(rows), side),
            "y": rows,
            "mode": "markers+text",
            "marker": {"color": palette.ATTENTION, "size": 5},
            "text": names,
            "textposition": place,
            "textfont": {"color": _INK},
            "hoverinfo": "skip",
        }
        for side, place in ((0, "middle left"), (1, "middle right"))
    ]
    plain = {"showgrid": False, "showticklabels": False, "zeroline": False}
    x_axis = {**plain, "range": [-0.45, 1.45], "title": "query → key"}
    y_axis = {**plain, "range": [len(names) - 0.5, -0.5]}
    return style(traces, {"xaxis": x_axis, "yaxis": y_axis}, height=60 + lines.row_height * len(names))


def head_lines(pattern: Array, tokens: Sequence[str], query: int, key: int, *, shown: NDArray[np.bool_]) -> Lines:
    """Lines from queries (left) to keys (right): the heavier the weight, the thicker the line.

    Each query's `strongest_keys(T)` keys are drawn, from `SMALLEST_WEIGHT` on; the chosen query's lines stand out. The
    one to the chosen key is drawn above all others, however light.
    The pattern is (T, T); `shown` (T,) bool marks the tokens to draw.
    """
    rows = np.flatnonzero(shown)
    names = token_names(tokens)
    edges = _edges(pattern[np.ix_(rows, rows)], rows == query)
    strokes = [
        Stroke(palette.ATTENTION if chosen else palette.MUTED, width, ends)
        for (chosen, width), ends in sorted(edges.items())
    ]
    if shown[query] and shown[key]:
        ends = (int(np.searchsorted(rows, query)), int(np.searchsorted(rows, key)))
        strokes.append(Stroke(palette.FOCUS, _width(pattern[query, key]), [ends]))
    row_height = int(np.clip(_HEIGHT // max(1, len(rows)), *_ROW_HEIGHTS))
    return Lines([names[token] for token in rows], rows.tolist(), strokes, row_height)


def choose_tokens(weights: Array, query: int, key: int, *, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The shown tokens that are drawn, (T,): of more than MOST_TOKENS, the key, the query's neighbours and strongest.

    Weights are the query's, (T,).
    """
    if shown.sum() <= MOST_TOKENS:
        return shown
    distance = np.abs(np.arange(len(weights)) - query)
    if shown[query]:
        distance[np.argsort(weights)[::-1][: strongest_keys(MOST_TOKENS)]] = 0
        distance[key] = 0
    nearest = np.argsort(np.where(shown, distance, 2 * len(weights)), kind="stable")
    drawn = np.zeros(len(weights), bool)
    drawn[nearest[:MOST_TOKENS]] = True
    return drawn


def strongest_keys(n_tokens: int) -> int:
    """How many keys are drawn of each query: five, or fewer where the lines would run into a grey area."""
    return max(1, min(5, 300 // n_tokens))


def thickest_line(lines: Lines) -> str:
    """A sentence on the chosen query's thickest line; empty where it has none."""
    chosen = [stroke for stroke in lines.strokes if stroke.colour == palette.ATTENTION]
    if not chosen:
        return ""
    query, key = max(chosen, key=lambda stroke: stroke.width).edges[0]
    return f"The thickest of them leads from {lines.names[query]} to {lines.names[key]}."


def _edges(pattern: Array, chosen: NDArray[np.bool_]) -> dict[tuple[bool, int], list[tuple[int, int]]]:
    """The lines to draw, (row of the query, row of the key), by whether they are the chosen query's and their width."""
    edges: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for query, row in enumerate(pattern):
        for key in np.argsort(row)[::-1][: strongest_keys(len(pattern))]:
            if row[key] >= SMALLEST_WEIGHT:
                edges.setdefault((bool(chosen[query]), _width(row[key])), []).append((query, int(key)))
    return edges


def _width(weight: float) -> int:
    """How thick a line of this weight is, in pixels."""
    return next((width for low, width in reversed(_WIDTHS) if weight >= low), _WIDTHS[0][1])
