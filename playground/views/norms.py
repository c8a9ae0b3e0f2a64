"""The page Norms: how long vectors get, and what norms do to them."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from playground.analysis import streams
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Curves,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Vectors,
    fill_panel,
    token_axis,
)
from playground.charts.figure import Array, Curve
from playground.charts.names import quote_place
from playground.charts.scene import Scene
from playground.language.family import change
from playground.runs.encoder_run import Run
from playground.views.parts import describe_lost
from playground.words import say

PARTS = {
    "residual": ("residual stream", palette.RESIDUAL),
    "attention": ("attention", palette.ATTENTION),
    "feed-forward": ("feed-forward", palette.FEED_FORWARD),
}
"""Names and colours."""


def show_norms(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Yield lengths by depth, why, what training makes of depth, and a closer view."""
    first, last = median_lengths(scene.now)[[0, -1]]
    sizes = {"layers": scene.now.config.n_layers, "tokens": scene.now.n_real}
    yield Paragraph(say("norms", "answer", first=first, last=last, **sizes), "answer")
    case, numbers = find_cause(scene.now)
    why = Paragraph(say("norms", f"why-{case}", **numbers))
    yield Group("", (lengths_by_depth(scene), why), is_proof=True)
    deep = {name: describe_lost(change(n_layers=12, norm_placement=name)) for name in ("pre", "post")}
    yield Paragraph(say("norms", "trained", **deep))
    title = say("norms", "closer")
    yield fill_panel(options, "norms_closer", title, lambda: _look_closer(scene, options), ":material/search:")


def _look_closer(scene: Scene[Run], options: Options) -> Iterator[Item]:
    yield from _show_norm_effect(scene)
    yield Control("norms_view", say("norms", "view"), say("norms", "view.help"))
    yield from VIEWS[options["norms_view"]](scene, options)


def median_lengths(run: Run) -> Array:
    """Return median lengths by depth, (L + 1,)."""
    medians: Array = np.median(streams.lengths(run)["residual"], axis=1)
    return medians


def find_cause(run: Run) -> tuple[str, dict[str, float]]:
    """Return what decides lengths: the norms' place, `none`, or `alone`."""
    config, real = run.config, ~run.padding
    if config.norm != "none" and config.norm_placement == "post":
        medians = median_lengths(run)[1:]
        inputs = np.stack([run.arrays[f"layers.{i}.norm2.in"][real] for i in range(config.n_layers)])
        normalised = float(np.median(streams.normalized_lengths(inputs, config)))
        return "post", {"normalised": normalised, "low": float(medians.min()), "high": float(medians.max())}
    if not config.residual:
        return "alone", {}
    return "none" if config.norm == "none" else config.norm_placement, {}


def lengths_by_depth(scene: Scene[Run]) -> Curves[Run]:
    """Return median lengths by depth, with a band without outliers."""
    n_layers = max(run.config.n_layers for run in (scene.now, scene.pinned) if run is not None)
    layers = range(0, n_layers, figures.round_step(n_layers, 12))
    names = ["emb.", *map(str, layers)]
    ticks = {"tickmode": "array", "tickvals": np.array([-1, *layers]), "ticktext": names, "tickangle": 0}

    return Curves(
        key="norms_by_layer",
        height=360,  # on a phone it ends in the first window
        alt=say("norms", "lengths.alt"),
        caption=say("norms", "lengths.caption"),
        reading=lambda run: say("norms", "lengths.reading", **_ends(streams.lengths(run)["residual"][-1])),
        curves=_length_curves,
        x=Axis("after layer (emb. = embeddings)", first=-1, place="layer", numbers=_layers_by_depth, options=ticks),
        y=figures.length_axis("median length"),
        table=_tabulate_lengths,
        click=say("norms", "lengths.click"),
    )


def _tabulate_lengths(run: Run) -> pd.DataFrame:
    lengths = streams.lengths(run)
    columns = {}
    for part, values in lengths.items():
        depths = range(len(lengths["residual"]) - len(values), len(lengths["residual"]))
        low, high = streams.length_band(values)
        for title, numbers in {"median": np.median(values, axis=1), "band from": low, "band to": high}.items():
            columns[f"{part}, {title}"] = pd.Series(numbers, index=depths)
    return pd.DataFrame(columns).set_axis(_depth_names(run)).rename_axis("after layer")


def _ends(lengths: Array) -> dict[str, float]:
    finite = np.append(lengths[np.isfinite(lengths)], np.inf if not np.isfinite(lengths).any() else [])
    return {"shortest": float(finite.min()), "longest": float(finite.max())}


def _depth_names(run: Run) -> list[str]:
    return ["embeddings", *map(str, range(run.config.n_layers))]


def _layers_by_depth(run: Run) -> list[int | None]:
    return [None, *range(run.config.n_layers)]


def _length_curves(run: Run) -> list[Curve]:
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


def _show_norm_effect(scene: Scene[Run]) -> Iterator[Item]:
    config, layer = scene.now.config, scene.focus.layer
    token = quote_place(scene.now.tokens, scene.focus.query)
    yield Paragraph(say("norms", f"effect-{config.norm}", token=token, layer=layer))
    if config.norm != "none":
        charts = tuple(norm_numbers(scene, number) for number in ((1, 2) if config.has_norm1(layer) else (2,)))
        yield Columns(tuple((each,) for each in charts) if scene.pinned is None else (charts,))


def norm_stages(run: Run, layer: int, number: int, token: int) -> dict[str, Array]:
    """Return a vector before a norm, normalised, and after gain and bias, (D,), if there is that norm."""
    name = f"layers.{layer}.norm{number}"
    if run.config.norm == "none" or f"{name}.in" not in run.arrays:
        return {}
    before = run.arrays[f"{name}.in"][token]
    scaling = "× gain" if run.config.norm == "rms" else "× gain + bias"
    with np.errstate(invalid="ignore", over="ignore"):  # what has overflowed is NaN, as everywhere
        normalised, _ = streams.normalise_by_hand(before, run.config)
    return {"before": before, "normalised": normalised, scaling: run.arrays[f"{name}.out"][token]}


def norm_numbers(scene: Scene[Run], number: int) -> Vectors[Run]:
    """Return the chart of `norm_stages`."""
    layer, token = scene.focus.layer, scene.focus.query
    place = "after" if scene.now.config.norm_placement == "post" else "before"
    title = say("norms", "norm", place=place, number=number)

    def describe_lengths(run: Run) -> str:
        before, normalised, after = (streams.l2(stage) for stage in norm_stages(run, layer, number, token).values())
        return say("norms", "numbers.reading", before=before, normalised=normalised, after=after)

    return Vectors(
        key=f"norm_numbers_{number}",
        alt=say("norms", "numbers.alt", title=title),
        caption=say("norms", "numbers.caption", title=title),
        reading=describe_lengths,
        rows=lambda run: norm_stages(run, layer, number, token),
        needs_tokens="these numbers",
    )


def _show_tokens(scene: Scene[Run], options: Options) -> Iterator[Item]:

    def lengths(run: Run) -> Array:
        return streams.lengths(run)["residual"]

    yield Heatmap(
        key="norms_by_token",
        alt=say("norms", "tokens.alt"),
        caption=say("norms", "tokens.caption"),
        reading=lambda run: say("norms", "tokens.reading", **_ends(lengths(run))),
        values=lengths,
        rows=Axis("after layer", names=_depth_names, place="layer", numbers=_layers_by_depth),
        columns=token_axis(lambda run: run.real_tokens),
        bar="length",
        hover="%{x}, after layer %{y}",
        more="a longer vector",
        needs_tokens="these lengths",
        click=say("norms", "tokens.click"),
    )


def _show_statistics(scene: Scene[Run], options: Options) -> Iterator[Item]:
    axes = {"std": figures.length_axis("std of features"), "mean": lambda _: {"title": "mean of features"}}
    for statistic, axis in axes.items():
        yield Curves(
            key="norm_statistics" if statistic == "std" else "norm_means",
            alt=say("norms", f"statistics-{statistic}.alt"),
            caption=say("norms", f"statistics-{statistic}", features=scene.now.config.d_model),
            curves=partial(_statistic_curves, statistic=statistic),
            x=Axis("norm, in the order of the computation"),
            y=axis,
            height=300,
            table=_tabulate_statistics if statistic == "std" else None,
        )


def _tabulate_statistics(run: Run) -> pd.DataFrame:
    rows = streams.norm_statistics(streams.norm_points(run))
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("norm")


def _statistic_curves(run: Run, statistic: str) -> list[Curve]:
    table = _tabulate_statistics(run)
    colours = {"before": palette.RESIDUAL, "after": palette.NORMS}
    names, columns = table.index.to_numpy(str), table.astype(np.float32)
    return [
        Curve(f"{when} the norm", names, columns[f"{statistic} {when}"].to_numpy(), colour)
        for when, colour in colours.items()
    ]


def _show_norm_by_hand(scene: Scene[Run], options: Options) -> Iterator[Item]:
    run, token = scene.now, scene.focus.query
    if run.config.norm == "none":
        return
    points = streams.norm_points(run)
    name, ends = list(points.items())[min(options["norms_norm"], len(points) - 1)]
    x, out = (vectors[token] for vectors in ends)
    _, off = streams.normalise_by_hand(x, run.config)
    items: tuple[Item, ...] = (
        Control("norms_norm", say("norms", "by-hand.norm"), high=len(points) - 1),
        Paragraph(say("norms", "by-hand", name=name, token=quote_place(run.tokens, token))),
        Paragraph(streams.formula(run.config), "formula"),
        Paragraph(streams.formula_with_numbers(x, run.config), "formula"),
        Paragraph(say("norms", "by-hand.checked", off=off, features=x.size, out=out[0]), "caption"),
    )
    yield Group("norm_by_hand", items)


VIEWS: Mapping[str, Callable[[Scene[Run], Options], Iterator[Item]]] = {
    "tokens": _show_tokens,
    "statistics": _show_statistics,
    "by hand": _show_norm_by_hand,
}
"""By the value of `norms_view`."""
