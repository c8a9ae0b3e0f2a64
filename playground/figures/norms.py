"""The residual stream's sizes and angles as pictures. Legend: L layers, T tokens; a depth counts the blocks passed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from playground.figures import palette
from playground.figures.theme import (
    ROUNDING,
    Array,
    colour_bar,
    draw_figure,
    ghost_entry,
    ghost_line,
    heatmap,
    largest,
    line,
    line_in_band,
    signed_colours,
    style,
    token_labels,
)

PARTS = {
    "residual": ("residual stream", palette.RESIDUAL),
    "attention": ("attention", palette.ATTENTION),
    "feed-forward": ("feed-forward", palette.FEED_FORWARD),
}
"""How the parts are called on a page, and their colours."""

LOGARITHMIC_FROM = 100
"""Where the largest value is this many times the smallest, an axis is logarithmic: small ones would not be seen."""


def norms_by_layer(
    lengths: Mapping[str, Array], pinned: Mapping[str, Array] | None = None, pinned_name: str = ""
) -> go.Figure:
    """Mean length over tokens by depth, a line a part, with a band from the 10th to the 90th percentile.

    Lengths are (L + 1, T) for the residual stream and (L, T) for the outputs of the sublayers. Those of another run, of
    another L and T, are dashed lines without bands on the same axes.
    """
    sides = [lengths] if pinned is None else [lengths, pinned]
    n_depths = max(len(side["residual"]) for side in sides)
    traces: list[go.Scatter] = []
    for part, values in lengths.items():
        name, colour = PARTS[part]
        low, high = np.percentile(values, [10, 90], axis=1).astype(np.float32)
        hover = "%{y:.4g} (80 % of tokens: %{customdata[0]:.4g} … %{customdata[1]:.4g})"
        means = values.mean(axis=1)
        traces += line_in_band(
            _depths(lengths, part), means, low, high, colour, _faint(colour), hover, name=name, marker=6
        )
    if pinned is not None:
        traces += _ghost_lines(pinned, pinned_name)
    return draw_figure(
        traces,
        height=380,
        legend=True,
        x_axis={"title": "blocks passed (0 = embeddings)", **_whole_ticks(n_depths), "zeroline": False},
        y_axis=_length_axis(np.concatenate([v.mean(axis=1) for side in sides for v in side.values()]), "mean L2 norm"),
        hovermode="x unified",
    )


def _ghost_lines(lengths: Mapping[str, Array], side: str) -> list[go.Scatter]:
    """Another run's mean lengths as dotted lines, and one entry of the legend for all of them."""
    lines = [
        ghost_line(_depths(lengths, part), values.mean(axis=1), PARTS[part][1], "%{y:.4g}", PARTS[part][0], side)
        for part, values in lengths.items()
    ]
    return [*lines, ghost_entry(side)]


def _depths(lengths: Mapping[str, Array], part: str) -> NDArray[np.intp]:
    """How many blocks were passed at each of a part's lengths: sublayers have none at the embeddings."""
    n_depths = len(lengths["residual"])
    return np.arange(n_depths - len(lengths[part]), n_depths)


def norms_by_token(
    lengths: Array, tokens: Sequence[str], *, first_depth: int, beside: Array | None = None
) -> go.Figure:
    """Lengths (depths, T) by token; colours follow the length, or its logarithm where lengths lie far apart.

    The depth of the first row is 0 with the embeddings, 1 without. With lengths of another run `beside` them, of any
    shape, colours are those that both have in common.
    """
    every = lengths if beside is None else np.concatenate([lengths.ravel(), beside.ravel()])
    logarithmic = _is_logarithmic(every)
    powers = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "dtick": 1} if logarithmic else {}
    ends = {} if beside is None else _ends(_logarithms(every) if logarithmic else every)
    return _by_token(
        _logarithms(lengths) if logarithmic else lengths,
        tokens,
        first_depth,
        "%{customdata:.4g}",
        bar=colour_bar("L2 norm", **powers),
        customdata=lengths,
        **ends,
    )


def norms_change_by_token(changes: Array, tokens: Sequence[str], *, first_depth: int, magnitude: float) -> go.Figure:
    """What became of the lengths from one run to another, (depths, T); `magnitude` is that of the lengths."""
    colours = signed_colours(largest(np.abs(changes)))
    bar = colour_bar("change")
    return _by_token(changes, tokens, first_depth, "%{z:+.4g}", bar=bar, magnitude=magnitude, **colours)


def _by_token(z: Array, tokens: Sequence[str], first_depth: int, number: str, **options: Any) -> go.Figure:
    return heatmap(
        z,
        f"%{{x}}, depth %{{y}}: {number}",
        height=int(np.clip(170 + 26 * len(z), 280, 620)),
        x=token_labels(tokens),
        y=np.arange(first_depth, first_depth + len(z)),
        x_axis={"title": "token", "type": "category", "tickangle": -55},
        y_axis={"title": "blocks passed", **_whole_ticks(len(z))},
        **options,
    )


def _logarithms(lengths: Array) -> Array:
    return np.log10(lengths, where=lengths > 0, out=np.full_like(lengths, np.nan))


def _ends(numbers: Array) -> dict[str, float]:
    """Where colours begin and end that all these numbers share; nothing where they are equal but for rounding."""
    finite = numbers[np.isfinite(numbers)]
    if not finite.size or np.ptp(finite) <= ROUNDING * np.abs(finite).max():
        return {}
    return {"zmin": float(finite.min()), "zmax": float(finite.max())}


def norm_statistics(statistics: pd.DataFrame, pinned: pd.DataFrame | None = None, pinned_name: str = "") -> go.Figure:
    """Standard deviation (above) and mean (below) of a token's features, before and after every norm.

    The table has a row a norm, in their order, and columns `std before`, `std after`, `mean before`, `mean after`.
    That of another run, `pinned`, is drawn as dotted lines on the same axes.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.6, 0.4])
    names = statistics.index.to_numpy()
    tables = [statistics] if pinned is None else [statistics, pinned]
    for row, statistic in ((1, "std"), (2, "mean")):
        for when, colour in (("before", palette.RESIDUAL), ("after", palette.NORMS)):
            values = statistics[f"{statistic} {when}"].to_numpy(np.float32)
            hover = f"%{{x}}<br>{statistic} {when}: %{{y:.4g}}<extra></extra>"
            curve = line(names, values, colour, hover, name=f"{when} the norm", marker=6, showlegend=row == 1)
            figure.add_trace(curve, row, 1)
            if pinned is not None:
                places, others = pinned.index.to_numpy(), pinned[f"{statistic} {when}"].to_numpy(np.float32)
                figure.add_trace(ghost_line(places, others, colour, hover, f"{when} the norm", pinned_name), row, 1)
    if pinned is not None:
        figure.add_trace(ghost_entry(pinned_name), 1, 1)
        order = sorted({name for table in tables for name in table.index}, key=_order_of_computation)
        figure.update_xaxes(categoryorder="array", categoryarray=order)
    spreads = np.concatenate([table[["std before", "std after"]].to_numpy() for table in tables])
    figure.update_xaxes(type="category", tickangle=-55, showgrid=False)
    figure.update_xaxes(row=2, col=1, title="norm, in the order of the computation")
    figure.update_yaxes(row=1, col=1, **_length_axis(spreads, "std of features"))
    rounding = ROUNDING * largest(spreads)
    figure.update_yaxes(row=2, col=1, title="mean of features", autorangeoptions={"include": [-rounding, rounding]})
    return style(figure, height=460, legend=True)


def _order_of_computation(norm: str) -> tuple[bool, bool, list[int]]:
    """What norms sort by, from their names in a run: the embeddings', each layer's two, the final one."""
    return norm.startswith("final"), norm.startswith("layers"), [int(number) for number in re.findall(r"\d+", norm)]


def cosines_between_layers(cosines: Array, *, change: bool = False) -> go.Figure:
    """Cosines (L + 1, L + 1) between the stream's depths, or what became of them."""
    labels, ticks = np.arange(len(cosines)), _whole_ticks(len(cosines))
    return _cosines(cosines, labels, "depth %{y} and depth %{x}", "blocks passed", ticks, ticks, change=change)


def cosines_between_tokens(cosines: Array, tokens: Sequence[str], *, change: bool = False) -> go.Figure:
    """Cosines (T, T) between tokens at one depth, or what became of them."""
    axis = {"type": "category"}
    x_axis, labels = {**axis, "tickangle": -55}, token_labels(tokens)
    return _cosines(cosines, labels, "%{y} and %{x}", "token", x_axis, axis, change=change)


def _cosines(
    cosines: Array, labels: object, pair: str, title: str, x_axis: Mapping[str, object], y_axis: Mapping[str, object],
    *, change: bool,
) -> go.Figure:  # fmt: skip
    return heatmap(
        cosines,
        f"{pair}: %{{z:{'+' if change else ''}.3f}}",
        height=420,
        x=labels,
        y=labels,
        bar=colour_bar("change" if change else "cosine"),
        x_axis={"title": title, **x_axis},
        y_axis={"title": title, **y_axis},
        magnitude=1.0 if change else None,
        **signed_colours(largest(np.abs(cosines)) if change else 1),
    )


def _length_axis(values: NDArray[np.floating], title: str) -> dict[str, object]:
    if _is_logarithmic(values):
        return {"title": f"{title} (log scale)", "type": "log", "exponentformat": "power"}
    return {"title": title, "rangemode": "tozero"}


def _is_logarithmic(values: NDArray[np.floating]) -> bool:
    positive = values[values > 0]
    return positive.size > 0 and bool(positive.max() > LOGARITHMIC_FROM * positive.min())


def _whole_ticks(n: int) -> dict[str, object]:
    """Ticks at whole numbers, however few or many there are."""
    return {"tickmode": "linear", "tick0": 0, "dtick": max(1, n // 12)}


def _faint(colour: str) -> str:
    """A palette colour, `#rrggbb`, as a band that others show through."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, 0.16)"
