"""The page Positions: how words are told apart by their place.

Legend: N positions, T real tokens, D = d_model.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis import positions
from playground.analysis.positions import Swap
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Bars,
    Columns,
    Control,
    Curves,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    fill_panel,
)
from playground.charts.figure import Array, Curve
from playground.charts.names import escape_markdown, quote_place, token_names
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.language.family import change
from playground.limits import MAX_TOKENS
from playground.link.lab import Lab, once
from playground.link.opening import LinkedView
from playground.model.positions import wavelengths
from playground.views.parts import describe_lost
from playground.views.scenes import scene_of, without_changes
from playground.words import say

MAX_POSITIONS, MAX_DIMENSIONS = 128, 256
"""Of the table, what is drawn."""

MAX_DISTANCE = 33
"""Tokens to either side."""

ROWS_HEATMAP = partial(Heatmap[Lab], flat_bar=True, height=420)


def positions_scene(view: LinkedView) -> Scene[Lab]:
    """Return the labs without changes; raises as the run."""
    return scene_of(lambda lab, _: lab, without_changes(view))


@once
def table_rows(lab: Lab) -> Array:
    """Return the position table, or the standard one, (N, D)."""
    return positions.first_rows(lab.encoder, MAX_TOKENS)


@once
def distance_rows(lab: Lab) -> Array:
    """Return `positions.by_distance`."""
    return positions.by_distance(lab.encoder, MAX_DISTANCE)


@once
def swap_words(lab: Lab, first: int, second: int) -> Swap:
    """Swap the tokens at two positions."""
    options = {"seed": lab["seed"], "causal": lab["causal"]}
    return positions.swap_words(lab.encoder, lab.batch, lab.sentence, first, second, **options)


def show_positions(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Yield a swap of two words, the table, and a closer view."""
    config = scene.now.config
    yield from _show_swap(scene, options)
    yield Paragraph(say("positions", "trained", lost=describe_lost(change(positions="none"))))
    by_distance = config.positions in ("rotary", "alibi", "relative")
    shown, chart = ("distances", _show_distances) if by_distance else ("table", show_table)
    kind, title = Paragraph(say("positions", f"kind-{_name_kind(config)}")), say("positions", f"panel-{shown}")
    yield fill_panel(options, "positions_table", title, lambda: (kind, chart(scene)), ":material/table_rows:")
    title = say("positions", "closer")
    yield fill_panel(options, "positions_closer", title, lambda: _show_closer(scene, options), ":material/search:")


def _name_kind(config: ModelConfig) -> str:
    is_joined = config.position_join == "concatenate" and config.has_position_table
    return "concatenated" if is_joined else config.positions


def moved(lab: Lab, first: int, second: int) -> dict[str, Array]:
    """Return how far each output moves in a swap, (T,), with and without positions; rounding is 0."""
    swap = swap_words(lab, first, second)
    changes = {"with positions": swap.placed, "without positions": swap.bare}
    if lab.config.positions == "none":
        del changes["with positions"]
    return {name: np.where(each <= swap.rounding, 0, each) for name, each in changes.items()}


def find_order(lab: Lab, first: int, second: int) -> tuple[str, dict[str, Any]]:
    """Return how far a swap moves outputs, `placed` or `bare`, and what else tells order; or `same`."""
    swap = swap_words(lab, first, second)
    if swap.unchanged:
        return "same", {}
    changes = {name: each.max() for name, each in moved(lab, first, second).items()}
    bare, part = changes["without positions"], "none"
    if bare:
        part = "mask" if lab["causal"] else "window" if lab.config.window else "reshape"
    if (placed := changes.get("with positions")) is None:
        return "bare", {"bare": bare, "part": part}
    return "placed", {"placed": placed, "bare": bare, "part": part, "size": swap.placed_size}


def _show_swap(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    now, tokens = scene.now, scene.now.run.real_tokens
    last = len(tokens) - 1
    if last < 1:
        yield Paragraph(say("positions", "one-token"), "info")
        return
    first, second = min(options["positions_first"], last - 1), min(options["positions_second"], last)
    names = {"first": quote_place(tokens, first), "second": quote_place(tokens, second)}
    case, numbers = find_order(now, first, second)
    answer = say("positions", f"answer-{case}", **names, **numbers)
    yield Paragraph(f"{say('positions', f'how-{_name_kind(now.config)}')} {answer}", "answer")
    controls = (
        (Control("positions_first", say("positions", "swap-first", token=names["first"]), high=last - 1),),
        (Control("positions_second", say("positions", "swap-second", token=names["second"]), high=last),),
    )
    swapped = tokens.copy()
    swapped[first], swapped[second] = tokens[second], tokens[first]
    sentence = Paragraph(say("positions", "swapped", sentence=escape_markdown(" ".join(swapped))))
    choices = Group("positions_choices", (Columns(controls),))
    yield Group("", (choices, sentence, _swap_bars(first, second)), is_proof=True)


def _swap_bars(first: int, second: int) -> Bars[Lab]:
    def bars(lab: Lab) -> Mapping[str, Mapping[str, float]]:
        names, changes = token_names(lab.run.real_tokens), moved(lab, first, second)
        shown = {name: each for name, each in changes.items() if each.any()} or changes
        return {name: dict(zip(names, each.tolist(), strict=True)) for name, each in shown.items()}

    return Bars(
        key="swap_differences",
        height=360,
        alt=say("positions", "bars.alt"),
        caption=say("positions", "bars.caption"),
        bars=bars,
        labels=Axis("token", of_tokens=True),
        value={"title": "largest change", "rangemode": "tozero", "exponentformat": "power"},
        colours={"with positions": palette.EMBEDDINGS, "without positions": palette.RESIDUAL},
        number=".2g",
        horizontal=False,
        needs_tokens="these changes",
    )


def _drawn_rows(lab: Lab) -> Array:
    return table_rows(lab)[:MAX_POSITIONS, :MAX_DIMENSIONS]


def show_table(scene: Scene[Lab]) -> Heatmap[Lab]:
    """Return the added table, or the standard one."""
    now = scene.now
    pinned, config, (rows, columns) = scene.pinned, now.config, _drawn_rows(now).shape
    drawn = {"rows": rows, "all": config.max_len, "columns": columns, "width": config.table_width}
    return ROWS_HEATMAP(
        key="position_table",
        alt=say("positions", "table.alt"),
        caption=say("positions", "table.caption", **drawn),
        values=_drawn_rows,
        rows=Axis("position"),
        columns=Axis("dimension"),
        bar="value",
        hover="position %{y}, dimension %{x}",
        more="a larger number",
        colours=colour_scales.most_around_zero,
        compares=pinned is not None
        and pinned.config.has_position_table
        and not np.array_equal(_drawn_rows(now), _drawn_rows(pinned)),
    )


def _show_distances(scene: Scene[Lab]) -> Curves[Lab]:
    kind, distances = scene.now.config.positions, np.arange(1 - MAX_DISTANCE, MAX_DISTANCE)
    curve, height = ("pair", "share of the product") if kind == "rotary" else ("head", "added to the score")

    def curves(lab: Lab) -> list[Curve]:
        rows = distance_rows(lab)
        shown = np.linspace(0, len(rows) - 1, min(len(rows), len(palette.CURVES))).round().astype(int)
        drawn = zip(shown, palette.CURVES, strict=False)
        return [Curve(f"{curve} {i}", distances, rows[i], colour, marker=0) for i, colour in drawn]

    return Curves(
        key="distance_curves",
        alt=say("positions", "distances.alt"),
        caption=say("positions", f"curves-{kind}"),
        curves=curves,
        x=Axis("key − query, in tokens"),
        y=lambda _: {"title": height},
        height=420,
        table=lambda lab: pd.DataFrame(distance_rows(lab).T, pd.Index(distances, name="key − query")),
        compares=scene.pinned is not None and scene.pinned.config.positions == kind,
    )


def _show_closer(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    yield Paragraph(say("positions", "equivariance"))
    yield Control("positions_view", say("positions", "view"))
    if not scene.now.config.has_position_table:
        yield Paragraph(say("positions", "no-table"), "caption")
    yield from VIEWS[options["positions_view"]](scene)


def _show_addition(scene: Scene[Lab]) -> Iterator[Item]:
    run, rows = scene.now.run, table_rows(scene.now)
    vectors = run.arrays["embed.tokens"][~run.padding]
    shares, cosines = positions.addition(vectors, rows[: len(vectors)])
    yield Paragraph(say("positions", "addition", low=shares.min(), high=shares.max(), cosine=cosines.mean()))


def show_similarity(scene: Scene[Lab]) -> Iterator[Item]:
    """Yield dot products between positions."""

    def products(lab: Lab) -> Array:
        rows = table_rows(lab)[:MAX_POSITIONS]
        return rows @ rows.T

    yield ROWS_HEATMAP(
        key="between_positions",
        alt=say("positions", "similarity.alt"),
        caption=say("positions", "similarity.caption"),
        values=products,
        rows=Axis("position"),
        columns=Axis("position"),
        bar="dot product",
        hover="positions %{y} and %{x}, dot product",
        more="a larger dot product",
        colours=colour_scales.most_around_zero,
    )


def _show_exponents(scene: Scene[Lab]) -> Iterator[Item]:
    d_model, longest = scene.now.config.d_model, scene.now.config.max_len
    yield Columns(
        tuple((Paragraph(positions.formula(kind), "formula"),) for kind in ("sinusoidal", "sinusoidal-doubled"))
    )
    waves = [wavelengths(d_model, doubled=doubled).numpy() for doubled in (False, True)]
    dimensions = np.arange(0, d_model, 2)
    names = (("standard", palette.EMBEDDINGS), ("doubled exponent", palette.Q))
    curves = [
        Curve(name, dimensions, each, colour, marker=4) for (name, colour), each in zip(names, waves, strict=True)
    ]
    turning, doubled = (int((each <= longest).sum()) for each in waves)
    turns = {"pairs": len(dimensions), "longest": longest, "standard": turning, "doubled": doubled}
    axis = {"title": "wavelength, in positions (log scale)", "type": "log", "exponentformat": "power", "dtick": 1}
    yield Curves[Lab](
        key="wavelengths",
        alt=say("positions", "wavelengths.alt"),
        caption=say("positions", "wavelengths.caption", **turns),
        curves=lambda _: curves,
        x=Axis("dimension, the sine of each pair"),
        y=lambda _: axis,
        height=360,
        table=lambda _: pd.DataFrame({each.name: each.y for each in curves}, pd.Index(dimensions, name="dimension")),
        compares=False,
    )


VIEWS: Mapping[str, Callable[[Scene[Lab]], Iterator[Item]]] = {
    "this sentence": _show_addition,
    "similarity": show_similarity,
    "doubled exponent": _show_exponents,
}
"""By the value of `positions_view`."""
