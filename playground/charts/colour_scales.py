"""How numbers become colours, shared by all subjects that are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.charts.figure import Array


@dataclass(frozen=True)
class Colours:
    """How numbers become colours."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Of Plotly's heatmap."""
    place: Callable[[Array], Array] | None = None
    """A number's place on the scale, if not itself."""
    ticks: Mapping[str, Any] = field(default_factory=dict)


def from_zero(numbers: Sequence[Array]) -> Colours:
    """From 0 to the largest number."""
    return Colours({"zmin": 0, "zmax": max(map(largest, numbers))})


def around_zero(numbers: Sequence[Array]) -> Colours:
    """Diverging from 0, to the largest size."""
    return _diverge(max(largest(np.abs(each)) for each in numbers))


def within(limit: float) -> Callable[[Sequence[Array]], Colours]:
    """Diverging from 0, to ±limit."""
    return lambda _: _diverge(limit)


def _diverge(end: float) -> Colours:
    return Colours({"autocolorscale": True, "zmin": -end, "zmax": end})


def most_around_zero(numbers: Sequence[Array]) -> Colours:
    """Diverging from 0, to the size that 99 % of the numbers do not exceed."""
    return _diverge(max(float(np.percentile(np.abs(each), 99)) or 1.0 for each in numbers))


def largest(values: NDArray[Any]) -> float:
    """Return the largest finite value, never 0."""
    return max(float(np.max(values, where=np.isfinite(values), initial=0)), 1e-6)


# --- attention weights, 0 … 1: by square roots, faint attention shows

_SHADES = 256
"""Rounded numbers take a quarter of the bytes."""


def weight_places(weights: Array, *, square_root: bool = True) -> Array:
    """Return weights' places on the scale, 0 … 1."""
    shares = np.clip(weights, 0, 1)
    places: Array = np.sqrt(shares) if square_root else shares
    return places


def _round_places(weights: Array) -> Array:
    rounded: Array = np.round(weight_places(weights) * _SHADES) / np.float32(_SHADES)
    return rounded


def weight_ticks(length: float, *, square_root: bool = True) -> dict[str, Any]:
    """Return ticks of a colour bar that ends at `length`."""
    weights = np.array([0, 0.05, 0.25, 0.5, 1] if square_root else [0, 0.25, 0.5, 0.75, 1], np.float32)
    places = weight_places(weights, square_root=square_root)
    return {"tickvals": length * places, "ticktext": [f"{weight:.2g}" for weight in weights]}


def weight_colours(*, square_root: bool = True) -> Callable[[Sequence[Array]], Colours]:
    """Return the colours of weights."""
    if square_root:
        return lambda _: Colours({"zmin": 0, "zmax": 1}, _round_places, weight_ticks(1))
    return lambda _: Colours({"zmin": 0, "zmax": 1})
