"""Which parts matter: what the absence of each changes.

Legend: L layers; H heads. NaN is what is not measured yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from playground.analysis.attention import pattern_spread
from playground.analysis.sweeps import compare_together, list_pairs
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, Heatmap, Item, Options, Paragraph, Picture, Widget, fill_panel, token_axis
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Figure
from playground.charts.head_map import CLICK_CELL, head_map
from playground.charts.markdown import quote_place
from playground.charts.names import text_width, token_names
from playground.charts.scene import Scene
from playground.model.changes import SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.text.wording import upper_first, with_minus
from playground.views.what_if.followed import map_of_heads


@dataclass(frozen=True, eq=False)
class Effects:
    """What the absence of each part changes, and how that is said."""

    values: Array
    """(parts,)."""
    meaning: str
    """What a number is, as a caption says it."""
    said: str
    """What a part's absence does, as a sentence says it: `{}` is the number."""
    number: str
    """The format of a number in a sentence; with `+`, numbers may be below 0."""
    instead_of: str = ""
    """What was asked for and cannot be measured, where the sentence's vector stands in for it."""

    @property
    def is_signed(self) -> bool:
        """Whether numbers may be below 0."""
        return self.number.startswith("+")

    @property
    def instead(self) -> str:
        """What a title adds where the sentence's vector stands in for what was asked for."""
        return f", on the sentence vector instead of {self.instead_of}" if self.instead_of else ""

    def written(self, effect: float) -> str:
        """An effect as a sentence says it."""
        return with_minus(f"{effect:{self.number}}")


PartKind = Literal["heads", "sublayers", "pairs of one head", "hidden tokens"]


@dataclass(frozen=True, eq=False)
class Parts:
    """The effects of some parts of an untouched run."""

    run: Run
    effects: Effects
    of_sublayers: Effects | None = None
    """Beside those of heads."""


def show_heads(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The heads' effects; in a panel the spread of their patterns, both as points, and a layer's heads together."""
    run, effects, focus = scene.now.run, scene.now.effects, scene.focus
    values = effects.values.reshape(run.config.n_layers, run.config.n_heads)
    places = list(np.ndindex(values.shape))
    yield from _answer_largest(effects, lambda i: "layer {}, head {}".format(*places[i]), "heads")
    yield map_of_heads(
        "head_effects",
        values,
        caption=f"**Effect of each head, switched off alone{effects.instead}:** {effects.meaning}. Click a cell to "
        "choose its head.",
        alt="Effect of every head by layer",
        **_effect_colours(effects),
    )
    label = f"Switch off layer {focus.layer}, head {focus.head}"
    yield offer_changes("whatif_switch", {label: [Change("zero", focus.layer, focus.head)]})
    title = "Do striking heads matter?"
    yield fill_panel(
        options, "whatif_spread", title, lambda: _compare_with_spread(scene, values), ":material/scatter_plot:"
    )


def _compare_with_spread(scene: Scene[Parts], values: Array) -> Iterator[Item]:
    """How evenly each head spreads its attention, beside its effect: (L, H)."""
    focus, spread, sizes = scene.focus, pattern_spread(scene.now.run), np.abs(values)
    yield Paragraph(_compare_spread(spread, sizes, _describe_together(values, scene.now)))
    yield map_of_heads(
        "head_spread",
        spread,
        caption="**How evenly each head spreads its attention in this sentence:** the mean entropy of its rows, as "
        "a share of the highest there can be. Near 0, every token looks at one key alone: a striking pattern. At "
        "1, it looks at all keys evenly.",
        alt="Spread of every head's attention by layer",
        bar="spread",
        colours=lambda _: Colours({"zmin": 0, "zmax": 1}),
    )
    yield Picture[Parts](
        key="spread_and_effect",
        alt="Every head by the spread of its pattern and the size of its effect",
        caption="**Each point is a head**, striking patterns to the left, large effects on top. Both are the numbers "
        "of the maps above, the effect without its sign. The diamond is the chosen head. If striking heads were those "
        "that matter, the points would fall from the left to the right.",
        figure=lambda _: _draw_points(spread, sizes, (focus.layer, focus.head)),
        table=lambda _: _list_heads(spread, sizes),
    )


def offer_changes(key: str, offers: Mapping[str, Sequence[Change]]) -> Widget:
    """Buttons that make changes, by their labels."""
    return Widget("change_buttons", {"key": key, "offers": offers})


def _effect_colours(effects: Effects) -> dict[str, Any]:
    """How effects are drawn, for a heatmap."""
    return {
        "bar": "change",
        "number": "+.4g" if effects.is_signed else ".4g",
        "colours": colour_scales.around_zero if effects.is_signed else colour_scales.from_zero,
    }


def _answer_largest(effects: Effects, name: Callable[[int], str], parts: str, most: int = 3) -> Iterator[Item]:
    """The part that matters most among those that are measured, beside the median; then those that follow it."""
    values, sizes = effects.values, np.abs(effects.values)
    order = [int(i) for i in np.argsort(-np.nan_to_num(sizes, nan=-1), kind="stable") if np.isfinite(sizes[i])]
    if not order:
        yield Paragraph(
            f"Which of the {len(values):,} {parts} matters most? None is measured so far, or their effects have left "
            "the range of 32-bit floats.",
            "answer",
        )
        return
    first, *others = order[:most]
    subject = upper_first(name(first))
    so_far = "" if len(order) == len(values) else f" (of {len(order):,} {parts} measured so far)"
    median = effects.written(float(np.nanmedian(values)))
    if effects.is_signed:  # the order is that of the sizes
        median = f"{median}; without signs {np.nanmedian(sizes):{effects.number[1:]}}"
    told = effects.said.format(f"**{effects.written(values[first])}**")
    yield Paragraph(
        f"**{subject} matters most**{so_far}: without it, {told}. "
        f"The median of the {len(order):,} {parts} is {median}.",
        "answer",
    )
    if others:
        listed = "; ".join(f"{name(i)} ({effects.written(values[i])})" for i in others)
        yield Paragraph(f"Next{', by size' * effects.is_signed}: {listed}.")


def _describe_together(values: Array, parts: Parts) -> str:
    """What the heads of one layer bring alone and together, as the end of a sentence; empty where that is not known."""
    if parts.of_sublayers is None:
        return ""
    attention = parts.of_sublayers.values.reshape(len(values), len(SUBLAYERS))[:, list(SUBLAYERS).index("attn")]
    found = compare_together(values, attention)
    if found is None:
        return ""
    alone, together = parts.effects.written(found.strongest), parts.effects.written(found.together)
    replaced = ", so where one is off, others do its work" if found.replaced else ""
    return (
        f"; {'but' if found.replaced else 'and'} of the {values.shape[1]} heads in layer {found.layer}, the strongest "
        f"alone brings {alone}, and the layer's whole attention {together}{replaced}"
    )


def _compare_spread(spread: Array, sizes: Array, together: str) -> str:
    """The rank correlation, and where the most striking and the most important head stand in the other order."""
    known = np.isfinite(spread) & np.isfinite(sizes)
    n, correlation = int(known.sum()), rank_correlation(-spread[known], sizes[known])
    if np.isnan(correlation):
        return "**Do striking heads matter?** It takes three heads whose patterns and effects differ to compare them."
    shares, effects = (np.where(known, values, np.nan) for values in (spread, sizes))
    striking, strong = (np.unravel_index(at, spread.shape) for at in (np.nanargmin(shares), np.nanargmax(effects)))
    by_effect = 1 + int(np.nansum(effects > effects[striking]))
    by_spread = 1 + int(np.nansum(shares < shares[strong]))
    number = with_minus(f"{correlation:+.2f}")
    return (
        f"**Do striking heads matter? {_judge(correlation)}{together}.** Over {n} heads, the rank correlation of how "
        f"striking a pattern is and how much its head matters is **{number}** (Spearman: 1 the same order, 0 none, −1 "
        f"the opposite). The most striking pattern, layer {striking[0]}, head {striking[1]}, is number {by_effect} of "
        f"{n} by the size of its effect. The head with the largest effect, layer {strong[0]}, head {strong[1]}, is "
        f"number {by_spread} by how striking it is."
    )


def rank_correlation(one: Array, two: Array) -> float:
    """Spearman's rank correlation of two lists of numbers, from -1 to 1; equal numbers share their mean rank.

    NaN where there are fewer than three pairs, or one list has one value throughout.
    """
    return float(pd.DataFrame({"one": one, "two": two}).corr("spearman", min_periods=3).to_numpy()[0, 1])


WEAK, STRONG = 0.2, 0.5
"""Rank correlations from which on a tendency is called one, and a clear one."""


def _judge(correlation: float) -> str:
    """What a rank correlation says of striking heads, each off alone, in words; a sentence without its full stop."""
    if correlation >= STRONG:
        return "Alone, yes: the more striking a head's pattern is, the more the head tends to matter"
    if correlation >= WEAK:
        return "Alone, a little: striking heads tend to matter more, with many exceptions"
    if correlation > -WEAK:
        return "Alone, it does not show: how striking a pattern is says next to nothing about how much its head matters"
    return "Alone, no: the heads that spread their attention tend to matter more"


def _draw_points(spread: Array, sizes: Array, chosen: tuple[int, int]) -> Figure:
    """Every head as a point, the chosen one as a diamond."""
    places = np.array(list(np.ndindex(spread.shape)))
    is_chosen = (places == chosen).all(axis=1)
    looks = (
        ("every other head", ~is_chosen, {"color": palette.ATTENTION, "size": 8, "symbol": "circle"}),
        ("layer {}, head {}".format(*chosen), is_chosen, {"color": palette.FOCUS, "size": 13, "symbol": "diamond"}),
    )
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": spread.ravel()[shown].astype(np.float32),
            "y": sizes.ravel()[shown].astype(np.float32),
            "customdata": places[shown],
            "name": name,
            "marker": marker,
            "hovertemplate": "layer %{customdata[0]}, head %{customdata[1]}<br>spread %{x:.3f}<br>effect %{y:.4g}"
            "<extra></extra>",
        }
        for name, shown, marker in looks
    ]
    x_axis = {"title": "spread of the pattern (0 = one key, 1 = all keys evenly)", "range": [-0.02, 1.02]}
    return figures.style(traces, {"xaxis": x_axis, "yaxis": {"title": "size of the effect"}}, height=340, legend=True)


def _list_heads(spread: Array, sizes: Array) -> pd.DataFrame:
    """A row a head, the largest effect first."""
    layers, heads = (each.ravel() for each in np.indices(spread.shape))
    columns = {"layer": layers, "head": heads, "spread": spread.ravel(), "size of the effect": sizes.ravel()}
    return pd.DataFrame(columns).sort_values("size of the effect", ascending=False, ignore_index=True)


def show_sublayers(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The sublayers' effects, and buttons that switch those of the chosen layer off."""
    effects, layer, n_layers = scene.now.effects, scene.focus.layer, scene.now.run.config.n_layers
    names = [f"layer {layer}, {name}" for layer in range(n_layers) for name in SUBLAYERS.values()]
    yield from _answer_largest(effects, names.__getitem__, "sublayers")
    yield _map_by_layer(
        "sublayer_effects",
        effects,
        Axis("sublayer", lambda _: list(SUBLAYERS.values()), options={"tickangle": 0}),
        n_layers,
        hover="layer %{y}, %{x}",
        caption=f"**Effect of each sublayer, switched off alone{effects.instead}:** {effects.meaning}. Click a row to "
        "choose its layer.",
        alt="Effect of attention and feed-forward by layer",
        click="The chosen layer. Arrow keys move it.",
        height=110 + 34 * n_layers,
    )
    offers = {
        f"Switch off {name} in layer {layer}": [Change("off", layer, None, (sublayer,))]
        for sublayer, name in SUBLAYERS.items()
    }
    yield offer_changes("whatif_switch", offers)


def _map_by_layer(key: str, effects: Effects, columns: Axis[Parts], n_layers: int, **chart: Any) -> Heatmap[Parts]:
    """Effects with a row a layer; `chart` has the other fields of `Heatmap`."""
    return Heatmap(
        key=key,
        values=lambda shown: shown.effects.values.reshape(n_layers, -1),
        rows=Axis("layer", place="layer"),
        columns=columns,
        magnitude=1.0,
        more="a larger effect",
        gap=1,
        **_effect_colours(effects) | chart,
    )


def show_pairs(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The effects of the chosen head's pairs of tokens, cut one at a time."""
    run, effects, focus = scene.now.run, scene.now.effects, scene.focus
    pairs, n_tokens = list_pairs(run, focus.layer), len(run.tokens)
    cells = np.full((n_tokens, n_tokens), np.nan, np.float32)
    cells[tuple(np.transpose(pairs))] = effects.values
    yield from _answer_largest(effects, lambda i: _name_pair(run, *pairs[i]), "pairs")
    chart: Heatmap[Parts] = head_map(
        key="pair_effects",
        alt=f"Effect of every pair of tokens in layer {focus.layer}, head {focus.head}",
        caption=f"**Effect of each pair of layer {focus.layer}, head {focus.head}, cut alone before the "
        f"softmax{effects.instead}**, so that the query's other keys share its weight: {effects.meaning}. Grey pairs "
        "are not measured yet, or cannot be cut. Click a cell to choose its pair.",
        weights=lambda _: cells,
        tokens=lambda _: run.tokens,
        allowed=lambda _: np.isfinite(cells),
        visible=lambda _: ~run.padding,
        magnitude=None if np.nanmax(np.abs(cells), initial=0) > 1e-6 else 1.0,
        hover="%{y} does not attend to %{x}",
        click=CLICK_CELL,
        **_effect_colours(effects),
    )
    yield replace(chart, reading=lambda _: "")
    if (focus.query, focus.key) in pairs:
        cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
        yield offer_changes("whatif_switch", {f"Cut {_name_pair(run, focus.query, focus.key)} in this head": [cut]})


def _name_pair(run: Run, query: int, key: int) -> str:
    return f"{quote_place(run.tokens, query)} → {quote_place(run.tokens, key)}"


def show_hidden_tokens(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """The effects of tokens that one layer's other tokens do not see."""
    run, effects, focus = scene.now.run, scene.now.effects, scene.focus
    tokens, n_layers = run.real_tokens, run.config.n_layers
    places = list(np.ndindex(n_layers, len(tokens)))
    yield from _answer_largest(
        effects, lambda i: f"{quote_place(tokens, places[i][1])} in layer {places[i][0]}", "tokens"
    )
    yield _map_by_layer(
        "hidden_tokens",
        effects,
        token_axis(lambda _: tokens, "key", "token that is hidden"),
        n_layers,
        hover="layer %{y}, %{x}",
        caption=f"**Effect where no other token of a layer attends to this one, in any head{effects.instead}; the "
        f"token still attends to itself:** {effects.meaning}. Click a cell to choose its layer and its token, as the "
        "key.",
        alt="Effect of every token, hidden from the others, by layer",
        click="The chosen layer, in its row, and key, in its column. Arrow keys move them.",
        height=92 + 34 * n_layers + text_width(token_names(tokens)),
    )
    if np.delete(run.allowed_in(focus.layer)[~run.padding, focus.key], focus.key).any():
        word = quote_place(run.tokens, focus.key)
        layers = {"in every layer": range(n_layers), f"in layer {focus.layer} alone": [focus.layer]}
        offers = {
            f"Hide {word} {where}": [Change("hide", layer, None, (focus.key,)) for layer in chosen]
            for where, chosen in layers.items()
        }
        yield offer_changes("whatif_switch", offers)


PARTS: Mapping[PartKind, Callable[[Scene[Parts], Options], Iterator[Item]]] = {
    "heads": show_heads,
    "sublayers": show_sublayers,
    "pairs of one head": show_pairs,
    "hidden tokens": show_hidden_tokens,
}
"""By the value of `whatif_parts`."""
