"""Maps that several pages share: one head's weights, a number a head, a tensor.

Legend: L layers, H heads, T tokens, Tq/Tk queries/keys, R rows, C columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from playground.charts import colour_scales
from playground.charts.chart import Axis, Heatmap, Mask
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array
from playground.charts.heads import SQUARE_ROOT, weight_colours
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
        colours=colours or weight_colours(SQUARE_ROOT),
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
    """Return a tensor (R, C), in colours around 0 shared with `shared`."""
    finite = np.where(np.isfinite(values), values, np.nan)
    options: dict[str, Any] = {"bar": "", "hover": "%{y}, %{x}", "more": "a larger number", "compares": False}
    return Heatmap(values=lambda _: finite, colours=lambda _: colour_scales.around_zero(shared), **options | chart)
