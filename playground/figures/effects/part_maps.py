"""Which parts matter, and where a difference lies: effects as maps, and beside patterns' spread as points.

Legend: L layers, H heads, T tokens. NaN, what is not measured yet, has no colour.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.heatmap import add_frame, colour_bar, heatmap, largest, signed_colours
from playground.figures.theme import Array, draw_figure, line, text_width, token_labels

_SLANT = 55
_HEIGHT = 110
_ROW = 34


def effects_by_head(effects: Array, bar: str, *, signed: bool = False) -> go.Figure:
    """What each head's absence changes, (L, H); with signs, colours diverge from 0."""
    return _by_layer(effects, bar, "head %{x}", signed, {"title": "head", "dtick": 1})


def effects_by_sublayer(effects: Array, bar: str, *, signed: bool = False) -> go.Figure:
    """What each sublayer's absence changes, (L, 2), attention first."""
    names = ["attention", "feed-forward"]
    return _by_layer(effects, bar, "%{x}", signed, {"title": "sublayer", "type": "category"}, x=names)


def effects_by_position(effects: Array, tokens: Sequence[str], bar: str, *, signed: bool = False) -> go.Figure:
    """What follows where a layer's other tokens do not see a token, (L, T)."""
    labels = token_labels(tokens)
    x_axis = {"title": "token that is hidden", "type": "category", "tickangle": -_SLANT}
    return _by_layer(effects, bar, "%{x}", signed, x_axis, x=labels)


def spread_by_head(spread: Array) -> go.Figure:
    """How evenly each head spreads its attention, (L, H) in 0 … 1."""
    return _by_layer(spread, "spread", "head %{x}", False, {"title": "head", "dtick": 1}, zmax=1)


def spread_and_effect(spread: Array, effects: Array, focus: tuple[int, int], effect_title: str) -> go.Figure:
    """Every head as a point: its pattern's spread and its effect, both (L, H); the head in focus stands out."""
    places = np.stack([each.ravel() for each in np.indices(spread.shape)], axis=1)
    is_focus = (places == focus).all(axis=1)
    hover = "layer %{customdata[0]}, head %{customdata[1]}<br>spread %{x:.3f}<br>effect %{y:.4g}<extra></extra>"
    points = [
        line(
            spread.ravel()[chosen].astype(np.float32),
            effects.ravel()[chosen].astype(np.float32),
            colour,
            hover,
            mode="markers",
            marker=size,
            symbol=symbol,
            name=name,
            customdata=places[chosen],
        )
        for chosen, colour, size, symbol, name in (
            (~is_focus, palette.ATTENTION, 8, "circle", "every other head"),
            (is_focus, palette.FOCUS, 13, "diamond", f"layer {focus[0]}, head {focus[1]}"),
        )
    ]
    return draw_figure(
        points,
        height=340,
        legend=True,
        x_axis={"title": "spread of the pattern (0 = one key, 1 = all keys evenly)", "range": [-0.02, 1.02]},
        y_axis={"title": effect_title},
    )


def shares_by_place(shares: Array, names: Sequence[str], changed: Sequence[int]) -> go.Figure:
    """How much nearer each patched vector brings a sentence, (L + 1, T) by depth; `changed` tokens' columns are framed.

    `names` are the tokens' as they are read, a different one of the other sentence included.
    """
    labels = token_labels(names)
    n_depths = len(shares)
    figure = heatmap(
        shares.astype(np.float32),
        "%{x}, depth %{y}: nearer by %{z:.1%}",
        height=int(np.clip(190 + 30 * n_depths, 300, 640)),
        margin={"b": text_width(labels) + 30},
        magnitude=1.0,
        xgap=1,
        ygap=1,
        x=labels,
        y=np.arange(n_depths),
        bar=colour_bar("nearer by", tickformat=".0%"),
        x_axis={"title": "token", "type": "category", "tickangle": -_SLANT},
        y_axis={"title": "blocks passed", "dtick": max(1, n_depths // 12)},
        **signed_colours(largest(np.abs(shares))),
    )
    for column in changed:
        add_frame(figure, (0, n_depths - 1), (column, column), palette.EMBEDDINGS)
    return figure


def _by_layer(effects: Array, bar: str, place: str, signed: bool, x_axis: dict[str, Any], **options: Any) -> go.Figure:
    colours = signed_colours(largest(np.abs(effects))) if signed else {"zmin": 0, "zmax": largest(effects)}
    slanted = {"b": text_width(options["x"]) + 30} if "tickangle" in x_axis else {"b": 48}
    return heatmap(
        effects.astype(np.float32),
        f"layer %{{y}}, {place}: %{{z:{'+' if signed else ''}.4g}}",
        height=_HEIGHT + _ROW * len(effects) + slanted["b"] - 48,
        margin={"l": 38, "r": 64, **slanted},
        magnitude=1.0,
        xgap=1,
        ygap=1,
        bar=colour_bar(bar),
        x_axis=x_axis,
        y_axis={"title": "layer", "dtick": 1},
        **colours | options,
    )
