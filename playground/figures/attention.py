"""Attention patterns as pictures. Legend: L layers, H heads, T tokens; a pattern's rows are queries, columns keys."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import diverging, style, token_labels

Array = NDArray[np.float32]

THUMBNAIL = 22
"""Dots along a thumbnail's side, at most: more would be smaller than a pixel is wide."""

STRONGEST = 5
"""Keys that the line view draws for each query, at most."""

_TICKS = (0.0, 0.05, 0.25, 0.5, 1.0)
_COLOUR_BAR = {"thickness": 10, "len": 1.0, "xpad": 4, "ypad": 0}


def head_grid(patterns: Array, selected: tuple[int, int] | None = None, *, legend: bool = True) -> go.Figure:
    """Every head as a thumbnail: rows are layers, columns heads; darkness is the square root of the weight.

    One heatmap holds them all; over each lies an invisible marker, number layer · H + head, that can be clicked.

    Args:
        patterns: (L, H, T, T), weights in 0 … 1.
        selected: the layer and head to frame.
        legend: whether to name heads and weights beside the picture.
    """
    thumbnails = shrink(patterns)
    n_layers, n_heads, side, _ = thumbnails.shape
    pitch = side + 1  # one empty row and column between thumbnails
    mosaic = np.zeros((n_layers * pitch, n_heads * pitch), dtype=np.uint8)
    for layer in range(n_layers):
        for head in range(n_heads):
            top, left = layer * pitch, head * pitch
            mosaic[top : top + side, left : left + side] = np.sqrt(thumbnails[layer, head]) * 255
    heads, layers = np.arange(n_heads), np.arange(n_layers)
    centre = (side - 1) / 2
    figure = go.Figure(
        [
            go.Heatmap(
                z=mosaic,
                zmin=0,
                zmax=255,
                hoverinfo="skip",
                showscale=legend,
                colorbar={
                    **_COLOUR_BAR,
                    "title": {"text": "weight", "side": "top"},
                    "tickvals": [255 * math.sqrt(tick) for tick in _TICKS],
                    "ticktext": [f"{tick:g}" for tick in _TICKS],
                },
            ),
            go.Scatter(
                x=np.tile(heads * pitch + centre, n_layers),
                y=np.repeat(layers * pitch + centre, n_heads),
                mode="markers",
                marker={"symbol": "square", "size": 26},
                opacity=0,
                hoverinfo="none",
                showlegend=False,
            ),
        ]
    )
    if selected is not None:
        layer, head = selected
        left, top = head * pitch - 1, layer * pitch - 1
        figure.add_shape(
            type="rect",
            x0=left,
            x1=left + pitch,
            y0=top,
            y1=top + pitch,
            line={"color": palette.FEED_FORWARD, "width": 3},
        )
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "showticklabels": legend}
    figure.update_xaxes(title="head", tickvals=heads * pitch + centre, ticktext=[str(n) for n in heads], **axis)
    figure.update_yaxes(
        title="layer", tickvals=layers * pitch + centre, ticktext=[str(n) for n in layers], autorange="reversed", **axis
    )
    figure.update_layout(hovermode="closest", hoverdistance=-1, clickmode="event+select", dragmode=False)
    return style(figure, height=90 + 44 * n_layers)


def shrink(patterns: Array) -> Array:
    """Patterns (L, H, T, T) with at most THUMBNAIL dots a side; each dot is the largest weight below it."""
    n_tokens = patterns.shape[-1]
    block = -(-n_tokens // THUMBNAIL)
    if block == 1:
        return patterns
    missing = -n_tokens % block
    padded = np.pad(patterns, [(0, 0), (0, 0), (0, missing), (0, missing)])
    side = padded.shape[-1] // block
    dots: Array = padded.reshape(*patterns.shape[:2], side, block, side, block).max(axis=(3, 5))
    return dots


def head_heatmap(
    pattern: Array,
    tokens: Sequence[str],
    allowed: NDArray[np.bool_],
    *,
    shown: NDArray[np.bool_] | None = None,
    stretch: bool = False,
    signed: bool = False,
) -> go.Figure:
    """One pattern, large: who (row) attends to whom (column); what is masked stays grey.

    Args:
        pattern: (T, T); weights in 0 … 1, or their differences.
        tokens: T pieces.
        allowed: (T, T), False where a query may not look.
        shown: (T,) bool, the tokens to show; all of them by default.
        stretch: end the colour scale at the largest value, not at 1.
        signed: the pattern is a difference: colours diverge from 0.
    """
    keep = np.ones(len(tokens), dtype=bool) if shown is None else shown
    values = np.where(allowed, pattern, np.float32(np.nan))[np.ix_(keep, keep)].astype(np.float32)
    labels = [label for label, kept in zip(token_labels(tokens), keep, strict=True) if kept]
    largest = float(np.nanmax(np.abs(values), initial=0.0)) if np.isfinite(values).any() else 1.0
    top = max(largest, 1e-6) if stretch or signed else 1.0
    colours = {"colorscale": diverging(), "zmin": -top, "zmax": top} if signed else {"zmin": 0, "zmax": top}
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=labels,
            y=labels,
            hoverongaps=False,
            hovertemplate="%{y} attends to %{x}<br>%{z:.4f}<extra></extra>",
            colorbar={**_COLOUR_BAR, "title": {"text": "difference" if signed else "weight", "side": "top"}},
            **colours,
        )
    )
    figure.update_xaxes(title="key: attended to", type="category", tickangle=-55, showgrid=False, side="bottom")
    figure.update_yaxes(title="query: who asks", type="category", autorange="reversed", showgrid=False)
    figure.update_layout(plot_bgcolor=palette.MUTED)
    return style(figure, height=int(np.clip(150 + 22 * len(labels), 320, 620)))


def head_lines(
    pattern: Array, tokens: Sequence[str], query: int, *, shown: NDArray[np.bool_] | None = None
) -> go.Figure:
    """One pattern as lines from queries (left) to keys (right): the heavier the weight, the thicker the line.

    Each query's STRONGEST keys are drawn, above a weight of 0.02; the chosen query's lines stand out.
    """
    keep = np.flatnonzero(np.ones(len(tokens), dtype=bool) if shown is None else shown)
    place = {int(token): row for row, token in enumerate(keep)}
    edges = [
        (int(q), int(k), float(pattern[q, k]))
        for q in keep
        for k in keep[np.argsort(pattern[q, keep])[::-1][:STRONGEST]]
        if pattern[q, k] >= 0.02
    ]
    figure = go.Figure()
    for chosen, colour in ((False, palette.MUTED), (True, palette.ATTENTION)):
        for low, high, width in ((0.02, 0.1, 1), (0.1, 0.25, 2), (0.25, 0.5, 4), (0.5, 0.75, 6), (0.75, 1.01, 9)):
            group = [(q, k) for q, k, weight in edges if (q == query) is chosen and low <= weight < high]
            y = np.array([[place[q], place[k], np.nan] for q, k in group], dtype=np.float32).ravel()
            x = np.tile(np.array([0, 1, np.nan], dtype=np.float32), len(group))
            figure.add_scatter(x=x, y=y, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip")
    labels = [token_labels(tokens)[token] for token in keep]
    rows = np.arange(len(keep), dtype=np.float32)
    for x_at, side in ((0, "middle left"), (1, "middle right")):
        figure.add_scatter(
            x=np.full(len(keep), x_at, dtype=np.float32),
            y=rows,
            mode="markers+text",
            text=labels,
            textposition=side,
            marker={"size": 5, "color": palette.ATTENTION},
            hoverinfo="skip",
            cliponaxis=False,
        )
    figure.update_xaxes(
        range=[-0.35, 1.35], tickvals=[0, 1], ticktext=["query: who asks", "key: attended to"], side="top", title=None,
        showgrid=False, zeroline=False, fixedrange=True,
    )  # fmt: skip
    figure.update_yaxes(visible=False, range=[len(keep) - 0.5, -0.5], fixedrange=True)
    return style(figure, height=70 + 22 * len(keep))


def query_ranking(row: Array, tokens: Sequence[str], allowed: NDArray[np.bool_], *, most: int = 20) -> go.Figure:
    """What one token attends to, of the keys it may, from the heaviest weight down; at most `most` keys."""
    order = np.array([key for key in np.argsort(row)[::-1] if allowed[key]][:most])
    labels = token_labels(tokens)
    figure = go.Figure(
        go.Bar(
            x=row[order],
            y=[labels[key] for key in order],
            orientation="h",
            marker={"color": palette.ATTENTION},
            hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="attention weight", rangemode="tozero")
    figure.update_yaxes(title="key", type="category", autorange="reversed")
    return style(figure, height=110 + 22 * len(order))


def entropy_grid(bits: Array, selected: tuple[int, int]) -> go.Figure:
    """Every head's mean entropy, (L, H) in bits."""
    figure = go.Figure(
        go.Heatmap(
            z=bits.astype(np.float32),
            zmin=0,
            hovertemplate="layer %{y}, head %{x}: %{z:.2f} bits<extra></extra>",
            colorbar={**_COLOUR_BAR, "title": {"text": "bits", "side": "top"}},
            xgap=2,
            ygap=2,
        )
    )
    layer, head = selected
    figure.add_shape(
        type="rect", x0=head - 0.5, x1=head + 0.5, y0=layer - 0.5, y1=layer + 0.5,
        line={"color": palette.FEED_FORWARD, "width": 3},
    )  # fmt: skip
    figure.update_xaxes(title="head", dtick=1, showgrid=False, zeroline=False)
    figure.update_yaxes(title="layer", dtick=1, autorange="reversed", showgrid=False, zeroline=False)
    return style(figure, height=110 + 34 * bits.shape[0])
