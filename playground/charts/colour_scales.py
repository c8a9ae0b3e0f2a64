"""How numbers become colours: from 0, around 0, or between their ends, and shared by all subjects that are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.io
from numpy.typing import NDArray

from playground.charts.figure import ROUNDING, Array, is_logarithmic

SAME_COLOUR = "These numbers differ by no more than the rounding of 32-bit floats, so they have one colour."
"""The note of a heatmap whose structure would be nothing but rounding."""


@dataclass(frozen=True)
class Colours:
    """How numbers become colours."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Of Plotly's heatmap: where colours end, and their scale."""
    place: Callable[[Array], Array] | None = None
    """Where a number lies on the scale, if not at itself."""
    ticks: Mapping[str, Any] = field(default_factory=dict)
    """Of the bar beside the heatmap."""


def from_zero(numbers: Sequence[Array]) -> Colours:
    """Colours from 0 to the largest of these numbers."""
    return Colours({"zmin": 0, "zmax": max(map(largest, numbers))})


def between_ends(numbers: Sequence[Array]) -> Colours:
    """Colours from the smallest to the largest of these numbers; of one subject alone, as Plotly chooses."""
    every = np.concatenate([each[np.isfinite(each)] for each in numbers])
    if len(numbers) == 1 or not every.size or np.ptp(every) <= ROUNDING * np.abs(every).max():
        return Colours()
    return Colours({"zmin": float(every.min()), "zmax": float(every.max())})


def between_ends_or_powers(numbers: Sequence[Array]) -> Colours:
    """Colours from the smallest to the largest of these numbers; of their powers of ten, where they lie far apart."""
    if not is_logarithmic(np.concatenate([each.ravel() for each in numbers])):
        return between_ends(numbers)
    powers = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "dtick": 1}
    return Colours(between_ends([_logarithms(each) for each in numbers]).options, _logarithms, powers)


def _logarithms(values: Array) -> Array:
    logarithms: Array = np.log10(values, where=values > 0, out=np.full_like(values, np.nan))
    return logarithms


def around_zero(numbers: Sequence[Array]) -> Colours:
    """Colours that diverge from 0 and end at the largest size of these numbers, on both sides."""
    return _diverge(max(largest(np.abs(each)) for each in numbers))


def within(limit: float) -> Callable[[Sequence[Array]], Colours]:
    """A function that returns colours that diverge from 0 and end at ±limit, whatever the numbers."""
    return lambda _: _diverge(limit)


def _diverge(end: float) -> Colours:
    return Colours({"colorscale": diverging_scale(plotly.io.templates.default), "zmin": -end, "zmax": end})


def describe_around_zero(numbers: Sequence[Array]) -> str:
    """A sentence on what the colours of `around_zero` stand for."""
    end = f"{max(largest(np.abs(each)) for each in numbers):.3g}"
    if min(float(np.min(each, where=np.isfinite(each), initial=0)) for each in numbers) >= 0:
        return f"The stronger the violet, the larger the number: up to {end}."
    return f"Violet is more than 0, orange less: the strongest colours stand for {end} and −{end}."


def most_around_zero(numbers: Sequence[Array]) -> Colours:
    """Colours that diverge from 0 and end at ±`limit_of_most`."""
    return _diverge(limit_of_most(numbers))


def most_from_zero(numbers: Sequence[Array]) -> Colours:
    """Colours from 0 to `limit_of_most`."""
    return Colours({"zmin": 0.0, "zmax": limit_of_most(numbers)})


def limit_of_most(numbers: Sequence[Array]) -> float:
    """The size that 99 % of the numbers do not exceed, the largest of all subjects'; 1 where it would be 0."""
    return max(float(np.percentile(np.abs(each), 99)) or 1.0 for each in numbers)


@lru_cache(maxsize=4)
def diverging_scale(template: str) -> Any:
    """A theme's colours from negative to positive, by the name that Plotly knows the theme by."""
    return plotly.io.templates[template].layout.colorscale.diverging


def largest(values: NDArray[Any]) -> float:
    """The largest finite value, and never 0: a scale has to have a length."""
    return max(float(np.max(values, where=np.isfinite(values), initial=0)), 1e-6)
