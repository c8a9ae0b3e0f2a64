"""Horizontal bars with a text at the end of each. Legend: n amounts or labels, S sources."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.figure import Array
from playground.text.wording import round_parts, write_amount

MOST_BARS = 18
"""The rest is added up in the last bar, or left to the table."""

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


@dataclass(frozen=True)
class LabelledRows:
    """Bars from the top, each with a text at its end."""

    labels: Sequence[str]
    values: Sequence[float]
    colours: Sequence[str]
    texts: Sequence[str]
    title: str


def contributions(names: Sequence[str], kinds: Sequence[str], amounts: Array, *, title: str) -> LabelledRows:
    """Return signed amounts (S,) in the order of the sources, in the colours of their kinds."""
    kept, labels, values = add_up_smallest(names, amounts)
    colours = [KIND_COLOURS[kinds[i]] for i in kept] + [palette.RESIDUAL] * (len(labels) - len(kept))
    return LabelledRows(labels, values, colours, write_amounts(round_parts(values, sum(values)), "+"), title)


def add_up_smallest(names: Sequence[str], amounts: Array) -> tuple[list[int], list[str], list[float]]:
    """Return the places of amounts (n,) with a bar of their own, and labels and values of at most MOST_BARS bars."""
    n_kept = len(names) if len(names) <= MOST_BARS else MOST_BARS - 1
    kept = keep_largest(amounts, n_kept)
    labels, values = [names[i] for i in kept], amounts[kept].tolist()
    if n_kept < len(names):
        labels.append(f"{len(names) - n_kept} others")
        values.append(float(np.delete(amounts, kept).sum()))
    return kept, labels, values


def keep_largest(amounts: Array, most: int = MOST_BARS) -> list[int]:
    """Return the places of the largest amounts (n,), in their own order."""
    order = np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")
    return sorted(order[:most].tolist())


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """Return the places of the largest numbers, largest first, the chosen one among them."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def write_amounts(values: Sequence[float], sign: str = "") -> list[str]:
    """Return the texts of bars; a dash without a number."""
    return [write_amount(value, sign) if np.isfinite(value) else "–" for value in values]


def highlight(n: int, chosen: int) -> list[str]:
    """Return colours of n bars, of which the chosen one stands out."""
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]
