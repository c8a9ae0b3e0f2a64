"""What followed from changes of the computation, and which parts matter, as figures.

Legend: L layers; H heads; T tokens; P sizes, each a number of heads that are removed. NaN, what is not measured yet,
has no colour.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.figures import palette
from playground.figures.theme import (
    Array,
    add_frame,
    colour_bar,
    draw_figure,
    heatmap,
    largest,
    line,
    line_in_band,
    signed_colours,
    text_width,
    token_labels,
)

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


_FAINT = "rgba(138, 135, 148, 0.25)"


def pruning_curves(
    sizes: Sequence[int], by_effect: Array, at_random: Array, chosen: int, *, title: str, number: str
) -> go.Figure:
    """What is left, (P,), where heads go by their effect, the least first, and in random orders, (orders, P).

    The random orders are a band from the lowest to the highest with their mean. `chosen` heads have a vertical line.

    Args:
        sizes: heads that are removed at each point.
        by_effect: NaN where it is not measured yet.
        at_random: measured by as many orders at every point; NaN where it is not measured yet.
        chosen: a number of heads.
        title: of the vertical axis.
        number: the format of a value where the pointer is.
    """
    x = np.array(sizes)
    known = np.isfinite(at_random).all(axis=0)
    random = at_random[:, known]
    hover = f"random order, mean: %{{y:{number}}} (%{{customdata[0]:{number}}} to %{{customdata[1]:{number}}})"
    band = line_in_band(
        x[known],
        random.mean(axis=0) if random.size else np.zeros(0, np.float32),
        random.min(axis=0, initial=np.inf),
        random.max(axis=0, initial=-np.inf),
        palette.RESIDUAL,
        _FAINT,
        f"{hover}<extra></extra>",
        name="random order",
    )
    ordered = line(
        x,
        by_effect,
        palette.ATTENTION,
        f"least effect first: %{{y:{number}}}<extra></extra>",
        name="least effect first",
        width=2.5,
    )
    marker = {
        "type": "line",
        "yref": "paper",
        "x0": chosen,
        "x1": chosen,
        "y0": 0,
        "y1": 1,
        "line": {"color": palette.FOCUS, "width": 2},
    }
    return draw_figure(
        [*band, ordered],
        height=340,
        legend=True,
        x_axis={"title": "heads taken out", "range": [-0.5, max(sizes) + 0.5]},
        y_axis={"title": title},
        shapes=[marker],
        hovermode="x unified",
    )
