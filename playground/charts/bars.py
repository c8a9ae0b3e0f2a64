"""Horizontal bars with a text at the end of each: which of many are drawn, and in which colours.

Legend: n amounts or labels, S sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.figure import Array
from playground.text.wording import round_parts, write_amount

MOST_BARS = 18
"""Bars of one chart; what is smaller is added up in the last of them, or is left to the table."""

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
class LabelledRows:
    """Horizontal bars, the first on top: a name, a value, a colour and a text at the end of each."""

    labels: Sequence[str]
    values: Sequence[float]
    colours: Sequence[str]
    texts: Sequence[str]
    title: str
    """What the values are."""


def contributions(
    names: Sequence[str], kinds: Sequence[str], amounts: Array, *, title: str, signed: bool = True
) -> LabelledRows:
    """Amounts (S,) in the order of the sources, a colour a kind; the smallest are added up in one.

    `signed` writes their signs, and so that they add up; lengths have none.
    """
    kept, labels, values = add_up_smallest(names, amounts)
    colours = [KIND_COLOURS[kinds[i]] for i in kept] + [palette.RESIDUAL] * (len(labels) - len(kept))
    written = round_parts(values, sum(values)) if signed else values
    return LabelledRows(labels, values, colours, write_amounts(written, "+" if signed else ""), title)


def add_up_smallest(names: Sequence[str], amounts: Array) -> tuple[list[int], list[str], list[float]]:
    """The places of the amounts (n,) that have a bar of their own, then the labels and the values of all bars.

    There are MOST_BARS at most; the last is the sum of the smallest, where they would be more.
    """
    n_kept = len(names) if len(names) <= MOST_BARS else MOST_BARS - 1
    kept = keep_largest(amounts, n_kept)
    labels, values = [names[i] for i in kept], amounts[kept].tolist()
    if n_kept < len(names):
        labels.append(f"{len(names) - n_kept} others")
        values.append(float(np.delete(amounts, kept).sum()))
    return kept, labels, values


def keep_largest(amounts: Array, most: int = MOST_BARS) -> list[int]:
    """The places of at most so many amounts (n,), those of the largest size, in their own order."""
    order = np.argsort(-np.abs(np.nan_to_num(amounts)), kind="stable")
    return sorted(order[:most].tolist())


def strongest(sizes: Array, chosen: int) -> NDArray[np.intp]:
    """The places of at most MOST_BARS numbers, the largest first; the chosen one is always among them."""
    order = np.argsort(-np.nan_to_num(sizes), kind="stable")
    drawn = order[:MOST_BARS]
    return drawn if chosen in drawn else np.append(drawn[:-1], chosen)


def write_amounts(values: Sequence[float], sign: str = "") -> list[str]:
    """The texts of bars, as of `write_amount`; a dash where there is no number."""
    return [write_amount(value, sign) if np.isfinite(value) else "–" for value in values]


def highlight(n: int, chosen: int) -> list[str]:
    """Colours of so many bars, of which the chosen one, by its place, stands out."""
    return [palette.K if place == chosen else palette.ATTENTION for place in range(n)]
