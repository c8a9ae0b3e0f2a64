"""One attention pattern as lines between two columns of tokens. Legend: T tokens; rows are queries, columns keys.

A drawing of our own: Plotly takes longer for it than for the rest of the page.
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
"""Tokens that are drawn, at most."""

_HEIGHT = 1_500
"""Pixels for all rows, if they are many."""

_ROW_HEIGHTS = (15, 22)

_INK = "#17151f"
"""Of names, on white alone."""

_WIDTHS = ((SMALLEST_WEIGHT, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""Pixels, by the weight from which they are used."""


@dataclass(frozen=True)
class Stroke:
    """Lines that look alike, each from (row of its query, row of its key)."""

    colour: str
    width: int
    edges: list[tuple[int, int]]


@dataclass(frozen=True)
class Lines:
    """Two columns of the same tokens and the strokes between them, the first lowest."""

    names: list[str]
    positions: list[int]
    strokes: list[Stroke]
    row_height: int


def lines_figure(lines: Lines) -> Figure:
    """A head's lines as a figure, queries on the left."""
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

    Each query's strongest keys are drawn; the chosen query's stand out, and the line to the chosen key is on top.
    The pattern is (T, T); `shown` (T,) marks the tokens to draw.
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


def choose_tokens(query: int, *, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The shown tokens that are drawn, (T,): of more than MOST_TOKENS, the nearest to the query."""
    distances = np.where(shown, np.abs(np.arange(len(shown)) - query), len(shown))
    drawn = np.zeros(len(shown), bool)
    drawn[np.argsort(distances, kind="stable")[:MOST_TOKENS]] = True
    return drawn & shown


def strongest_keys(n_tokens: int) -> int:
    """How many keys are drawn of each query."""
    return max(1, min(5, 300 // n_tokens))


def thickest_line(lines: Lines) -> str:
    """A sentence on the chosen query's thickest line; empty without one."""
    chosen = [stroke for stroke in lines.strokes if stroke.colour == palette.ATTENTION]
    if not chosen:
        return ""
    query, key = max(chosen, key=lambda stroke: stroke.width).edges[0]
    return f"The thickest of them leads from {lines.names[query]} to {lines.names[key]}."


def _edges(pattern: Array, chosen: NDArray[np.bool_]) -> dict[tuple[bool, int], list[tuple[int, int]]]:
    """(row of the query, row of the key), by whether the query is chosen, and by width."""
    edges: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for query, row in enumerate(pattern):
        for key in np.argsort(row)[::-1][: strongest_keys(len(pattern))]:
            if row[key] >= SMALLEST_WEIGHT:
                edges.setdefault((bool(chosen[query]), _width(row[key])), []).append((query, int(key)))
    return edges


def _width(weight: float) -> int:
    return next((width for low, width in reversed(_WIDTHS) if weight >= low), _WIDTHS[0][1])
