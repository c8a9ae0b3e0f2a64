"""Which parts matter: what the absence of each changes, and how many heads can go.

Legend: L layers; H heads; P sizes, each a number of heads that are taken out. NaN is what is not measured yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from playground.accounting import Count, count_attention_head, count_flops, count_parameters
from playground.accounting.readable import in_millions
from playground.analysis.attention import pattern_spread
from playground.analysis.sweeps import Order, list_pairs, pruned_sizes, remove_heads
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Curves,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Picture,
    Widget,
    fill_panel,
    token_axis,
)
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Curve, Figure, Mark
from playground.charts.head_map import CLICK_CELL, head_map
from playground.charts.names import quote_place, text_width, token_names
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.model.changes import SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.views.what_if.followed import map_of_heads
from playground.words import say

Target = Literal["vector", "similarity", "word", "answers"]
"""What effects are measured on: the sentence's vector, its cosine with another, a probability."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The effects of some parts of an untouched run."""

    run: Run
    effects: Array
    """(parts,): what the absence of each changes."""
    target: Target = "vector"
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What words on the target need: `before`, and what it is measured on."""

    @property
    def is_signed(self) -> bool:
        """Whether effects may be below 0."""
        return self.target != "vector"


def find_largest(parts: Parts) -> tuple[int, dict[str, float]] | None:
    """The part that matters most among those that are measured, its effect, and the median size; None without any."""
    sizes = np.abs(parts.effects)
    if not np.isfinite(sizes).any():
        return None
    largest = int(np.nanargmax(sizes))
    effect = float(parts.effects[largest])
    after = float(parts.numbers.get("before", 0)) + effect
    return largest, {"effect": effect, "after": after, "median": float(np.nanmedian(sizes))}


def _answer(parts: Parts, kind: str, name: Callable[[int], str]) -> Paragraph:
    found = find_largest(parts)
    if found is None:
        return Paragraph(say("what_if", "largest-none"), "answer")
    largest, numbers = found
    told = {"part": name(largest), "kind": kind, **parts.numbers, **numbers}
    return Paragraph(say("what_if", f"largest-{parts.target}", **told), "answer")


def offer_changes(key: str, offers: Mapping[str, Sequence[Change]]) -> Widget:
    """Buttons that make changes, by their labels."""
    return Widget("change_buttons", {"key": key, "offers": offers})


def _measured(parts: Parts) -> dict[str, Any]:
    """How effects are drawn, and what they are, for a heatmap."""
    return {
        "reading": lambda _: say("what_if", f"measured-{parts.target}", **parts.numbers),
        "bar": "change",
        "number": "+.4g" if parts.is_signed else ".4g",
        "colours": colour_scales.around_zero if parts.is_signed else colour_scales.from_zero,
    }


def show_heads(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The heads' effects; in a panel the spread of their patterns, and both as points."""
    run, focus = scene.now.run, scene.focus
    values = scene.now.effects.reshape(run.config.n_layers, run.config.n_heads)
    yield _answer(scene.now, "heads", lambda i: "Layer {}, head {}".format(*divmod(i, run.config.n_heads)))
    caption, alt = say("what_if", "part-heads.caption"), say("what_if", "part-heads.alt")
    yield map_of_heads("head_effects", values, caption=caption, alt=alt, **_measured(scene.now))
    label = say("what_if", "offer-head", layer=focus.layer, head=focus.head)
    yield offer_changes("whatif_switch", {label: [Change("zero", focus.layer, focus.head)]})
    title = say("what_if", "spread")
    show = partial(_compare_with_spread, scene, values)
    yield fill_panel(options, "whatif_spread", title, show, ":material/scatter_plot:")


def _compare_with_spread(scene: Scene[Parts], values: Array) -> Iterator[Item]:
    """How evenly each head spreads its attention, beside its effect: (L, H)."""
    focus, spread, sizes = scene.focus, pattern_spread(scene.now.run), np.abs(values)
    case, numbers = find_relation(spread, sizes)
    yield Paragraph(say("what_if", f"relation-{case}", **numbers))
    yield map_of_heads(
        "head_spread",
        spread,
        caption=say("what_if", "spread.caption"),
        alt=say("what_if", "spread.alt"),
        bar="spread",
        colours=lambda _: Colours({"zmin": 0, "zmax": 1}),
    )
    yield Picture[Parts](
        key="spread_and_effect",
        alt=say("what_if", "points.alt"),
        caption=say("what_if", "points.caption"),
        figure=lambda _: _draw_points(spread, sizes, (focus.layer, focus.head)),
        table=lambda _: _list_heads(spread, sizes),
    )


WEAK, STRONG = 0.2, 0.5
"""Rank correlations from which on a tendency is called one, and a clear one."""


def find_relation(spread: Array, sizes: Array) -> tuple[str, dict[str, Any]]:
    """Whether heads with striking patterns matter, by the rank correlation."""
    known = np.isfinite(spread) & np.isfinite(sizes)
    correlation = rank_correlation(-spread[known], sizes[known])
    if np.isnan(correlation):
        return "unknown", {}
    case = "none" if correlation < WEAK else "strong" if correlation >= STRONG else "weak"
    return "reverse" if correlation <= -WEAK else case, {"heads": int(known.sum()), "correlation": correlation}


def rank_correlation(one: Array, two: Array) -> float:
    """Spearman's rank correlation of two lists of numbers, from -1 to 1; equal numbers share their mean rank.

    NaN where there are fewer than three pairs, or one list has one value throughout.
    """
    return float(pd.DataFrame({"one": one, "two": two}).corr("spearman", min_periods=3).to_numpy()[0, 1])


def _draw_points(spread: Array, sizes: Array, chosen: tuple[int, int]) -> Figure:
    """Every head as a point, the chosen one as a diamond."""
    places = np.array(list(np.ndindex(spread.shape)))
    is_chosen = (places == chosen).all(axis=1)
    marker = {
        "color": np.where(is_chosen, palette.FOCUS, palette.ATTENTION).tolist(),
        "size": np.where(is_chosen, 13, 8),
        "symbol": np.where(is_chosen, "diamond", "circle").tolist(),
    }
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": spread.ravel().astype(np.float32),
        "y": sizes.ravel().astype(np.float32),
        "customdata": places,
        "marker": marker,
        "hovertemplate": "layer %{customdata[0]}, head %{customdata[1]}<br>spread %{x:.3f}<br>effect %{y:.4g}"
        "<extra></extra>",
    }
    x_axis = {"title": "spread of the pattern (0 = one key, 1 = all keys evenly)", "range": [-0.02, 1.02]}
    return figures.style([points], {"xaxis": x_axis, "yaxis": {"title": "size of the effect"}}, height=340)


def _list_heads(spread: Array, sizes: Array) -> pd.DataFrame:
    """A row a head, the largest effect first."""
    layers, heads = (each.ravel() for each in np.indices(spread.shape))
    columns = {"layer": layers, "head": heads, "spread": spread.ravel(), "size of the effect": sizes.ravel()}
    return pd.DataFrame(columns).sort_values("size of the effect", ascending=False, ignore_index=True)


def show_sublayers(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The sublayers' effects, and buttons that switch those of the chosen layer off."""
    layer, n_layers = scene.focus.layer, scene.now.run.config.n_layers
    names = [f"Layer {layer}, {name}" for layer in range(n_layers) for name in SUBLAYERS.values()]
    yield _answer(scene.now, "sublayers", names.__getitem__)
    yield _map_by_layer(
        "sublayer_effects",
        scene.now,
        Axis("sublayer", lambda _: list(SUBLAYERS.values()), options={"tickangle": 0}),
        hover="layer %{y}, %{x}",
        caption=say("what_if", "part-sublayers.caption"),
        alt=say("what_if", "part-sublayers.alt"),
        click=say("what_if", "part-sublayers.click"),
        height=110 + 34 * n_layers,
    )
    offers = {
        say("what_if", "offer-sublayer", name=name, layer=layer): [Change("off", layer, None, (sublayer,))]
        for sublayer, name in SUBLAYERS.items()
    }
    yield offer_changes("whatif_switch", offers)


def _map_by_layer(key: str, parts: Parts, columns: Axis[Parts], **chart: Any) -> Heatmap[Parts]:
    """Effects with a row a layer; `chart` has the other fields of `Heatmap`."""
    return Heatmap(
        key=key,
        values=lambda shown: shown.effects.reshape(shown.run.config.n_layers, -1),
        rows=Axis("layer", place="layer"),
        columns=columns,
        magnitude=1.0,
        more="a larger effect",
        gap=1,
        **_measured(parts) | chart,
    )


def show_pairs(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The effects of the chosen head's pairs of tokens, cut one at a time."""
    run, focus = scene.now.run, scene.focus
    pairs, n_tokens = list_pairs(run, focus.layer), len(run.tokens)
    cells = np.full((n_tokens, n_tokens), np.nan, np.float32)
    cells[tuple(np.transpose(pairs))] = scene.now.effects
    yield _answer(scene.now, "pairs", lambda i: _name_pair(run, *pairs[i]))
    chart: Heatmap[Parts] = head_map(
        key="pair_effects",
        alt=say("what_if", "part-pairs.alt"),
        caption=say("what_if", "part-pairs.caption", layer=focus.layer, head=focus.head),
        weights=lambda _: cells,
        tokens=lambda _: run.tokens,
        allowed=lambda _: np.isfinite(cells),
        visible=lambda _: ~run.padding,
        magnitude=None if np.nanmax(np.abs(cells), initial=0) > 1e-6 else 1.0,
        hover="%{y} does not attend to %{x}",
        click=CLICK_CELL,
        **_measured(scene.now),
    )
    yield chart
    if (focus.query, focus.key) in pairs:
        cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
        label = say("what_if", "offer-pair", pair=_name_pair(run, focus.query, focus.key))
        yield offer_changes("whatif_switch", {label: [cut]})


def _name_pair(run: Run, query: int, key: int) -> str:
    return f"{quote_place(run.tokens, query)} → {quote_place(run.tokens, key)}"


def show_hidden_tokens(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The effects of tokens that one layer's other tokens do not see."""
    run, focus = scene.now.run, scene.focus
    tokens, n_layers = run.real_tokens, run.config.n_layers
    places = list(np.ndindex(n_layers, len(tokens)))
    yield _answer(scene.now, "tokens", lambda i: f"{quote_place(tokens, places[i][1])} in layer {places[i][0]}")
    yield _map_by_layer(
        "hidden_tokens",
        scene.now,
        token_axis(lambda _: tokens, "key", "token that is hidden"),
        hover="layer %{y}, %{x}",
        caption=say("what_if", "part-hidden.caption"),
        alt=say("what_if", "part-hidden.alt"),
        click=say("what_if", "part-hidden.click"),
        height=92 + 34 * n_layers + text_width(token_names(tokens)),
    )
    if np.delete(run.allowed_in(focus.layer)[~run.padding, focus.key], focus.key).any():
        word = quote_place(run.tokens, focus.key)
        everywhere, here = (
            say("what_if", "offer-hide", token=word),
            say("what_if", "offer-hide-here", token=word, layer=focus.layer),
        )
        hide = [Change("hide", layer, None, (focus.key,)) for layer in range(n_layers)]
        yield offer_changes("whatif_switch", {everywhere: hide, here: [hide[focus.layer]]})


PARTS: Mapping[str, Callable[[Scene[Parts], Options], Iterator[Item]]] = {
    "heads": show_heads,
    "sublayers": show_sublayers,
    "pairs of one head": show_pairs,
    "hidden tokens": show_hidden_tokens,
}
"""By the value of `whatif_parts`."""


@dataclass(frozen=True, eq=False)
class Pruning:
    """What is left of an untouched run without ever more heads."""

    run: Run
    order: Order
    """In which heads go."""
    left: Array
    """(1 + random orders, P), this order first: the vector's cosine with the untouched one, or right answers."""
    target: Target = "vector"


def show_pruning(scene: Scene[Pruning], options: Options) -> Iterator[Item]:
    """What is left and what is saved without `whatif_pruned` heads, the curves, and the button that takes them out."""
    pruning, config = scene.now, scene.now.run.config
    sizes = pruned_sizes(config)
    place = min(options["whatif_pruned"] // sizes.step, len(sizes) - 1)
    n = sizes[place]
    if np.isfinite(pruning.left[:, place]).all():
        left = {"n": n, "left": float(pruning.left[0, place]), "random": float(pruning.left[1:, place].mean())}
        n_heads = config.n_layers * config.n_heads
        yield Paragraph(say("what_if", f"left-{pruning.target}", heads=n_heads, **left), "answer")
    else:
        yield Paragraph(say("what_if", "largest-none"), "answer")
    heads = remove_heads(pruning.order, n, config)
    yield Paragraph(say("what_if", "saved", **find_saved(config, heads, pruning.run.n_real)))
    yield Curves[Pruning](
        key="pruning_curves",
        alt=say("what_if", "curves.alt"),
        caption=say("what_if", "curves.caption"),
        curves=_pruning_curves,
        x=Axis("heads taken out", options={"range": [-0.5, sizes[-1] + 0.5]}),
        y=[lambda _: {"title": "cosine" if pruning.target == "vector" else "right answers"}],
        marks=[Mark(n, dash="solid", colour=palette.FOCUS)],
        height=340,
        table=_list_curves,
    )
    yield offer_changes("whatif_take_out", {say("what_if", "offer-heads", n=n): merge_layers(heads, config)})


def _pruning_curves(pruning: Pruning) -> list[Curve]:
    """Random orders as a band with their mean, where all of them are measured, and the line of the order."""
    sizes, random = np.array(pruned_sizes(pruning.run.config)), pruning.left[1:]
    known = np.isfinite(random).all(axis=0)
    low, mean, high = (bound(random[:, known], axis=0) for bound in (np.min, np.mean, np.max))
    return [
        Curve("random order", sizes[known], mean, palette.RESIDUAL, low, high, marker=0),
        Curve("least effect first", sizes, pruning.left[0], palette.ATTENTION, marker=0),
    ]


def _list_curves(pruning: Pruning) -> pd.DataFrame:
    names = ["least effect first", *(f"random order {number}" for number in range(len(pruning.left) - 1))]
    sizes = pd.Index(pruned_sizes(pruning.run.config), name="heads taken out")
    return pd.DataFrame(pruning.left.T, index=sizes, columns=names)


def merge_layers(heads: Sequence[Change], config: ModelConfig) -> list[Change]:
    """The changes that take heads out, as few as there can be: one for a layer of which every head is out."""
    merged: list[Change] = []
    for layer in range(config.n_layers):
        out = [each for each in heads if each.layer == layer]
        merged += [Change("zero", layer)] if len(out) == config.n_heads > 1 else out
    return merged


def find_saved(config: ModelConfig, heads: Sequence[Change], n_tokens: int) -> dict[str, Any]:
    """What a model that is built without these heads saves: parameters, and shares of these and of FLOPs.

    Each head has its share of its layer's attention. Keys and values that several heads read are computed all the same.
    """
    own, whole = len(heads) * count_attention_head(config).total, count_parameters(config).total
    kept = ("K", "V") if config.kv_heads < config.n_heads else ()
    counted = count_flops(config, n_tokens)
    terms = [term for term in counted if term.component == "attention" and term.part not in kept]
    of_layer = Count(tuple(terms)).by(lambda term: term.layer)
    flops = sum(of_layer[head.layer] for head in heads) // config.n_heads
    return {"parameters": in_millions(own), "share": own / whole, "flops": flops / counted.total, "tokens": n_tokens}
