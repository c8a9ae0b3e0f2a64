"""Attention weights before they are drawn: as colours, as thumbnails, by size.

Legend: L layers, H heads, T tokens, Tq/Tk queries/keys.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.charts.figure import Array

THUMBNAIL = 22
"""Dots along a thumbnail's side, at most."""

MOST_DOTS = 400_000
"""Of all thumbnails together."""

MOST_QUERIES, MOST_KEYS = 40, 20
"""Tokens named along an axis, at most."""


@dataclass(frozen=True)
class WeightScale:
    """How weights become colours: from 0 to `top`."""

    square_root: bool
    """So that faint attention shows too."""
    top: float = 1.0

    def places(self, weights: Array) -> Array:
        """Where weights lie on the scale, 0 … 1."""
        shares = np.clip(weights / np.float32(self.top), 0, 1)
        places: Array = np.sqrt(shares) if self.square_root else shares
        return places

    def ticks(self, length: float) -> dict[str, Any]:
        """Weights beside a colour bar of this length."""
        shares = np.array([0, 0.05, 0.25, 0.5, 1] if self.square_root else [0, 0.25, 0.5, 0.75, 1], np.float32)
        texts = [f"{weight:.2g}" for weight in shares * np.float32(self.top)]
        return {"tickvals": length * self.places(np.array(texts, np.float32)), "ticktext": texts}


SQUARE_ROOT = WeightScale(square_root=True)


def shrink(patterns: Array) -> Array:
    """Patterns (L, H, Tq, Tk) with at most THUMBNAIL dots a side, each the largest weight below it."""
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    side = max(1, min(THUMBNAIL, int((MOST_DOTS / (n_layers * n_heads)) ** 0.5)))
    rows, columns = (max(1, -(-n // side)) for n in (n_queries, n_keys))  # that share a dot
    if rows == columns == 1:
        return patterns
    padded = np.pad(patterns, [(0, 0), (0, 0), (0, -n_queries % rows), (0, -n_keys % columns)])
    height, width = padded.shape[2] // rows, padded.shape[3] // columns
    dots: Array = padded.reshape(*patterns.shape[:2], height, rows, width, columns).max(axis=(3, 5))
    return dots


def map_height(n_queries: int) -> int:
    """Pixels of a large map."""
    return int(np.clip(150 + 22 * n_queries, 320, 620))


def ranked_keys(row: Array, allowed: NDArray[np.bool_], *, most: int = 20) -> list[int]:
    """Return the keys that a query may attend to, heaviest first."""
    return [int(key) for key in np.argsort(row)[::-1] if allowed[key]][:most]
