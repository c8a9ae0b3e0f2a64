"""The residual stream's sizes and angles as pictures. Legend: L layers, T tokens; a depth counts the blocks passed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from playground.figures import palette
from playground.figures.heatmap import colour_bar, heatmap, largest, signed_colours
from playground.figures.theme import ROUNDING, Array, draw_figure, label, line, line_in_band, style, token_labels

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
        traces += _ghost_lines(pinned, label(pinned_name, longest=48))
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
    look: dict[str, Any] = {"width": 1.5, "dash": "dot", "marker": 5, "symbol": "circle-open"}
    lines = [
        line(
            _depths(lengths, part),
            values.mean(axis=1),
            PARTS[part][1],
            "%{y:.4g}",
            name=f"{PARTS[part][0]}, {side}",
            showlegend=False,
            **look,
        )
        for part, values in lengths.items()
    ]
    entry = line(np.array([np.nan]), np.array([np.nan]), palette.RESIDUAL, None, name=f"dotted: {side}", **look)
    return [*lines, entry]


def _depths(lengths: Mapping[str, Array], part: str) -> NDArray[np.intp]:
    """How many blocks were passed at each of a part's lengths: sublayers have none at the embeddings."""
    n_depths = len(lengths["residual"])
    return np.arange(n_depths - len(lengths[part]), n_depths)


def norms_by_token(lengths: Array, tokens: Sequence[str], *, first_depth: int) -> go.Figure:
    """Lengths (depths, T) by token; colours follow the length, or its logarithm where lengths lie far apart.

    The depth of the first row is 0 with the embeddings, 1 without.
    """
    logarithmic = _is_logarithmic(lengths)
    logs = np.log10(lengths, where=lengths > 0, out=np.full_like(lengths, np.nan))
    powers = {"tickprefix": "10<sup>", "ticksuffix": "</sup>", "dtick": 1} if logarithmic else {}
    return heatmap(
        logs if logarithmic else lengths,
        "%{x}, depth %{y}: %{customdata:.4g}",
        height=int(np.clip(170 + 26 * len(lengths), 280, 620)),
        x=token_labels(tokens),
        y=np.arange(first_depth, first_depth + len(lengths)),
        customdata=lengths,
        bar=colour_bar("L2 norm", **powers),
        x_axis={"title": "token", "type": "category", "tickangle": -55},
        y_axis={"title": "blocks passed", **_whole_ticks(len(lengths)), "autorange": True},  # the stream runs upwards
    )


def norm_statistics(statistics: pd.DataFrame) -> go.Figure:
    """Standard deviation (above) and mean (below) of a token's features, before and after every norm.

    The table has a row a norm, in their order, and columns `std before`, `std after`, `mean before`, `mean after`.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.6, 0.4])
    names = statistics.index.to_numpy()
    for row, statistic in ((1, "std"), (2, "mean")):
        for when, colour in (("before", palette.RESIDUAL), ("after", palette.NORMS)):
            values = statistics[f"{statistic} {when}"].to_numpy(np.float32)
            hover = f"%{{x}}<br>{statistic} {when}: %{{y:.4g}}<extra></extra>"
            curve = line(names, values, colour, hover, name=f"{when} the norm", marker=6, showlegend=row == 1)
            figure.add_trace(curve, row, 1)
    spreads = statistics[["std before", "std after"]].to_numpy()
    figure.update_xaxes(type="category", tickangle=-55, showgrid=False)
    figure.update_xaxes(row=2, col=1, title="norm, in the order of the computation")
    figure.update_yaxes(row=1, col=1, **_length_axis(spreads, "std of features"))
    rounding = ROUNDING * largest(spreads)
    figure.update_yaxes(row=2, col=1, title="mean of features", autorangeoptions={"include": [-rounding, rounding]})
    return style(figure, height=460, legend=True)


def cosines_between_layers(cosines: Array) -> go.Figure:
    """Cosines (L + 1, L + 1) between the stream's depths."""
    ticks = _whole_ticks(len(cosines))
    return _cosines(cosines, np.arange(len(cosines)), "depth %{y} and depth %{x}", "blocks passed", ticks, ticks)


def cosines_between_tokens(cosines: Array, tokens: Sequence[str]) -> go.Figure:
    """Cosines (T, T) between tokens at one depth."""
    axis = {"type": "category"}
    return _cosines(cosines, token_labels(tokens), "%{y} and %{x}", "token", {**axis, "tickangle": -55}, axis)


def _cosines(
    cosines: Array, labels: object, pair: str, title: str, x_axis: Mapping[str, object], y_axis: Mapping[str, object]
) -> go.Figure:
    return heatmap(
        cosines,
        f"{pair}: %{{z:.3f}}",
        height=420,
        x=labels,
        y=labels,
        bar=colour_bar("cosine"),
        x_axis={"title": title, **x_axis},
        y_axis={"title": title, **y_axis},
        **signed_colours(1),
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
