"""Attention heads as large maps, thumbnails and lines; other maps that pages share.

Legend: L layers, H heads, T tokens, Tq/Tk queries/keys, R rows, C columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, Heatmap, Lines, Mask
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Figure
from playground.charts.names import token_names

S = TypeVar("S")

LEAST_CELL = 24
"""Pixels for a finger (WCAG 2.2, target size, minimum)."""

FOR_FINGERS: Mapping[str, Any] = {
    "axes": ("", ""),
    "flat_bar": True,
    "least_cell": LEAST_CELL,
    "height_of": lambda n_queries: int(np.clip(130 + LEAST_CELL * n_queries, 300, 900)),
}

CLICK_CELL = "The chosen query, in its row, and key, in its column. Arrow keys move them."

_MOST_QUERIES, _MOST_KEYS = 40, 20


def head_map(
    *,
    weights: Callable[[S], Array],
    tokens: Callable[[S], Sequence[str]],
    allowed: Callable[[S], Mask],
    keys: Callable[[S], Sequence[str]] | None = None,
    window: Callable[[S], int] = lambda _: 0,
    visible: Callable[[S], Mask] | None = None,
    colours: Callable[[Sequence[Array]], Colours] | None = None,
    axes: tuple[str, str] = ("query: who asks", "key: attended to"),
    places: tuple[str, str] = ("query", "key"),
    reading: Callable[[S], str] = lambda _: "",
    **chart: Any,
) -> Heatmap[S]:
    """Return one pattern (Tq, Tk), large: who (row) attends to whom (column); masked cells are grey.

    `visible`, (T,), are the tokens to show; other fields are those of `Heatmap`.
    """

    def choose(values: Any, subject: S) -> Any:
        return values if visible is None else values[np.ix_(*[visible(subject)] * values.ndim)]

    def axis(title: str, of: Callable[[S], Sequence[str]], place: str, most: int) -> Axis[S]:
        def numbers(subject: S) -> list[int]:
            found: list[int] = choose(np.arange(len(of(subject))), subject).tolist()
            return found

        def names(subject: S) -> list[str]:
            every = token_names(of(subject))
            return [every[number] for number in numbers(subject)]

        return Axis(title, names, place=place, numbers=numbers, of_tokens=True, options={"nticks": most})

    def shown(subject: S) -> Mask:
        cells: Mask = choose(allowed(subject), subject)
        return cells

    def read(subject: S) -> str:
        cells = shown(subject)
        padding = ~cells.any(axis=1, keepdims=True) | ~cells.any(axis=0)  # nothing else hides a whole line
        hides = "a causal mask or this layer's window" if window(subject) else "a causal mask"
        reasons = {"padding": padding.any(), hides: not (cells | padding).all()}
        grey = " and ".join(reason for reason, found in reasons.items() if found)
        return " ".join(filter(None, (reading(subject).strip(), grey and f"Grey cells are masked: {grey}.")))

    options: dict[str, Any] = {
        "bar": "weight",
        "hover": "%{y} attends to %{x}",
        "more": "more weight",
        "number": ".4f",
        "height_of": lambda n_queries: int(np.clip(150 + 22 * n_queries, 320, 620)),
    }
    return Heatmap(
        values=lambda subject: choose(weights(subject), subject),
        shown=shown,
        reading=read,
        rows=axis(axes[0], tokens, places[0], _MOST_QUERIES),
        columns=axis(axes[1], keys or tokens, places[1], _MOST_KEYS),
        colours=colours or colour_scales.weight_colours(),
        **options | chart,
    )


def number_by_head(**chart: Any) -> Heatmap[Any]:
    """Return numbers (L, H); a click opens a head."""
    options: dict[str, Any] = {
        "hover": "layer %{y}, head %{x}",
        "magnitude": 1.0,
        "gap": 2,
        "height_of": lambda n_layers: 110 + 34 * n_layers,
        "click": "The open layer, in its row, and head, in its column. Arrow keys open their neighbours.",
    }
    return Heatmap(rows=Axis("layer", place="layer"), columns=Axis("head", place="head"), **options | chart)


def tensor_map(values: Array, shared: Sequence[Array], **chart: Any) -> Heatmap[Any]:
    """Return a tensor (R, C), in colours shared with `shared`: around 0 if any number is negative."""
    finite = np.where(np.isfinite(values), values, np.nan)
    scale = colour_scales.around_zero if any((each < 0).any() for each in shared) else colour_scales.from_zero
    options: dict[str, Any] = {"bar": "value", "hover": "%{y}, %{x}", "more": "a larger number", "compares": False}
    return Heatmap(values=lambda _: finite, **options | {"colours": lambda _: scale(shared)} | chart)


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


def head_grid(thumbnails: Array, *, square_root: bool = True, height: int | None = None) -> Figure:
    """Draw thumbnails (L, H, rows, columns) in one heatmap, in equal shares."""
    n_layers, n_heads, n_rows, n_columns = thumbnails.shape
    mosaic = np.zeros((n_layers, n_rows + 1, n_heads, n_columns + 1), np.uint8)  # an empty row and column after each
    places = colour_scales.weight_places(np.nan_to_num(thumbnails), square_root=square_root)  # beyond fp32: no colour
    mosaic[:, :n_rows, :, :n_columns] = (places * 255).transpose(0, 2, 1, 3)
    mosaic = mosaic.reshape(n_layers * (n_rows + 1), n_heads * (n_columns + 1))
    bar = figures.colour_bar("weight", **colour_scales.weight_ticks(255, square_root=square_root))
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
