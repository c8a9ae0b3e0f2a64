"""Attention heads as large maps, as thumbnails, and as lines between two columns of tokens.

Legend: L layers, H heads, T tokens, Tq/Tk queries/keys, R rows, C columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Figure, colour_bar
from playground.charts.names import token_names

# --- colours

_SHADES = 256
"""Rounded numbers take a quarter of the bytes."""


@dataclass(frozen=True)
class WeightScale:
    """How weights become colours, from 0 to `top`; by square roots faint attention shows."""

    square_root: bool
    top: float = 1.0

    def places(self, weights: Array) -> Array:
        """Return places on the scale, 0 … 1."""
        shares = np.clip(weights / np.float32(self.top), 0, 1)
        places: Array = np.sqrt(shares) if self.square_root else shares
        return places

    def ticks(self, length: float) -> dict[str, Any]:
        """Return a colour bar's ticks."""
        shares = np.array([0, 0.05, 0.25, 0.5, 1] if self.square_root else [0, 0.25, 0.5, 0.75, 1], np.float32)
        texts = [f"{weight:.2g}" for weight in shares * np.float32(self.top)]
        return {"tickvals": length * self.places(np.array(texts, np.float32)), "ticktext": texts}


SQUARE_ROOT = WeightScale(square_root=True)


def weight_colours(scale: WeightScale) -> Callable[[Sequence[Array]], Colours]:
    """Return the colours of weights on a scale."""

    def shades(weights: Array) -> Array:
        rounded: Array = np.round(scale.places(weights) * _SHADES) / np.float32(_SHADES)
        return rounded

    if scale.square_root:
        return lambda _: Colours({"zmin": 0, "zmax": 1}, shades, scale.ticks(1))
    return lambda _: Colours({"zmin": 0, "zmax": scale.top})


def stretch(scale: WeightScale, weights: Array) -> WeightScale:
    """Return the scale, ending at the largest weight."""
    return replace(scale, top=colour_scales.largest(weights))


# --- thumbnails

THUMBNAIL = 22

MOST_DOTS = 400_000


def shrink(patterns: Array) -> Array:
    """Shrink patterns (L, H, Tq, Tk) to THUMBNAIL dots a side, each the largest weight below it."""
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    side = max(1, min(THUMBNAIL, int((MOST_DOTS / (n_layers * n_heads)) ** 0.5)))
    rows, columns = (max(1, -(-n // side)) for n in (n_queries, n_keys))  # that share a dot
    if rows == columns == 1:
        return patterns
    padded = np.pad(patterns, [(0, 0), (0, 0), (0, -n_queries % rows), (0, -n_keys % columns)])
    height, width = padded.shape[2] // rows, padded.shape[3] // columns
    dots: Array = padded.reshape(*patterns.shape[:2], height, rows, width, columns).max(axis=(3, 5))
    return dots


def head_grid(thumbnails: Array, scale: WeightScale = SQUARE_ROOT, *, height: int | None = None) -> Figure:
    """Draw thumbnails (L, H, rows, columns) in one heatmap, in equal shares."""
    n_layers, n_heads, n_rows, n_columns = thumbnails.shape
    mosaic = np.zeros((n_layers, n_rows + 1, n_heads, n_columns + 1), np.uint8)  # an empty row and column after each
    places = np.nan_to_num(scale.places(thumbnails))  # what has left fp32's range has no colour
    mosaic[:, :n_rows, :, :n_columns] = (places * 255).transpose(0, 2, 1, 3)
    mosaic = mosaic.reshape(n_layers * (n_rows + 1), n_heads * (n_columns + 1))
    bar = colour_bar("weight", **scale.ticks(255))
    cells = {"type": "heatmap", "z": mosaic, "zmin": 0, "zmax": 255, "hoverinfo": "skip", "colorbar": bar}

    def axis(title: str, n: int, size: int, ends: list[float]) -> dict[str, Any]:
        ticks = {"tickvals": np.arange(n) * (size + 1) + (size - 1) / 2, "ticktext": list(map(str, range(n)))}
        return {"showgrid": False, "zeroline": False, "fixedrange": True, "title": title, "range": ends, **ticks}

    layout = {
        "xaxis": axis("head", n_heads, n_columns, [-0.5, mosaic.shape[1] - 0.5]),
        "yaxis": axis("layer", n_layers, n_rows, [mosaic.shape[0] - 0.5, -0.5]),
        "hovermode": False,
        "dragmode": False,
    }
    margin = {"l": 44, "r": 64, "b": 48}
    return figures.style([cells], layout, height=height or 90 + 44 * n_layers, margin=margin)


# --- lines

SMALLEST_WEIGHT = 0.02

MOST_TOKENS = 100

_HEIGHT, _ROW_HEIGHTS = 1_500, (15, 22)

_WIDTHS = ((SMALLEST_WEIGHT, 1), (0.1, 2), (0.25, 4), (0.5, 6), (0.75, 9))
"""Pixels by least weight."""


@dataclass(frozen=True)
class Lines:
    """Two columns of tokens and the strokes between them."""

    names: list[str]
    positions: list[int]
    strokes: list[dict[str, Any]]
    """Lines that look alike: `colour`, `width`, and `edges` (query's row, key's row)."""
    row_height: int


def head_lines(pattern: Array, tokens: Sequence[str], query: int, key: int, *, shown: NDArray[np.bool_]) -> Lines:
    """Draw the strongest keys of each shown query in a pattern (T, T): the heavier, the thicker."""
    rows = np.flatnonzero(shown)
    edges: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for row, weights in enumerate(pattern[np.ix_(rows, rows)]):
        for column in np.argsort(weights)[::-1][: strongest_keys(len(rows))]:
            if weights[column] >= SMALLEST_WEIGHT:
                edges.setdefault((bool(rows[row] == query), _width(weights[column])), []).append((row, int(column)))
    strokes: list[dict[str, Any]] = [
        {"colour": palette.ATTENTION if chosen else palette.MUTED, "width": width, "edges": ends}
        for (chosen, width), ends in sorted(edges.items())
    ]
    if shown[query] and shown[key]:
        ends = (int(np.searchsorted(rows, query)), int(np.searchsorted(rows, key)))
        strokes.append({"colour": palette.FOCUS, "width": _width(pattern[query, key]), "edges": [ends]})
    row_height, names = int(np.clip(_HEIGHT // max(1, len(rows)), *_ROW_HEIGHTS)), token_names(tokens)
    return Lines([names[token] for token in rows], rows.tolist(), strokes, row_height)


def choose_tokens(query: int, *, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the MOST_TOKENS shown tokens nearest to the query, (T,)."""
    distances = np.where(shown, np.abs(np.arange(len(shown)) - query), len(shown))
    drawn = np.zeros(len(shown), bool)
    drawn[np.argsort(distances, kind="stable")[:MOST_TOKENS]] = True
    return drawn & shown


def strongest_keys(n_tokens: int) -> int:
    """Return how many keys are drawn of each query."""
    return max(1, min(5, 300 // n_tokens))


def thickest_line(lines: Lines) -> str:
    """Say where the chosen query's thickest line leads."""
    chosen = [stroke for stroke in lines.strokes if stroke["colour"] == palette.ATTENTION]
    if not chosen:
        return ""
    query, key = max(chosen, key=lambda stroke: stroke["width"])["edges"][0]
    return f"The thickest of them leads from {lines.names[query]} to {lines.names[key]}."


def _width(weight: float) -> int:
    return next((width for low, width in reversed(_WIDTHS) if weight >= low), _WIDTHS[0][1])
