"""Every head of a run as one figure at page width, and its numbers. Legend: L layers, H heads, Tq/Tk queries/keys."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.charts.figure import Array, Figure, colour_bar, style
from playground.charts.names import token_names
from playground.charts.weights import WeightScale
from playground.export.print_figure import PAGE_WIDTH, SEQUENTIAL

MOST_NUMBERS = 250_000
"""Weights in one file of text: about 3 MB."""

_SHADES = 254
"""The number of the darkest shade, from 0; a byte is 1 more, as 0 stands between heads."""

_COLOURS = [
    (0.0, "#ffffff"),
    *(
        ((1 + _SHADES * place / (len(SEQUENTIAL) - 1)) / (1 + _SHADES), colour)
        for place, colour in enumerate(SEQUENTIAL)
    ),
]

_BESIDE, _AROUND = 100, 56
"""Pixels that names and the colour bar take of the width, and of the height."""


def draw_all_heads(patterns: Array, scale: WeightScale) -> Figure:
    """Every head with all its weights, not a thumbnail: rows are layers, columns heads; NaN is white.

    Patterns are (L, H, Tq, Tk). A weight is one of 255 shades, a byte, as a screen tells no more of them apart.
    """
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    apart = max(1, round(0.06 * max(n_queries, n_keys)))
    mosaic = np.zeros((n_layers, n_queries + apart, n_heads, n_keys + apart), np.uint8)
    shades = 1 + np.round(_SHADES * np.clip(scale.places(patterns), 0, 1)).transpose(0, 2, 1, 3)
    mosaic[:, :n_queries, :, :n_keys] = np.where(np.isfinite(shades), shades, 0)
    mosaic = mosaic.reshape(n_layers * (n_queries + apart), n_heads * (n_keys + apart))[:-apart, :-apart]
    cell = min(90.0, (PAGE_WIDTH - _BESIDE) / mosaic.shape[1] * (n_keys + apart)) / (n_keys + apart)
    columns = np.arange(n_heads) * (n_keys + apart) + (n_keys - 1) / 2
    rows = np.arange(n_layers) * (n_queries + apart) + (n_queries - 1) / 2
    ticks = scale.ticks(1)
    ticks["tickvals"] = 1 + _SHADES * np.asarray(ticks["tickvals"])
    cells = {
        "type": "heatmap",
        "z": mosaic,
        "colorscale": _COLOURS,
        "zmin": 0,
        "zmax": 1 + _SHADES,
        "colorbar": colour_bar("weight", **ticks),
    }
    axis = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {**axis, "title": "head", "tickvals": columns, "ticktext": [str(head) for head in range(n_heads)]},
        "yaxis": {
            **axis,
            "title": "layer",
            "autorange": "reversed",
            "tickvals": rows,
            "ticktext": [str(layer) for layer in range(n_layers)],
        },
        "width": min(PAGE_WIDTH, _BESIDE + cell * mosaic.shape[1]),
    }
    return style([cells], layout, height=max(150, round(_AROUND + cell * mosaic.shape[0])))


def all_weights(patterns: Array, queries: Sequence[str], keys: Sequence[str]) -> list[list[Any]]:
    """A row a query of every head, (L · H · Tq), a column a key; a header first."""
    header = ["layer", "head", "query \\ key [weight]", *token_names(keys)]
    names = token_names(queries)
    places = np.ndindex(patterns.shape[:3])
    return [header, *([layer, head, names[query], *patterns[layer, head, query]] for layer, head, query in places)]
