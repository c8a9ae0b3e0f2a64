"""One head's weights as a large map, and every head's as thumbnails; other maps that pages share.

Legend: L layers, H heads, T tokens, Tq/Tk queries/keys, R rows, C columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from playground.charts import colour_scales
from playground.charts import figure as figures
from playground.charts.chart import Axis, Heatmap, Mask
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Figure, colour_bar
from playground.charts.names import token_names
from playground.charts.weights import MOST_KEYS, MOST_QUERIES, SQUARE_ROOT, WeightScale, map_height

S = TypeVar("S")

_SHADES = 256
"""Shades of a colour scale: rounded numbers take a quarter of the bytes."""


LEAST_CELL = 24
"""Pixels of a cell for a finger (WCAG 2.2, target size, minimum)."""

FOR_FINGERS: Mapping[str, Any] = {
    "axes": ("", ""),
    "flat_bar": True,
    "least_cell": LEAST_CELL,
    "height_of": lambda n_queries: int(np.clip(130 + LEAST_CELL * n_queries, 300, 900)),
}
"""Fields of a `head_map` with cells for fingers."""

CLICK_CELL = "The chosen query, in its row, and key, in its column. Arrow keys move them."
"""`click` of a map of queries and keys."""


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
    """One pattern, large: who (row) attends to whom (column); masked cells stay grey.

    Args:
        weights: (Tq, Tk); weights in 0 … 1, scores, or differences.
        tokens: the queries' pieces.
        allowed: (Tq, Tk).
        keys: the keys' pieces, if not the queries'.
        window: of the head's layer; 0 = none.
        visible: (T,), the tokens to show; all by default.
        colours: `weight_colours(scale)` by default.
        axes: titles of rows and columns.
        places: what a click chooses, by row and column.
        reading: as of `Heatmap`.
        chart: the other fields of `Heatmap`.
    """

    def choose(values: Any, subject: S) -> Any:
        return values if visible is None else values[np.ix_(*[visible(subject)] * values.ndim)]

    def axis(title: str, of: Callable[[S], Sequence[str]], place: str, most: int) -> Axis[S]:
        def numbers(subject: S) -> list[int]:
            return [int(number) for number in choose(np.arange(len(of(subject))), subject)]

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
        "magnitude": None,
        "height_of": map_height,
        "clicks_beside": True,
    }
    return Heatmap(
        values=lambda subject: choose(weights(subject), subject),
        shown=shown,
        reading=read,
        rows=axis(axes[0], tokens, places[0], MOST_QUERIES),
        columns=axis(axes[1], keys or tokens, places[1], MOST_KEYS),
        colours=colours or weight_colours(SQUARE_ROOT),
        **options | chart,
    )


def number_by_head(**chart: Any) -> Heatmap[Any]:
    """Numbers (L, H), a cell a head, which a click opens."""
    options: dict[str, Any] = {
        "hover": "layer %{y}, head %{x}",
        "magnitude": 1.0,
        "gap": 2,
        "height_of": lambda n_layers: 110 + 34 * n_layers,
        "click": "The open layer, in its row, and head, in its column. Arrow keys open their neighbours.",
    }
    return Heatmap(rows=Axis("layer", place="layer"), columns=Axis("head", place="head"), **options | chart)


def tensor_map(values: Array, shared: Sequence[Array], **chart: Any) -> Heatmap[Any]:
    """A tensor's numbers (R, C), in colours around 0 that it shares with `shared`; empty if not finite."""
    finite = np.where(np.isfinite(values), values, np.nan)
    options: dict[str, Any] = {"bar": "", "hover": "%{y}, %{x}", "more": "a larger number", "compares": False}
    return Heatmap(values=lambda _: finite, colours=lambda _: colour_scales.around_zero(shared), **options | chart)


def weight_colours(scale: WeightScale) -> Callable[[Sequence[Array]], Colours]:
    """Colours of weights: by their square roots, so that faint attention shows, or as they are."""

    def shades(weights: Array) -> Array:
        rounded: Array = np.round(scale.places(weights) * _SHADES) / np.float32(_SHADES)
        return rounded

    if scale.square_root:
        return lambda _: Colours({"zmin": 0, "zmax": 1}, shades, scale.ticks(1))
    return lambda _: Colours({"zmin": 0, "zmax": scale.top})


def stretch(scale: WeightScale, weights: Array) -> WeightScale:
    """The scale, ending at the largest weight."""
    return replace(scale, top=colour_scales.largest(weights))


def head_grid(thumbnails: Array, scale: WeightScale = SQUARE_ROOT, *, height: int | None = None) -> Figure:
    """Every head as a thumbnail (L, H, rows, columns) in one heatmap.

    All have equal shares of the picture, so that a click is told from its place.
    """
    n_layers, n_heads, n_rows, n_columns = thumbnails.shape
    mosaic = np.zeros((n_layers, n_rows + 1, n_heads, n_columns + 1), np.uint8)  # an empty row and column after each
    places = np.nan_to_num(scale.places(thumbnails))  # what has left fp32's range has no colour
    mosaic[:, :n_rows, :, :n_columns] = (places * 255).transpose(0, 2, 1, 3)
    mosaic = mosaic.reshape(n_layers * (n_rows + 1), n_heads * (n_columns + 1))
    bar = colour_bar("weight", **scale.ticks(255))
    cells = {"type": "heatmap", "z": mosaic, "zmin": 0, "zmax": 255, "hoverinfo": "skip", "colorbar": bar}
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    layout = {
        "xaxis": {**axis, "title": "head", "range": [-0.5, mosaic.shape[1] - 0.5], **_ticks(n_heads, n_columns)},
        "yaxis": {**axis, "title": "layer", "range": [mosaic.shape[0] - 0.5, -0.5], **_ticks(n_layers, n_rows)},
        "hovermode": False,
        "dragmode": False,
    }
    margin = {"l": 44, "r": 64, "b": 48}
    return figures.style([cells], layout, height=height or 90 + 44 * n_layers, margin=margin)


def _ticks(n: int, size: int) -> dict[str, Any]:
    return {"tickvals": np.arange(n) * (size + 1) + (size - 1) / 2, "ticktext": [str(number) for number in range(n)]}
