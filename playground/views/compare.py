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
    list_unequal_points,
)
from playground.analysis.positions import ROUNDING
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Bars, Columns, Heatmap, Item, Paragraph, Picture
from playground.charts.figure import Array, Figure
from playground.charts.head_map import head_map, number_by_head
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views.attention.why import nearest_head
from playground.views.norms import lengths_by_depth
from playground.views.parameters import COMPONENTS, component_bars, sum_by_component

SMALLEST_SHARE = 1e-9
"""Where the logarithmic axis of differences begins: it has no 0."""


def compare_heads(scene: Scene[Run], pinned: Run, moved: Array | None) -> Iterator[Item]:
    """The head at the focus in both runs; and how much weight each head has `moved`, (L, H), where tokens are equal."""
    (_, before), (run, after) = ((each, _pattern(each, scene.focus)) for each in (pinned, scene.now))
    yield Paragraph(escape_markdown(describe_head_change((pinned, before), (run, after))))
    one_head = _head_in_both(scene)
    yield one_head if moved is None else Columns(((one_head,), (_moved_weight(moved),)))


def _pattern(run: Run, focus: Focus) -> Array:
    place = nearest_head(run, focus)
    pattern: Array = run.pattern(place.layer)[place.head]
    return pattern


def _head_in_both(scene: Scene[Run]) -> Heatmap[Run]:
    focus = scene.focus

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
        allowed=lambda run: run.allowed & ~run.padding[:, None],
        caption=f"**{escape_markdown(scene.now_name)}.** Layer {focus.layer}, head {focus.head}.",
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
    """Where the two runs part, point by point of the forward pass."""
    yield Paragraph("Where do the two part?", "header")
    yield Paragraph(describe_parting(pinned, scene.now, differences))
    if not differences:
        return
    ratios = [each.largest / each.size if each.size else each.largest for each in differences]
    shares, names = np.array(ratios, np.float32), [each.name for each in differences]
    lost = " Where a bar is missing, numbers are too large for 32-bit floats." * bool(np.isnan(shares).any())
    unequal = " Points whose shapes differ have no bar." * bool(list_unequal_points(pinned, scene.now))
    yield Picture[Run](
        key="compare_points",
        alt="The largest difference of the two runs at each point of the forward pass.",
        caption="A bar is a point of the forward pass, in the order of computation: the largest difference of two "
        "numbers there, as a share of the largest number. Grey bars, below the dotted line, are rounding. "
        f"The same numbers, bit by bit, have no height.{lost}{unequal}",
        figure=lambda _: differences_on_the_way(shares, names),
        table=lambda _: pd.DataFrame([asdict(each) for each in differences]).rename(
            columns={"name": "point", "largest": "largest difference", "size": "largest number"}
        ),
        compares=False,
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
        "hovertemplate": "%{x}<br>largest difference: %{customdata:.3g} of the largest number<extra></extra>",
    }
    line = {"color": palette.RESIDUAL, "width": 1.5, "dash": "dot"}
    threshold = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": ROUNDING, "y1": ROUNDING, "line": line}
    top = math.log10(float(np.max(shares, where=np.isfinite(shares), initial=1)))
    layout = {
        "xaxis": {
            "title": "point of the forward pass",
            "type": "category",
            "tickangle": -figures.SLANT,
            "tickvals": list(points),
            "ticktext": [point.removeprefix("layers.") for point in points],
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
    yield Paragraph("How long are the vectors?", "header")
    names = (scene.pinned_name, scene.now_name)
    yield Paragraph(escape_markdown(describe_growth_change(before, after, names)))
    yield replace(
        lengths_by_depth(scene),
        key="compare_norms",
        alt="Mean L2 norm by depth, of both runs",
        caption=f"Mean L2 norm by depth. Lines with bands: {escape_markdown(scene.now_name)}.",
        reading=lambda _: "",
        click="",
    )


def compare_costs(scene: Scene[ModelCosts], pinned: ModelCosts) -> Iterator[Item]:
    """Parameters and the work for the sentence, of both models."""
    yield Paragraph("What do they cost?", "header")
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
        caption=f"{unit[0].upper()}{unit[1:]} by component: {escape_markdown(scene.now_name)}.",
        alt=f"{unit[0].upper()}{unit[1:]} by component, of both models: {listed_totals}.",
        table=table,
    )
