"""Why a token attends to another, as bars. Legend: S sources, n keys."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.figure import Array
from playground.text.wording import round_parts, write_amount

MOST_BARS = 18
"""Bars of one chart; what is smaller becomes one bar more, or is left to the table."""

KIND_COLOURS = {
    "token": palette.EMBEDDINGS,
    "position": palette.EMBEDDINGS,
    "segment": palette.EMBEDDINGS,
    "attention": palette.ATTENTION,
    "feed-forward": palette.FEED_FORWARD,
    "change": palette.CHANGE,
    "distance": palette.EMBEDDINGS,
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

    `signed` writes their signs, and so that they add up; lengths have none.
    """
    shown = np.sort(np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")[: MOST_BARS - 1])
    labels, colours = [names[i] for i in shown], [KIND_COLOURS[kinds[i]] for i in shown]
    drawn = amounts[shown]
    others = np.setdiff1d(np.arange(len(names)), shown)
    if others.size:
        labels, colours = [*labels, f"{others.size} others"], [*colours, palette.RESIDUAL]
        drawn = np.append(drawn, amounts[others].sum())
    written = round_parts(drawn.tolist(), float(drawn.sum())) if signed else drawn.tolist()
    return Bars(labels, drawn.tolist(), colours, _write(written, "+" if signed else ""), title)


def competition(labels: Sequence[str], weights: Array, texts: Sequence[str], chosen: int) -> Bars:
    """Weights (n,) of a query's keys, the strongest first; the chosen one, by its place, stands out."""
    return Bars(labels, weights.tolist(), _highlight(len(labels), chosen), texts, "attention weight")


def head_shares(labels: Sequence[str], shares: Array, chosen: int) -> Bars:
    """Shares (n,) of a head's output, the largest size first; the chosen one, by its place, stands out."""
    colours = _highlight(len(labels), chosen)
    return Bars(labels, shares.tolist(), colours, _write(shares.tolist(), "+"), "share of the head's output")


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """The places of at most MOST_BARS numbers, the largest first; the chosen one is always among them."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def _write(values: Sequence[float], sign: str) -> list[str]:
    return [write_amount(value, sign) if np.isfinite(value) else "–" for value in values]


def _highlight(n: int, chosen: int) -> list[str]:
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]
