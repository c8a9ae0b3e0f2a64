"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from playground.analysis import streams
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    AxisOptions,
    Columns,
    Control,
    Curves,
    Formula,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Table,
    Vectors,
    fill_panel,
    token_axis,
)
from playground.charts.figure import Array, Curve
from playground.charts.head_map import CLICK_CELL
from playground.charts.names import escape_markdown, quote_place
from playground.charts.scene import Scene
from playground.language.family import change
from playground.runs.encoder_run import Run
from playground.views.parts import describe_lost
from playground.words import say

PEAK = 1.05
"""How many times as long as at both ends a median is that the answer names."""

PARTS = {
    "residual": ("residual stream", palette.RESIDUAL),
    "attention": ("attention", palette.ATTENTION),
    "feed-forward": ("feed-forward", palette.FEED_FORWARD),
}
"""What the parts are called on a page, and their colours."""


def show_norms(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """The page: how long the vectors get, and why, what a norm does to one of them, and what `norms_view` names."""
    case, numbers = find_growth(scene.now)
    yield Paragraph(say("norms", f"answer-{case}", **numbers), "answer")
    case, numbers = find_cause(scene.now)
    reasons = [Paragraph(say("norms", f"why-{case}", **numbers))]
    if scene.pinned is not None:
        before, after = (float(np.median(streams.lengths(run)["residual"][-1])) for run in scene.both)
        names = {"pinned": escape_markdown(scene.pinned_name), "now": escape_markdown(scene.now_name)}
        reasons.append(Paragraph(say("norms", "pinned", before=before, after=after, **names)))
    yield Group("", (lengths_by_depth(scene), *reasons), is_proof=True)
    yield from show_norm_effect(scene)
    deep = {name: describe_lost(change(n_layers=12, norm_placement=name)) for name in ("pre", "post")}
    yield Paragraph(say("norms", "trained", **deep))
    title = say("norms", "closer")
    yield fill_panel(options, "norms_closer", title, lambda: look_closer(scene, options), ":material/search:")


def norm_places(options: Options) -> tuple[str, ...]:
    """The places of the focus that the page depends on."""
    compares_tokens = options["norms_closer"] and options["norms_view"] == "cosines"
    return ("layer", "query", "key") if compares_tokens else ("layer", "query")


def look_closer(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """The view that `norms_view` names."""
    yield Control("norms_view", say("norms", "view"), say("norms", "view.help"))
    yield from VIEWS[options["norms_view"]](scene, options)


def find_growth(run: Run) -> tuple[str, dict[str, float]]:
    """How the median length of the residual stream goes through the layers: to a `peak` between, or all the `way`."""
    medians = np.median(streams.lengths(run)["residual"], axis=1)
    first, last, top = float(medians[0]), float(medians[-1]), int(medians.argmax())
    numbers = {"first": first, "last": last, "layers": run.config.n_layers, "tokens": run.n_real}
    if medians[top] > PEAK * max(first, last):
        return "peak", numbers | {"top": float(medians[top]), "layer": top - 1}
    return "way", numbers


def find_cause(run: Run) -> tuple[str, dict[str, float]]:
    """What decides the residual stream's lengths: the place of the norms, `none`, or `alone`, without residuals."""
    config, real = run.config, ~run.padding
    if config.norm != "none" and config.norm_placement == "post":
        medians = np.median(streams.lengths(run)["residual"], axis=1)[1:]
        inputs = np.stack([run.arrays[f"layers.{i}.norm2.in"][real] for i in range(config.n_layers)])
        normalised = float(np.median(streams.normalized_lengths(inputs, config)))
        return "post", {"normalised": normalised, "low": float(medians.min()), "high": float(medians.max())}
    if not config.residual:
        return "alone", {}
    return "none" if config.norm == "none" else config.norm_placement, {}


def lengths_by_depth(scene: Scene[Run]) -> Curves[Run]:
    """Median length over tokens by depth, a curve a part, with a band that holds all tokens but outliers."""

    def describe_ends(run: Run) -> str:
        last = streams.lengths(run)["residual"][-1]
        return say("norms", "lengths.reading", shortest=last.min(), longest=last.max())

    return Curves(
        key="norms_by_layer",
        height=360,  # on a phone it ends in the first window
        alt=say("norms", "lengths.alt"),
        caption=say("norms", "lengths.caption"),
        reading=describe_ends,
        curves=length_curves,
        x=Axis(
            "after layer (emb. = embeddings)",
            first=-1,
            place="layer",
            numbers=_layers_by_depth,
            options=_name_ticks(_runs(scene)),
        ),
        y=[figures.length_axis("median length")],
        table=_summarise_lengths,
        click=say("norms", "lengths.click"),
    )


def _name_ticks(runs: list[Run]) -> AxisOptions:
    """Layers along an axis of depths, as every page counts them; the embeddings stand before the first."""
    n_layers = max(run.config.n_layers for run in runs)
    layers = range(0, n_layers, figures.round_step(n_layers, 12))
    names = ["emb.", *map(str, layers)]
    return {"tickmode": "array", "tickvals": np.array([-1, *layers]), "ticktext": names, "tickangle": 0}


def _runs(scene: Scene[Run]) -> list[Run]:
    return [scene.now] if scene.pinned is None else [scene.now, scene.pinned]


def _depth_names(run: Run) -> list[str]:
    return ["embeddings", *map(str, range(run.config.n_layers))]


def _layers_by_depth(run: Run) -> list[int | None]:
    """The layer that ends at each depth; the embeddings, depth 0, are no layer's."""
    return [None, *range(run.config.n_layers)]


def length_curves(run: Run) -> list[Curve]:
    """A curve a part: its median length over tokens by depth."""
    curves = []
    for part, values in streams.lengths(run).items():
        low, high = (end.astype(np.float32) for end in streams.length_band(values))
        name, colour = PARTS[part]
        first = run.config.n_layers - len(values)  # a depth's layer; −1 for the embeddings
        curves.append(
            Curve(
                name, np.arange(first, first + len(values)), np.median(values, axis=1), colour, low, high,
                band=" (without outliers: %{customdata[0]:.4g} … %{customdata[1]:.4g})",
            )
        )  # fmt: skip
    return curves


def _summarise_lengths(run: Run) -> pd.DataFrame:
    return streams.summary(streams.lengths(run)).set_axis(_depth_names(run)).rename_axis("after layer")


def show_norm_effect(scene: Scene[Run]) -> Iterator[Item]:
    """The chosen token's vector before, within and after each of the chosen layer's norms."""
    config, layer = scene.now.config, scene.focus.layer
    if config.norm == "none":
        yield Paragraph(say("norms", "effect-none"))
        return
    token = quote_place(scene.now.tokens, scene.focus.query)
    yield Paragraph(say("norms", f"effect-{config.norm}", token=token, layer=layer))
    charts = tuple(norm_numbers(scene, number) for number in ((1, 2) if config.has_norm1(layer) else (2,)))
    yield Columns(tuple((each,) for each in charts) if scene.pinned is None else (charts,))


def norm_stages(run: Run, layer: int, number: int, token: int) -> dict[str, Array]:
    """A token's vector before a layer's first or second norm, normalised, and after gain and bias: (D,) each, by name.

    Empty if the run lacks that norm.
    """
    name = f"layers.{layer}.norm{number}"
    if run.config.norm == "none" or f"{name}.in" not in run.arrays:
        return {}
    before = run.arrays[f"{name}.in"][token]
    scaling = "× gain" if run.config.norm == "rms" else "× gain + bias"
    with np.errstate(invalid="ignore", over="ignore"):  # what has overflowed is NaN, as everywhere
        normalised = streams.normalise_by_hand(before, run.config).normalized
    return {"before": before, "normalised": normalised, scaling: run.arrays[f"{name}.out"][token]}


def norm_numbers(scene: Scene[Run], number: int) -> Vectors[Run]:
    """The first of the chosen token's numbers before the chosen layer's norm, normalised, and after gain and bias."""
    layer, token = scene.focus.layer, scene.focus.query
    place = "after" if scene.now.config.norm_placement == "post" else "before"
    title = say("norms", "norm", place=place, number=number)

    def work_out(run: Run) -> str:
        stages = norm_stages(run, layer, number, token)
        before, normalised, after = (streams.l2(stage) for stage in stages.values())
        hand = streams.normalise_by_hand(stages["before"], run.config)
        return say(
            "norms",
            "numbers.reading",
            before=before,
            normalised=normalised,
            after=after,
            x=stages["before"][0],
            mean=hand.mean,
            divisor=hand.divisor,
            result=hand.normalized[0],
        )

    return Vectors(
        key=f"norm_numbers_{number}",
        alt=say("norms", "numbers.alt", title=title),
        caption=say("norms", "numbers.caption", title=title),
        reading=work_out,
        rows=lambda run: norm_stages(run, layer, number, token),
        needs_tokens="these numbers",
        table_title="All the numbers",
    )


def show_tokens(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Lengths token by token."""
    part = options["norms_part"]
    first = 0 if part == "residual" else 1

    def values(run: Run) -> Array:
        return streams.lengths(run)[part]

    def describe_range(run: Run) -> str:
        shown = values(run)
        return say("norms", "tokens.reading", shortest=np.nanmin(shown), longest=np.nanmax(shown))

    yield Control("norms_part", say("norms", "part"), say("norms", "part.help"))
    yield Heatmap(
        key="norms_by_token",
        alt=say("norms", "tokens.alt", part=PARTS[part][0]),
        caption=say("norms", "tokens.caption"),
        reading=describe_range,
        values=values,
        rows=Axis(
            "after layer",
            names=lambda run: _depth_names(run)[first:],
            place="layer",
            numbers=lambda run: _layers_by_depth(run)[first:],
        ),
        columns=token_axis(lambda run: run.real_tokens),
        bar="length",
        hover="%{x}, after layer %{y}",
        more="a longer vector",
        colours=colour_scales.between_ends_or_powers,
        needs_tokens="these lengths",
        click=say("norms", "tokens.click"),
    )


def show_statistics(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Mean and standard deviation of a token's features before and after every norm."""

    def describe(run: Run) -> str:
        table = _statistics(run)
        before, after = table["std before"], table["std after"]
        ends = {"low": before.min(), "high": before.max(), "low_after": after.min(), "high_after": after.max()}
        return say("norms", "statistics.reading", **ends)

    yield Curves(
        key="norm_statistics",
        alt=say("norms", "statistics.alt"),
        caption=say("norms", "statistics.caption", features=scene.now.config.d_model),
        reading=describe,
        curves=_statistic_curves,
        x=Axis("norm, in the order of the computation"),
        y=[figures.length_axis("std of features"), lambda _: {"title": "mean of features"}],
        shares=(0.6, 0.4),
        order=_order_of_computation,
        height=460,
        table=_statistics,
    )


def _statistics(run: Run) -> pd.DataFrame:
    return streams.norm_statistics(streams.norm_points(run))


def _statistic_curves(run: Run) -> list[Curve]:
    table, colours = _statistics(run), {"before": palette.RESIDUAL, "after": palette.NORMS}
    return [
        Curve(
            f"{when} the norm", table.index.to_numpy(str), table[f"{statistic} {when}"].to_numpy(np.float32), colour,
            hover=f"%{{x}}<br>{statistic} {when}: %{{y:.4g}}<extra></extra>", panel=panel,
        )
        for panel, statistic in enumerate(("std", "mean"))
        for when, colour in colours.items()
    ]  # fmt: skip


def _order_of_computation(norm: str) -> tuple[bool, bool, list[int]]:
    """What norms sort by, from their names in a run: the embeddings', each layer's two, the final one."""
    return norm.startswith("final"), norm.startswith("layers"), [int(number) for number in re.findall(r"\d+", norm)]


def show_cosines(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Where the vectors point, from depth to depth and from token to token."""
    last = scene.now.config.n_layers
    depth = min(options["norms_layer"], last)
    yield Control("norms_layer", say("norms", "cosines-depth"), high=last)
    yield Paragraph(say("norms", "cosines"), "caption")
    heatmap = partial(
        Heatmap[Run], bar="cosine", more="a larger cosine", number=".3f", colours=colour_scales.within(1),
        magnitude=1.0, height=420,
    )  # fmt: skip

    def between_layers(run: Run) -> Array:
        return streams.cosine_between_layers(streams.residual_stream(run))

    def between_tokens(run: Run, at: int = depth) -> Array:
        stream = streams.residual_stream(run)
        return streams.cosine_between_tokens(stream[min(at, len(stream) - 1)])

    def describe_means(run: Run) -> str:
        mean, start, end = (streams.mean_of_pairs(between_tokens(run, at)) for at in (depth, 0, last))
        return say("norms", "between-tokens.reading", mean=mean, first=start, last=end) * (run.n_real > 1)

    layers = heatmap(
        key="cosines_between_layers",
        alt=say("norms", "between-layers.alt"),
        caption=say("norms", "between-layers.caption"),
        reading=lambda run: say("norms", "between-layers.reading", ends=between_layers(run)[0, -1]),
        values=between_layers,
        rows=Axis("after layer", names=_depth_names),
        columns=Axis("after layer", names=_depth_names),
        hover="after %{y} and %{x}",
    )
    tokens = heatmap(
        key="cosines_between_tokens",
        alt=say("norms", "between-tokens.alt", depth=depth),
        caption=say("norms", "between-tokens.caption", depth=depth),
        reading=describe_means,
        values=between_tokens,
        rows=token_axis(lambda run: run.real_tokens),
        columns=token_axis(lambda run: run.real_tokens, "key"),
        hover="%{y} and %{x}",
        needs_tokens="cosines between tokens",
        click=CLICK_CELL,
    )
    yield Columns(((layers,), (tokens,)))


def show_norm_by_hand(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """One norm of one token, as its formula says."""
    run, token = scene.now, scene.focus.query
    if run.config.norm == "none":
        yield Paragraph(say("norms", "effect-none"))
        return
    points = streams.norm_points(run)
    name, ends = list(points.items())[min(options["norms_norm"], len(points) - 1)]
    x, out = (vectors[token] for vectors in ends)
    hand = streams.normalise_by_hand(x, run.config)
    numbers = pd.DataFrame({"x": x, "normalised": hand.normalized, "out": out}).rename_axis("feature")
    items: tuple[Item, ...] = (
        Control("norms_norm", say("norms", "by-hand.norm"), high=len(points) - 1),
        Paragraph(say("norms", "by-hand", name=name, token=quote_place(run.tokens, token))),
        Formula(streams.formula(run.config)),
        Formula(streams.formula_with_numbers(x, hand, run.config)),
        Paragraph(say("norms", "by-hand.checked", off=hand.off, features=x.size, out=out[0]), "caption"),
        Table(key="norm_by_hand", frame=lambda _: numbers, is_folded=True, compares=False),
    )
    yield Group("norm_by_hand", items)


VIEWS: Mapping[str, Callable[[Scene[Run], Options], Iterator[Item]]] = {
    "tokens": show_tokens,
    "statistics": show_statistics,
    "cosines": show_cosines,
    "by hand": show_norm_by_hand,
}
"""By the value of `norms_view`."""
