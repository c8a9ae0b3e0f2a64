"""One attention pattern as lines between two columns of tokens. Legend: T tokens; rows are queries, columns keys."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import style, token_labels

Array = NDArray[np.float32]

_WIDTHS = ((0.02, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""The line view's widths in pixels, by the weight from which they are used."""


def head_lines(pattern: Array, tokens: Sequence[str], query: int, *, shown: NDArray[np.bool_]) -> go.Figure:
    """One pattern as lines from queries (left) to keys (right): the heavier the weight, the thicker the line.

    Each query's `strongest_keys(T)` keys are drawn, above a weight of 0.02; the chosen query's lines stand out.

    Args:
        pattern: (T, T).
        tokens: T pieces.
        query: the query in colour.
        shown: (T,) bool, the tokens to show.
    """
    keep = np.flatnonzero(shown)
    names = token_labels(tokens)
    traces = [
        go.Scatter(
            x=np.tile(np.array([0, 1, np.nan], dtype=np.float32), len(edges)),
            y=np.array([[*edge, np.nan] for edge in edges], dtype=np.float32).ravel(),
            mode="lines",
            line={"color": palette.ATTENTION if chosen else palette.MUTED, "width": width},
            hoverinfo="skip",
        )
        for (chosen, width), edges in sorted(_edges(pattern[np.ix_(keep, keep)], keep == query).items())
    ]
    traces += [
        go.Scatter(
            x=np.full(len(keep), at, dtype=np.uint8),
            y=np.arange(len(keep), dtype=np.int16),
            mode="markers+text",
            text=[names[token] for token in keep],
            textposition=side,
            marker={"size": 5, "color": palette.ATTENTION},
            hoverinfo="skip",
            cliponaxis=False,
        )
        for at, side in ((0, "middle left"), (1, "middle right"))
    ]
    figure = go.Figure(
        traces,
        {
            "xaxis": {
                "range": [-0.35, 1.35],
                "tickvals": [0, 1],
                "ticktext": ["query: who asks", "key: attended to"],
                "side": "top",
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
            },
            "yaxis": {"visible": False, "range": [len(keep) - 0.5, -0.5], "fixedrange": True},
        },
    )
    return style(figure, height=70 + 22 * len(keep))


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
