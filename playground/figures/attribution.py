"""Why a token attends to another, as bars. Legend: S sources, n keys."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.heatmap import largest
from playground.figures.theme import Array, draw_figure, line, ranked_bars, text_width

MOST_BARS = 18
"""Bars of one chart; what is smaller becomes one bar more, or is left to the table."""

KIND_COLOURS = {
    "token": palette.EMBEDDINGS,
    "position": palette.EMBEDDINGS,
    "segment": palette.EMBEDDINGS,
    "attention": palette.ATTENTION,
    "feed-forward": palette.FEED_FORWARD,
    "bias": palette.NORMS,
}
"""By the kind of a source."""


def contributions(
    names: Sequence[str], kinds: Sequence[str], amounts: Array, *, title: str, source: str, signed: bool = True
) -> go.Figure:
    """Amounts (S,) as bars in the order of the sources, a colour a kind; the smallest are added up in one.

    `signed` writes their signs; lengths have none.
    """
    shown = np.sort(np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")[: MOST_BARS - 1])
    labels, colours = [names[i] for i in shown], [KIND_COLOURS[kinds[i]] for i in shown]
    drawn = amounts[shown]
    others = np.setdiff1d(np.arange(len(names)), shown)
    if others.size:
        labels, colours = [*labels, f"{others.size} others"], [*colours, palette.RESIDUAL]
        drawn = np.append(drawn, amounts[others].sum())
    return _labelled_bars(labels, drawn, colours, title=title, y_title=source, sign="+" if signed else "")


def running_sum(numbers: NDArray[np.intp], products: Array, running: Array) -> go.Figure:
    """Products as bars, in their order, and a line for their sum so far; `numbers` say where each stands in q and k."""
    x = np.arange(1, len(products) + 1)
    bars = go.Bar(
        x=x,
        y=products.astype(np.float32),
        customdata=numbers.astype(np.int32),
        marker={"color": palette.Q},
        name="one product",
        hovertemplate="number %{customdata}: %{y:.4g}",
    )
    curve = line(x, running.astype(np.float32), palette.K, "sum so far: %{y:.4g}", name="sum so far", marker=4)
    return draw_figure(
        [bars, curve],
        height=340,
        legend=True,
        x_axis={"title": "products, the largest size first", "fixedrange": True, "zeroline": False},
        y_axis={"title": "part of the score", "fixedrange": True},
        hovermode="x unified",
    )


def competition(labels: Sequence[str], weights: Array, texts: Sequence[str], chosen: int) -> go.Figure:
    """Weights (n,) of a query's keys, the strongest first; the chosen one, by its place, stands out."""
    top = largest(weights)
    ticks = [f"{weight:.2g}" for weight in (0, top / 2, top)]  # beyond the bars there are texts, and no weights
    return ranked_bars(
        labels,
        weights,
        _highlight(len(labels), chosen),
        ".4f",
        x_axis={
            "title": "attention weight",
            "range": [0, 1.6 * top],
            "tickvals": list(map(float, ticks)),
            "ticktext": ticks,
            "fixedrange": True,
        },
        y_title="key",
        margin={"l": text_width(labels) + 24, "b": 40},
        texts=texts,
    )


def head_shares(labels: Sequence[str], shares: Array, chosen: int) -> go.Figure:
    """Shares (n,) of a head's output, the largest size first; the chosen one, by its place, stands out."""
    colours = _highlight(len(labels), chosen)
    return _labelled_bars(labels, shares, colours, title="share of the head's output", y_title="key", sign="+")


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """The places of at most MOST_BARS numbers, the largest first; the chosen one is always among them."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def _labelled_bars(
    labels: Sequence[str], values: Array, colours: Sequence[str], *, title: str, y_title: str, sign: str
) -> go.Figure:
    figure = ranked_bars(
        labels,
        values.astype(np.float32),
        colours,
        f"{sign}.4g",
        x_axis={"title": title, "fixedrange": True, "zeroline": True},
        y_title=y_title,
        margin={"l": text_width(labels) + 24, "b": 40},
        texts=[f"{value:{sign}.2f}" for value in values],
    )
    low, high = float(np.min(values, initial=0)), float(np.max(values, initial=0))
    room = 0.22 * (high - low)  # for the numbers at the ends
    if 0 < room < np.inf:
        figure.layout.xaxis.range = [low - room if low < 0 else 0, high + room if high > 0 else 0]
    return figure


def _highlight(n: int, chosen: int) -> list[str]:
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]
