"""Why a token attends to another, as bars. Legend: S sources, n keys."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.theme import Array, draw_figure, line
from playground.text.wording import write_amount

MOST_BARS = 18
"""Bars of one chart; what is smaller becomes one bar more, or is left to the table."""

KIND_COLOURS = {
    "token": palette.EMBEDDINGS,
    "position": palette.EMBEDDINGS,
    "segment": palette.EMBEDDINGS,
    "attention": palette.ATTENTION,
    "feed-forward": palette.FEED_FORWARD,
    "change": palette.CHANGE,
    "bias": palette.NORMS,
}
"""By the kind of a source."""


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, the first on top: a name, a value, a colour and a text at the end of each."""

    labels: Sequence[str]
    values: Sequence[float]
    colours: Sequence[str]
    texts: Sequence[str]
    title: str
    """What the values are."""


def contributions(
    names: Sequence[str], kinds: Sequence[str], amounts: Array, *, title: str, signed: bool = True
) -> Bars:
    """Amounts (S,) in the order of the sources, a colour a kind; the smallest are added up in one.

    `signed` writes their signs; lengths have none.
    """
    shown = np.sort(np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")[: MOST_BARS - 1])
    labels, colours = [names[i] for i in shown], [KIND_COLOURS[kinds[i]] for i in shown]
    drawn = amounts[shown]
    others = np.setdiff1d(np.arange(len(names)), shown)
    if others.size:
        labels, colours = [*labels, f"{others.size} others"], [*colours, palette.RESIDUAL]
        drawn = np.append(drawn, amounts[others].sum())
    return Bars(labels, drawn.tolist(), colours, _write(drawn, "+" if signed else ""), title)


def competition(labels: Sequence[str], weights: Array, texts: Sequence[str], chosen: int) -> Bars:
    """Weights (n,) of a query's keys, the strongest first; the chosen one, by its place, stands out."""
    return Bars(labels, weights.tolist(), _highlight(len(labels), chosen), texts, "attention weight")


def head_shares(labels: Sequence[str], shares: Array, chosen: int) -> Bars:
    """Shares (n,) of a head's output, the largest size first; the chosen one, by its place, stands out."""
    colours = _highlight(len(labels), chosen)
    return Bars(labels, shares.tolist(), colours, _write(shares, "+"), "share of the head's output")


def bars_figure(bars: Bars) -> go.Figure:
    """Bars as a figure, for pictures and numbers: the page draws them without Plotly."""
    values = np.array(bars.values, np.float64)
    finite = np.append(values[np.isfinite(values)], 0)
    low, high = float(finite.min()), float(finite.max())
    room = 0.18 * ((high - low) or 1)  # for the texts behind the bars
    drawn = go.Bar(
        x=values,
        y=[html.escape(name, quote=False) for name in bars.labels],
        orientation="h",
        marker={"color": list(bars.colours)},
        text=list(bars.texts),
        textposition="outside",
    )
    return draw_figure(
        drawn,
        height=70 + 22 * len(bars.labels),
        x_axis={"title": bars.title, "range": [low - room * (low < 0), high + room]},
        y_axis={"type": "category", "autorange": "reversed", "showgrid": False},
    )


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


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """The places of at most MOST_BARS numbers, the largest first; the chosen one is always among them."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def _write(values: Array, sign: str) -> list[str]:
    return [write_amount(value, sign) if np.isfinite(value) else "–" for value in values.tolist()]


def _highlight(n: int, chosen: int) -> list[str]:
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]
