"""Two settings side by side: one head of both runs, where the runs part, how long the vectors are, what models cost."""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from playground.accounting import Count
from playground.accounting.readable import ModelCosts, describe_costs
from playground.analysis import streams
from playground.analysis.comparison import (
    PointDifference,
    describe_growth_change,
    describe_head_change,
    describe_parting,
    find_parting,
    have_same_tokens,
    list_unequal_points,
)
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Bars, Columns, Heatmap, Item, Paragraph, Picture
from playground.charts.figure import Array, Figure
from playground.charts.head_map import CLICK_CELL, head_map, number_by_head
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene, note_nearest
from playground.link.opening import Focus
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.text.wording import upper_first, with_minus, write_share
from playground.views.norms import lengths_by_depth
from playground.views.parameters import COMPONENTS, component_bars, sum_by_component

MOST_ON_LINEAR = 100
"""How many times as long as the smallest bar of differences the largest may be on an axis that begins at 0."""

ENDS = ("embed.out", "final")
"""The points before the first layer, and after the last."""

_BLOCK_END = re.compile(r"layers\.\d+\.out")
"""The point where a layer ends."""


def answer_parting(
    pinned: Run, now: Run, differences: list[PointDifference], is_random: tuple[bool, bool] = (False, False)
) -> Paragraph:
    """Where two runs part, by how much, and what becomes of it; `is_random`: the pinned and the present weights."""
    weights = {
        (True, True): " Both have random weights.",
        (True, False): " The pinned weights are random.",
        (False, True): " The present weights are random.",
    }.get(is_random, "")
    return Paragraph(_describe_first_difference(pinned, now, differences) + weights, "answer")


def _describe_first_difference(pinned: Run, now: Run, differences: list[PointDifference]) -> str:
    if not have_same_tokens(pinned, now):
        return _describe_other_tokens(pinned, now)
    widths = pinned.config.d_model, now.config.d_model
    if widths[0] != widths[1]:
        return (
            f"Pinned and now part **at the embeddings**: a token's vector has {widths[0]:,} numbers in the pinned "
            f"model and **{widths[1]:,}** now, so that no vector has a counterpart."
        )
    found = find_parting(pinned, now, differences)
    if found is None:
        return "Pinned and now are **the same**: every number of the one is that of the other, but for rounding."
    token = quote_place(now.tokens, int(np.flatnonzero(~now.padding)[found.token]))
    if np.isnan(found.share):
        there = "there numbers are too large for 32-bit floats"
    elif np.isinf(found.share):
        there = f"there the vector of {token} is 0 in the pinned run, and not now"
    elif found.share <= FLOAT32_ROUNDING:
        there = "there only attention differs, and the vectors that leave the layer are the same"
    else:
        where = "where that layer ends," if found.point.startswith("layers.") else "there"
        there = f"{where} the vector of {token} differs most, by **{write_share(found.share)}** of its length"
    way = describe_way(differences)
    digits = 2 if found.cosine < 0.99 else 4  # what is almost the same is not told as the same
    end = (
        f"The cosine of the sentence's two vectors at the end is **{with_minus(f'{found.cosine:.{digits}f}')}**: it "
        "compares directions alone, and 1 is the same direction."
        if np.isfinite(found.cosine)
        else "At the end, no cosine can be told."
    )
    return " ".join(filter(None, (f"{_describe_place(found.point, pinned, now)}; {there}.", way, end)))


def _describe_place(point: str, pinned: Run, now: Run) -> str:
    """Up to where two runs are the same."""
    if point == "embed.out":
        return "Pinned and now part at once, **at the embeddings**"
    if point == "end":
        few, many = sorted((pinned.config.n_layers, now.config.n_layers))
        layers = f"{few} {'layer' if few == 1 else 'layers'}"
        return f"Pinned and now are the same for **{layers}**, and one goes on to {many}"
    if point == "final":
        return "Pinned and now are the same up to the last block, and part **in the last norm**"
    layer = int(point.split(".")[1])
    before = "have the same embeddings" if layer == 0 else f"are the same before layer {layer}"
    return f"Pinned and now {before}, and part **in layer {layer}**"


def _describe_other_tokens(pinned: Run, now: Run) -> str:
    """Where the tokens of two runs differ first."""
    one, other = pinned.real_tokens, now.real_tokens
    if one == other:
        return (
            f"Pinned and now read the same {len(one)} tokens, with {int(pinned.padding.sum())} and "
            f"{int(now.padding.sum())} of padding behind them, so they are not compared number by number."
        )
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    names = [quote_token(tokens[first]) if first < len(tokens) else "no token" for tokens in (one, other)]
    return (
        f"Pinned and now part **at the tokens**: the pinned settings read {len(one)}, the present ones {len(other)}. "
        f"The first difference is at position {first}: {names[0]}, and {names[1]} now."
    )


def compare_heads(scene: Scene[Run], moved: Array | None) -> Iterator[Item]:
    """The head at the focus in both runs; and how much weight each head has `moved`, (L, H), where tokens are equal."""
    pinned, now = scene.both
    before, after = (_pattern(each, scene.focus) for each in (pinned, now))
    yield Paragraph(escape_markdown(describe_head_change((pinned, before), (now, after))) + _name_most_moved(moved))
    one_head = _head_in_both(scene)
    if scene.same_tokens and np.abs(after - before).max() <= FLOAT32_ROUNDING:  # two equal maps, nothing between them
        place = f"Layer {scene.focus.layer}, head {scene.focus.head}."
        off = _explain_zero(scene)
        one_head = replace(one_head, compares=False, caption=f"**Pinned and now: the same weights.** {place}{off}")
    yield one_head if moved is None else Columns(((_moved_weight(moved),), (one_head,)))


def _explain_zero(scene: Scene[Run]) -> str:
    """Why switching the head at the focus off, in one of the runs, leaves its weights; after a space, or nothing."""
    (pinned, now), layer, head = scene.both, scene.focus.layer, scene.focus.head
    unequal = {*pinned.interventions} ^ {*now.interventions}
    is_off = any(each.silences_head(layer, head) for each in unequal)
    return " Switching this head off leaves its weights as they are: what it gathers by them becomes 0." * is_off


def _name_most_moved(moved: Array | None) -> str:
    """The head that has moved most weight, of (L, H), after a space; empty where none has, or a number is lost."""
    if moved is None or not np.isfinite(moved).all() or moved.max(initial=0) <= FLOAT32_ROUNDING:
        return ""
    layer, head = np.unravel_index(int(moved.argmax()), moved.shape)
    return f" Of all heads, layer {layer}, head {head} has changed most, by {write_share(float(moved[layer, head]))}."


def _pattern(run: Run, focus: Focus) -> Array:
    place = focus.within(run.config)
    pattern: Array = run.pattern(place.layer)[place.head]
    return pattern


def _head_in_both(scene: Scene[Run]) -> Heatmap[Run]:
    focus, now = scene.focus, escape_markdown(scene.now_name)

    def name_nearest(run: Run) -> str:
        nearest = focus.within(run.config)
        return f"Layer {nearest.layer}, head {nearest.head}.{note_nearest(focus, nearest)}"

    return head_map(
        key="head_now",
        beside_key="head",
        in_one_row=True,
        weights=lambda run: _pattern(run, focus),
        tokens=lambda run: run.tokens,
        allowed=lambda run: run.allowed_in(focus.within(run.config).layer) & ~run.padding[:, None],
        window=lambda run: run.config.window_of(focus.within(run.config).layer),
        caption=f"**{upper_first(now)}.** Layer {focus.layer}, head {focus.head}.",
        alt="Attention: queries in rows, keys in columns.",
        nearest=name_nearest,
        click=CLICK_CELL,
        saved_as=f"head_now_layer{focus.layer}_head{focus.head}",
    )


def _moved_weight(shares: Array) -> Heatmap[Run]:
    """How much every head that both have has changed."""
    return number_by_head(
        key="moved_weight",
        alt="Share of its weight that each head has moved to other keys.",
        caption="**How much has each head changed?** A cell is the share of a query's weight that has moved to other "
        "keys, averaged over queries: 0 is the same attention, 1 looks at other keys altogether. The strongest colour "
        f"is the largest of these heads, {np.nanmax(shares, initial=0):.2g}. Click a cell to open its head.",
        values=lambda _: shares,
        bar="share",
        more="more weight moved",
        number=".1%",
        compares=False,
    )


def compare_points(scene: Scene[Run], differences: list[PointDifference]) -> Iterator[Item]:
    """How far the two runs are apart, layer by layer; nothing where no point has a counterpart."""
    if not differences:
        return
    shown = points_by_layer(differences)
    shares = np.array([each.share if each.is_apart else 0 for each in shown])
    of = "vectors" if shown[0].name == "embed.out" else "weights of attention, a vector for each query,"
    lost = " No bar: numbers are too large for 32-bit floats there." * bool(np.isnan(shares).any())
    unequal = bool(list_unequal_points(*scene.both))
    missing = " Of points that have another shape now, no number can be compared." * unequal
    yield Picture[Run](
        key="compare_points",
        alt="How far apart the vectors of the two runs are, a bar for each layer.",
        caption=f"**How far apart are pinned and now?** The {of} that leave a layer are compared token by token. A bar "
        "is the token that differs most: the length of its difference, in percent of its pinned length."
        f"{_explain_axis(shares)}{lost}{missing}",
        figure=lambda _: differences_on_the_way(shares, [_name_layer(each.name) for each in shown]),
        table=lambda _: pd.DataFrame([asdict(each) for each in differences]).rename(
            columns={
                "name": "point",
                "largest": "largest difference",
                "size": "largest number",
                "share": "share of length",
            }
        ),
        compares=False,
    )
    first = next((each.name for each in differences if each.is_apart), "")
    is_within = first.startswith("layers.") and not _BLOCK_END.fullmatch(first) and shown[0].name == "embed.out"
    bars = " The bars above are of what leaves a layer, and not of this part alone." * is_within
    if is_within or unequal:  # else the page's answer has said it
        yield Paragraph(f"{describe_parting(*scene.both, differences)}{bars}")


def points_by_layer(differences: Sequence[PointDifference]) -> list[PointDifference]:
    """The points that have a bar: what leaves each layer, and where widths differ, attention's weights in each."""
    shown = [each for each in differences if each.name in ENDS or _BLOCK_END.fullmatch(each.name)]
    if len(shown) > 1 and shown[-1].share == shown[-2].share:  # nothing stands behind the last layer
        shown.pop()
    return shown or [each for each in differences if each.name.endswith(".attn.pattern")]


def _name_layer(point: str) -> str:
    return {"embed.out": "embeddings", "final": "output"}.get(point) or f"layer {point.split('.')[1]}"


def describe_way(differences: Sequence[PointDifference]) -> str:
    """Whether the difference of two runs grows from where they part to the end, or is mended; empty where none is."""
    shown = points_by_layer(differences)
    parted = next((each for each in shown if each.is_apart), None)
    if parted is None or parted is shown[-1] or shown[0].name != "embed.out":
        return ""
    end = shown[-1]
    if not end.is_apart:
        return "At the end nothing is left of the difference: **it is mended**."
    shares = [each.share for each in shown]
    if not np.isfinite(shares).all():
        return ""
    way = shares[shown.index(parted) :]
    reached = f"it is **{write_share(end.share)}** at the end."
    steps = list(itertools.pairwise(way))
    if max(way) <= 1.1 * min(way):
        return f"The difference **stays about as large**: {reached}"
    if all(after >= 0.99 * before for before, after in steps):
        return f"The difference **grows**: {reached}"
    if all(before >= 0.99 * after for before, after in steps):
        return f"The difference **shrinks**: {reached}"
    return (
        f"The difference **goes up and down**, between {write_share(min(way))} and {write_share(max(way))}: {reached}"
    )


def differences_on_the_way(shares: Array, names: Sequence[str]) -> Figure:
    """Differences of two runs, a bar for each layer, as shares of a vector's length: (layers,).

    The axis begins at 0, unless `needs_log`. What is 0, NaN or infinite has no bar.
    """
    is_drawn = np.isfinite(shares) & (shares > 0)
    bars = {
        "type": "bar",
        "x": list(names),
        "y": np.where(is_drawn, shares, np.nan),
        "marker": {"color": palette.ATTENTION},
        "text": [write_share(share) if drawn else "" for share, drawn in zip(shares.tolist(), is_drawn, strict=True)],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{y:.3p} of its length<extra></extra>",
    }
    axis: dict[str, Any] = {"title": "difference, % of length", "tickformat": ".3~p"}
    if needs_log(shares):
        axis = {"title": "difference, % of length (log)", "type": "log", "tickformat": "~p"}
        low, high = (math.log10(value) for value in (shares[is_drawn].min(), shares[is_drawn].max()))
        axis["range"] = [low - 0.5, high + 0.3]
    else:
        axis["range"] = [0, 1.15 * float(np.max(shares, where=is_drawn, initial=0)) or 1]
    layout = {
        "xaxis": {"title": "after", "type": "category", "tickangle": -figures.SLANT},
        "yaxis": axis,
    }
    return figures.style([bars], layout, height=300)


def needs_log(shares: Array) -> bool:
    """Whether the shares that have a bar are so unequal that small ones could not be seen on an axis from 0."""
    drawn = shares[np.isfinite(shares) & (shares > 0)]
    return bool(drawn.size) and bool(drawn.max() > MOST_ON_LINEAR * drawn.min())


def _explain_axis(shares: Array) -> str:
    equal = " No bar: they are the same but for rounding." * bool((shares == 0).any())
    return equal + " The axis is logarithmic: each further line is ten times as much." * needs_log(shares)


def compare_lengths(scene: Scene[Run]) -> Iterator[Item]:
    """How long the vectors of both runs are by depth."""
    before, after = map(streams.lengths, scene.both)
    names = (scene.pinned_name, scene.now_name)
    yield Paragraph(escape_markdown(describe_growth_change(before, after, names)))
    yield replace(
        lengths_by_depth(scene),
        key="compare_norms",
        alt="Median L2 norm by depth, of both runs",
        caption=f"Median L2 norm by depth. Lines with bands: {escape_markdown(scene.now_name)}.",
        reading=lambda _: "",
        click="",
    )


def compare_costs(scene: Scene[ModelCosts]) -> Iterator[Item]:
    """Parameters and the work for the sentence, of both models."""
    yield Paragraph(escape_markdown(describe_costs(*scene.both)))
    yield Columns(
        (
            (_cost_bars(scene, "parameters", lambda costs: costs.parameters),),
            (_cost_bars(scene, "FLOPs", lambda costs: costs.flops),),
        )
    )


def _cost_bars(scene: Scene[ModelCosts], unit: str, count: Callable[[ModelCosts], Count]) -> Bars[ModelCosts]:
    pinned, now = map(count, scene.both)
    sides = [sum_by_component(pinned), sum_by_component(now)]
    names = [name for name in COMPONENTS if any(name in side for side in sides)]

    def table(costs: ModelCosts) -> pd.DataFrame:
        sums = sum_by_component(count(costs))
        counts = {name: sums.get(name, 0) for name in names} | {"all": count(costs).total}
        return pd.Series(counts, name="now").rename_axis("component").to_frame()

    return component_bars(
        f"compare_{unit.lower()}",
        count,
        unit,
        caption=f"{upper_first(unit)} by component: {escape_markdown(scene.now_name)}.",
        alt=f"{upper_first(unit)} by component, of both models: now {now.total:,}, pinned {pinned.total:,}.",
        table=table,
    )
