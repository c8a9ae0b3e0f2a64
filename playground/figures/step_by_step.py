"""The small vectors and matrices of one attention head as pictures. Legend: T tokens, n numbers of a vector."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from playground.figures import palette
from playground.figures.theme import (
    PALE,
    ROOM_ABOVE,
    Array,
    add_frame,
    bar_above,
    colour_bar,
    draw_figure,
    heatmap,
    largest,
    signed_colours,
    style,
    token_labels,
)

SHOWN = 8
"""Numbers of a vector that are drawn; the tables have all of them."""

MOST_ROWS = 16
"""Vectors that one picture shows."""


def vectors(rows: Mapping[str, Array]) -> go.Figure:
    """At most MOST_ROWS vectors, of any lengths: the first SHOWN numbers of each, written into their cells.

    Their names are drawn as they are: tokens in them have to be labels.
    """
    drawn = dict(list(rows.items())[:MOST_ROWS])
    n = min(SHOWN, max(len(vector) for vector in drawn.values()))
    z = np.full((len(drawn), n), np.nan, dtype=np.float32)
    for row, vector in zip(z, drawn.values(), strict=True):
        row[: min(n, len(vector))] = vector[:n]
    look = {"texttemplate": "%{z:.2g}", "textfont": {"size": 11}, **signed_colours(largest(np.abs(z)))}
    return _number_cells(
        z,
        "%{z:.6g}",
        list(drawn),
        height=110 + 30 * len(drawn),
        bar=bar_above("value", nticks=4),
        margin={"t": ROOM_ABOVE},
        **look,
    )


def projections(matrices: Mapping[str, Array], tokens: Sequence[str], query: int, key: int) -> go.Figure:
    """One head's `Q`, `K` and `V`, each (T, d_head), their first SHOWN columns beside one another, a row a token.

    Frames mark the query's row in Q, and the key's in K and V.
    """
    figure = make_subplots(cols=len(matrices), shared_yaxes=True, horizontal_spacing=0.02)
    limit = largest(np.abs(np.concatenate([matrix[:, :SHOWN].ravel() for matrix in matrices.values()])))
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    colours = {"Q": palette.Q, "K": palette.K, "V": palette.V}
    for column, (name, matrix) in enumerate(matrices.items(), start=1):
        z = matrix[:, :SHOWN].astype(np.float32)
        figure.add_heatmap(
            col=column,
            row=1,
            z=z,
            y=token_labels(tokens),
            hovertemplate=f"{name} of %{{y}}, number %{{x}}: %{{z:.4g}}<extra></extra>",
            hoverongaps=False,
            showscale=column == len(matrices),
            colorbar=colour_bar("value"),
            **signed_colours(limit),
        )
        row = query if name == "Q" else key
        add_frame(figure, (row, row), (0, z.shape[1] - 1), palette.FOCUS, subplot=column)
        figure.update_xaxes(
            col=column, title={"text": f"<b>{name}</b>, first {z.shape[1]}", "font": {"color": colours[name]}}, **plain
        )
    figure.update_yaxes(type="category", autorange="reversed", **plain)
    figure.update_yaxes(col=1, title="token")
    return style(figure, height=int(np.clip(130 + 20 * len(tokens), 240, 560)))


def keys(
    values: Array,
    tokens: Sequence[str],
    allowed: NDArray[np.bool_],
    *,
    title: str,
    paler: Array | None = None,
    paler_name: str = "pinned",
) -> go.Figure:
    """One number a key, (T,), as bars; a key that is not allowed has none.

    Paler beside each stands the same number of other settings.
    """
    sides = [("", values, 1.0)] + ([] if paler is None else [(f", {paler_name}", paler, PALE)])
    bars = [
        go.Bar(
            x=token_labels(tokens),
            y=np.where(allowed & np.isfinite(numbers), numbers, np.nan).astype(np.float32),
            marker={"color": palette.ATTENTION},
            opacity=opacity,
            hovertemplate=f"%{{x}}{side}: %{{y:.4g}}<extra></extra>",
            showlegend=False,
        )
        for side, numbers, opacity in sides
    ]
    x_axis = {"title": "key", "type": "category", "tickangle": -55, "range": [-0.5, len(tokens) - 0.5]}
    figure = draw_figure(
        bars,
        height=320,
        x_axis={**x_axis, "fixedrange": True},
        y_axis={"title": title, "fixedrange": True},
    )
    for i in np.flatnonzero(~allowed):
        figure.add_vrect(x0=i - 0.5, x1=i + 0.5, fillcolor=palette.MUTED, line_width=0, layer="below")
    return figure


def drops(rows: Mapping[str, tuple[Array, Array]]) -> go.Figure:
    """Vectors (before, after) dropout, the first 2 · SHOWN numbers of each: what they were multiplied by.

    What was dropped stands out; what was 0 before stays empty.
    """
    n = min(2 * SHOWN, max(len(before) for before, _ in rows.values()))
    factors = np.full((len(rows), n), np.nan, dtype=np.float32)
    texts = np.full((len(rows), n, 2), np.nan, dtype=np.float32)
    for i, (before, after) in enumerate(rows.values()):
        m = min(n, len(before))
        np.divide(after[:m], before[:m], where=before[:m] != 0, out=factors[i, :m])
        texts[i, :m] = np.stack([before[:m], after[:m]], axis=-1)
    hover = "%{customdata[0]:.4g} → %{customdata[1]:.4g}"
    look = {"texttemplate": "%{z:.2f}", "zmin": 0, "zmax": max(1.0, largest(factors)), "reversescale": True}
    return _number_cells(factors, hover, list(rows), height=100 + 34 * len(rows), bar=None, customdata=texts, **look)


def _number_cells(z: Array, hover: str, names: list[str], **options: Any) -> go.Figure:
    """Vectors (rows, n) as cells with gaps, a row a vector and a column a number."""
    n = z.shape[1]
    axis = {"title": f"number in the vector, first {n}", "dtick": 1, "fixedrange": True}
    options |= {
        "x": np.arange(n),
        "y": names,
        "xgap": 1,
        "ygap": 1,
        "x_axis": axis,
        "y_axis": {"type": "category", "fixedrange": True},
    }
    return heatmap(z, f"%{{y}}, number %{{x}}: {hover}", **options)
