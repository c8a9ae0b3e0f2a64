"""Two settings side by side: one head of both runs, where the runs part, how long the vectors are, what models cost."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from playground.accounting import Count
from playground.accounting.costs import ModelCosts, describe_costs
from playground.analysis import streams
from playground.analysis.comparison import (
    PointDifference,
    describe_growth_change,
    describe_head_change,
    describe_parting,
    find_parting,
    have_same_tokens,
    list_unequal_points,
    name_point,
)
from playground.analysis.positions import ROUNDING
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Bars, Columns, Heatmap, Item, Paragraph, Picture
from playground.charts.figure import Array, Figure
from playground.charts.head_map import head_map, number_by_head
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.text.wording import upper_first, with_minus, write_share
from playground.views.attention.why import nearest_head
from playground.views.norms import lengths_by_depth
from playground.views.parameters import COMPONENTS, component_bars, sum_by_component

SMALLEST_SHARE = 1e-9
"""Where the logarithmic axis of differences begins: it has no 0."""


def answer_parting(
    pinned: Run, now: Run, differences: list[PointDifference], is_random: tuple[bool, bool] = (False, False)
) -> Paragraph:
    """Where two runs part, and by how much; `is_random` says of the pinned and the present weights that they are."""
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
    elif found.share <= ROUNDING:
        there = "there only attention differs, and the vectors that leave the layer are the same"
    else:
        there = f"there the vector of {token} differs most, by **{write_share(found.share)}** of its length"
    digits = 2 if found.cosine < 0.99 else 4  # what is almost the same is not told as the same
    end = (
        f"the cosine of the sentence's two vectors is **{with_minus(f'{found.cosine:.{digits}f}')}**, where 1 is the "
        "same direction"
        if np.isfinite(found.cosine)
        else "no cosine can be told"
    )
    return f"{_describe_place(found.point, pinned, now)}; {there}. At the end, {end}."


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
    one, other = (
        [token for token, is_padding in zip(run.tokens, run.padding, strict=True) if not is_padding]
        for run in (pinned, now)
    )
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


def compare_heads(scene: Scene[Run], pinned: Run, moved: Array | None) -> Iterator[Item]:
    """The head at the focus in both runs; and how much weight each head has `moved`, (L, H), where tokens are equal."""
    (_, before), (run, after) = ((each, _pattern(each, scene.focus)) for each in (pinned, scene.now))
    yield Paragraph(escape_markdown(describe_head_change((pinned, before), (run, after))) + _name_most_moved(moved))
    one_head = _head_in_both(scene)
    if scene.same_tokens and np.abs(after - before).max() <= ROUNDING:  # two equal maps and nothing between them
        place = f"Layer {scene.focus.layer}, head {scene.focus.head}."
        one_head = replace(one_head, compares=False, caption=f"**Pinned and now: the same weights.** {place}")
    yield one_head if moved is None else Columns(((_moved_weight(moved),), (one_head,)))


def _name_most_moved(moved: Array | None) -> str:
    """The head that has moved most weight, of (L, H), after a space; empty where none has, or a number is lost."""
    if moved is None or not np.isfinite(moved).all() or moved.max(initial=0) <= ROUNDING:
        return ""
    layer, head = np.unravel_index(int(moved.argmax()), moved.shape)
    return f" Of all heads, layer {layer}, head {head} has changed most, by {write_share(float(moved[layer, head]))}."


def _pattern(run: Run, focus: Focus) -> Array:
    place = nearest_head(run, focus)
    pattern: Array = run.pattern(place.layer)[place.head]
    return pattern


def _head_in_both(scene: Scene[Run]) -> Heatmap[Run]:
    focus, now = scene.focus, escape_markdown(scene.now_name)

    def name_nearest(run: Run) -> str:
        nearest = nearest_head(run, focus)
        places = {"layer": (focus.layer, nearest.layer), "head": (focus.head, nearest.head)}
        missing = [f"{place} {asked}" for place, (asked, shown) in places.items() if shown != asked]
        lacks = f" The nearest: it has no {' and no '.join(missing)}." if missing else ""
        return f"Layer {nearest.layer}, head {nearest.head}.{lacks}"

    return head_map(
        key="head_now",
        beside_key="head",
        in_one_row=True,
        weights=lambda run: _pattern(run, focus),
        tokens=lambda run: run.tokens,
        allowed=lambda run: run.allowed_in(focus.layer) & ~run.padding[:, None],
        caption=f"**{upper_first(now)}.** Layer {focus.layer}, head {focus.head}.",
        alt="Attention: queries in rows, keys in columns.",
        nearest=name_nearest,
        click="The chosen query, in its row, and key, in its column. Arrow keys move them.",
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


def compare_points(scene: Scene[Run], pinned: Run, differences: list[PointDifference]) -> Iterator[Item]:
    """Where the two runs part, point by point of the forward pass; nothing where no point has a counterpart."""
    if not differences:
        return
    ratios = [each.largest / each.size if each.size else each.largest for each in differences]
    shares, names = np.array(ratios, np.float32), [each.name for each in differences]
    lost = ", or numbers are too large for 32-bit floats" * bool(np.isnan(shares).any())
    unequal = ", or the two have other shapes there" * bool(list_unequal_points(pinned, scene.now))
    yield Picture[Run](
        key="compare_points",
        alt="The largest difference of the two runs at each point of the forward pass.",
        caption="**How far apart are pinned and now?** A bar is a point of the computation, from first to last; each "
        "layer has five. Its height is the largest difference of two numbers there, as a share of the largest number. "
        "Grey, below the dotted line: the difference is rounding. "
        f"No bar: the numbers are the same{lost}{unequal}.",
        reading=lambda _: describe_way(differences),
        figure=lambda _: differences_on_the_way(shares, names),
        table=lambda _: pd.DataFrame([asdict(each) for each in differences]).rename(
            columns={"name": "point", "largest": "largest difference", "size": "largest number"}
        ),
        compares=False,
    )
    yield Paragraph(describe_parting(pinned, scene.now, differences))


def describe_way(differences: Sequence[PointDifference]) -> str:
    """Whether the difference of two runs grows from where they part to the end, or is mended; empty where none is."""
    parted = next((each for each in differences if each.is_apart), None)
    if parted is None or parted is differences[-1]:
        return ""
    end = differences[-1]
    if not end.is_apart:
        return "At the end nothing is left of the difference: it is mended."
    if not (np.isfinite(parted.largest) and np.isfinite(end.largest) and parted.size and end.size):
        return ""
    first, last = parted.largest / parted.size, end.largest / end.size
    word = "grows" if last > 1.1 * first else "shrinks" if last < first / 1.1 else "stays as large"
    return (
        f"The difference {word} on the way: {write_share(first)} of the largest number where they part, "
        f"{write_share(last)} at the end."
    )


def differences_on_the_way(shares: Array, points: Sequence[str]) -> Figure:
    """Differences of two runs at each point of the forward pass, as shares of the largest number there: (points,).

    Bars up to rounding, a dotted line, are grey: there the two are the same. NaN has no bar.
    """
    bars = {
        "type": "bar",
        "x": list(points),
        "y": np.maximum(shares, np.float32(SMALLEST_SHARE)),
        "marker": {"color": np.where(shares <= ROUNDING, palette.MUTED, palette.ATTENTION)},
        "customdata": shares,
        "hovertext": [name_point(point) for point in points],
        "hovertemplate": "%{hovertext}<br>largest difference: %{customdata:.3g} of the largest number<extra></extra>",
    }
    middles = {point: f"layer {point.split('.')[1]}" for point in points if point.endswith(".resid_mid")}
    ticks = {"embed.out": "embeddings", **middles, "final": "output"}
    line = {"color": palette.RESIDUAL, "width": 1.5, "dash": "dot"}
    threshold = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": ROUNDING, "y1": ROUNDING, "line": line}
    top = math.log10(float(np.max(shares, where=np.isfinite(shares), initial=1)))
    layout = {
        "xaxis": {
            "title": "point of the forward pass",
            "type": "category",
            "tickangle": -figures.SLANT,
            "tickvals": [point for point in ticks if point in points],
            "ticktext": [text for point, text in ticks.items() if point in points],
        },
        "yaxis": {
            "title": "largest difference (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": [math.log10(SMALLEST_SHARE), top + 0.2],
        },
        "shapes": [threshold],
    }
    return figures.style([bars], layout, height=320)


def compare_lengths(scene: Scene[Run], pinned: Run) -> Iterator[Item]:
    """How long the vectors of both runs are by depth."""
    before, after = streams.lengths(pinned), streams.lengths(scene.now)
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


def compare_costs(scene: Scene[ModelCosts], pinned: ModelCosts) -> Iterator[Item]:
    """Parameters and the work for the sentence, of both models."""
    yield Paragraph(escape_markdown(describe_costs(pinned, scene.now)))
    yield Columns(
        (
            (_cost_bars(scene, "parameters", lambda costs: costs.parameters),),
            (_cost_bars(scene, "FLOPs", lambda costs: costs.flops),),
        )
    )


def _cost_bars(scene: Scene[ModelCosts], unit: str, count: Callable[[ModelCosts], Count]) -> Bars[ModelCosts]:
    models = [costs for costs in (scene.now, scene.pinned) if costs is not None]
    sides = [sum_by_component(count(costs)) for costs in models]
    listed_totals = ", ".join(
        f"{name} {count(costs).total:,}" for name, costs in zip(("now", "pinned"), models, strict=False)
    )
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
        alt=f"{upper_first(unit)} by component, of both models: {listed_totals}.",
        table=table,
    )
