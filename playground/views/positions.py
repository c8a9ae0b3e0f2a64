"""How words are told apart by their place: the table that is added, and what is lost without it.

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
    Formula,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Widget,
    fill_panel,
)
from playground.charts.figure import Array, Curve
from playground.charts.names import quote_place, token_names
from playground.charts.scene import Scene
from playground.config import Positions
from playground.language.family import change
from playground.limits import MAX_TOKENS
from playground.link.lab import Lab, once
from playground.link.opening import LinkedView
from playground.model.positions import wavelengths
from playground.views.parts import describe_lost
from playground.views.scenes import scene_of, without_changes
from playground.words import say

MAX_POSITIONS = 128
"""Rows of the table that are drawn."""

MAX_DIMENSIONS = 256
"""Columns of the table that are drawn."""

MAX_DISTANCE = 33
"""Tokens to either side that the curves of distances are drawn for."""

DISTANCES = np.arange(1 - MAX_DISTANCE, MAX_DISTANCE)

ROWS_HEATMAP = partial(Heatmap[Lab], flat_bar=True, height=420)


def positions_scene(view: LinkedView) -> Scene[Lab]:
    """The view's lab without its changes, and the pinned one's; raises as the run."""
    return scene_of(lambda lab, _: lab, without_changes(view))


@once
def table_rows(lab: Lab) -> Array:
    """The first rows of the position table, (N, D); the standard table's if the model adds none."""
    return positions.first_rows(lab.encoder, MAX_TOKENS)


@once
def distance_rows(lab: Lab) -> Array:
    """What the model makes of distances, as `positions.by_distance` gives it."""
    return positions.by_distance(lab.encoder, MAX_DISTANCE)


@once
def swap_words(lab: Lab, first: int, second: int) -> Swap:
    """Swap the tokens at two positions."""
    options = {"seed": lab["seed"], "causal": lab["causal"]}
    return positions.swap_words(lab.encoder, lab.batch, lab.sentence, first, second, **options)


def show_positions(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """The page: two words change places, then the table that tells places apart, and the closer view."""
    config = scene.now.config
    yield from show_swap(scene, options)
    yield Paragraph(say("positions", "trained", lost=describe_lost(change(positions="none"))))
    has_curves = not config.has_position_table and config.positions != "none"
    show, title = (show_distances, "distances") if has_curves else (show_table, "table")
    title = say("positions", f"panel-{title}")
    yield fill_panel(options, "positions_table", title, lambda: show(scene), ":material/table_rows:")
    title = say("positions", "closer")
    yield fill_panel(options, "positions_closer", title, lambda: show_closer(scene, options), ":material/search:")


def position_places(options: Options) -> tuple[str, ...]:
    """The places of the focus that the page depends on."""
    has_focus = options["positions_closer"] and options["positions_view"] in ("this sentence", "similarity")
    return ("layer", "head", "query", "key") if has_focus else ()


def moved(lab: Lab, first: int, second: int) -> dict[str, Array]:
    """How far each word's output moves in a swap, (T,) each: with positions, if the model has any, and without.

    Rounding counts as 0.
    """
    swap = swap_words(lab, first, second)
    changes = {"with positions": swap.placed, "without positions": swap.bare}
    if lab.config.positions == "none":
        del changes["with positions"]
    return {name: np.where(each <= swap.rounding, 0, each) for name, each in changes.items()}


def find_order(lab: Lab, first: int, second: int) -> tuple[str, dict[str, Any]]:
    """What tells the encoder the order of two words: nothing, `positions`, another part, or both."""
    if first == second:
        return "same", {}
    if swap_words(lab, first, second).unchanged:
        return "equal", {}
    changes = {name: each.max() for name, each in moved(lab, first, second).items()}
    bare, placed = changes["without positions"], changes.get("with positions")
    part = {"part": "mask" if lab["causal"] else "window" if lab.config.window else "reshape"}
    if placed is None:
        return ("part", {"bare": bare, **part}) if bare else ("none", {})
    if not placed:
        return "unseen", {}
    numbers = {"placed": placed, "size": swap_words(lab, first, second).placed_size}
    return ("both", numbers | part | {"bare": bare}) if bare else ("positions", numbers)


def show_swap(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """How far each word's output moves when two words change places, with positions and without."""
    now, tokens = scene.now, scene.now.run.real_tokens
    last = len(tokens) - 1
    if last < 1:
        yield Paragraph(say("positions", "one-token"), "info")
        return
    first, second = min(options["positions_first"], last - 1), min(options["positions_second"], last)
    names = {"first": quote_place(tokens, first), "second": quote_place(tokens, second)}
    case, numbers = find_order(now, first, second)
    how = "table" if has_table(now) else now.config.positions
    answer = say("positions", f"answer-{case}", **({} if case == "same" else names), **numbers)
    yield Paragraph(answer if how == "none" else f"{say('positions', f'how-{how}')} {answer}", "answer")
    controls = (
        (Control("positions_first", say("positions", "swap-first", token=names["first"]), high=last - 1),),
        (Control("positions_second", say("positions", "swap-second", token=names["second"]), high=last),),
    )
    choices = Group("positions_choices", (Columns(controls),))
    yield Group(
        "", (choices, _swapped_sentence(tokens, first, second), _swap_bars(scene, first, second)), is_proof=True
    )


def _swapped_sentence(tokens: list[str], first: int, second: int) -> Widget:
    order = list(range(len(tokens)))
    order[first], order[second] = second, first
    chips = [
        (tokens[old], str(old), "padding" if old == new else "plain", say("positions", "chip", now=new, before=old))
        for new, old in enumerate(order)
    ]
    return Widget("token_chips", {"chips": chips}, say("positions", "swapped"))


def _swap_bars(scene: Scene[Lab], first: int, second: int) -> Bars[Lab]:
    def bars(lab: Lab) -> Mapping[str, Mapping[str, float]]:
        names = token_names(lab.run.real_tokens)
        changes = moved(lab, first, second)
        bare = changes.pop("without positions")
        if bare.any() or not changes:
            changes["without positions"] = bare
        return {name: dict(zip(names, each.tolist(), strict=True)) for name, each in changes.items()}

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


def show_table(scene: Scene[Lab]) -> Iterator[Item]:
    """The table that the model adds, or the standard one, and what kind of table it is."""
    now = scene.now
    yield Paragraph(f"{say('positions', 'order-table')} {say('positions', f'kind-{now.config.positions}')}")

    def describe(lab: Lab) -> str:
        lengths = np.linalg.norm(_drawn_rows(lab), axis=1)
        return say("positions", "table.reading", shortest=lengths.min(), longest=lengths.max())

    def cells(lab: Lab) -> Array:
        return _drawn_rows(lab)[:, :MAX_DIMENSIONS]

    width = now.config.embedding_width
    rows, columns = cells(now).shape
    yield ROWS_HEATMAP(
        key="position_table",
        alt=say("positions", "table.alt"),
        caption=say("positions", "table.caption", rows=rows, all=now.config.max_len, columns=columns, width=width),
        reading=describe,
        values=cells,
        rows=Axis("position"),
        columns=Axis("dimension"),
        bar="value",
        hover="position %{y}, dimension %{x}",
        more="a larger number",
        colours=colour_scales.most_around_zero,
        compares=has_other_table(now, scene.pinned),
    )


def has_table(lab: Lab) -> bool:
    """Whether the model adds a table to the embeddings."""
    return lab.config.has_position_table


def has_other_table(lab: Lab, pinned: Lab | None) -> bool:
    """Whether both models add a table of the same width, and not the same one."""
    if pinned is None or not (has_table(lab) and has_table(pinned)):
        return False
    one, other = _drawn_rows(lab), _drawn_rows(pinned)
    n = min(len(one), len(other))
    return one.shape[1] == other.shape[1] and not np.array_equal(one[:n], other[:n])


def _drawn_rows(lab: Lab) -> Array:
    return table_rows(lab)[:MAX_POSITIONS]


def show_distances(scene: Scene[Lab]) -> Iterator[Item]:
    """What the encoder makes of distances if it adds no table."""
    kind = scene.now.config.positions
    yield Paragraph(f"{say('positions', 'order')} {say('positions', f'kind-{kind}')}")
    curve, height = ("pair", "share of the product") if kind == "rotary" else ("head", "added to the score")

    def curves(lab: Lab) -> list[Curve]:
        rows = distance_rows(lab)
        shown = np.linspace(0, len(rows) - 1, min(len(rows), len(palette.CURVES))).round().astype(int)
        drawn = zip(shown, palette.CURVES, strict=False)
        return [Curve(f"{curve} {i}", DISTANCES, rows[i], colour, marker=0) for i, colour in drawn]

    yield Curves(
        key="distance_curves",
        alt=say("positions", "distances.alt"),
        caption=say("positions", f"curves-{kind}"),
        curves=curves,
        x=Axis("key − query, in tokens"),
        y=[lambda _: {"title": height}],
        height=420,
        table=lambda lab: pd.DataFrame(distance_rows(lab).T, pd.Index(DISTANCES, name="key − query")),
        compares=scene.pinned is not None and scene.pinned.config.positions == kind,
    )


def show_closer(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """The closer view that `positions_view` names."""
    yield Control("positions_view", say("positions", "view"))
    if not has_table(scene.now) and options["positions_view"] != "swap two words":
        yield Paragraph(say("positions", "no-table"), "caption")
    yield from VIEWS[options["positions_view"]](scene, options)


def explain_swap(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Why outputs change with positions, and without."""
    yield Paragraph(say("positions", "equivariance"))


def show_addition(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """How a position's row is added to a token's embedding, and how long the two are."""
    run, rows = scene.now.run, table_rows(scene.now)
    vectors = run.arrays["embed.tokens"][~run.padding]
    yield Formula(positions.sum_formula(run.config))
    yield Formula(positions.sum_with_numbers(vectors, rows, scene.focus.query))
    shares, cosines = positions.addition(vectors, rows[: len(vectors)])
    yield Paragraph(say("positions", "addition", low=shares.min(), high=shares.max(), cosine=cosines.mean()))


def show_curves(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Three dimensions of the table as curves over the positions."""
    now, last = scene.now, scene.now.config.embedding_width - 1
    keys = [f"positions_curve_{i}" for i in (1, 2, 3)]
    controls = [Control(key, say("positions", "dimension", number=i), high=last) for i, key in enumerate(keys, 1)]
    yield Columns(tuple((each,) for each in controls))
    chosen = [min(options[key], last) for key in keys]
    colours = dict(zip(dict.fromkeys(chosen), (palette.EMBEDDINGS, palette.Q, palette.V), strict=False))
    kind: Positions = now.config.positions if has_table(now) else "sinusoidal"
    yield Formula(positions.formula(kind))
    yield Formula(positions.formula_with_numbers(kind, table_rows(now), now.run.n_real - 1, chosen[1]))
    period = ""
    if kind != "learned":
        lengths = wavelengths(last + 1, doubled=kind == "sinusoidal-doubled")
        period = say("positions", "curves.reading", dimension=chosen[1], length=float(lengths[chosen[1] // 2]))

    def shown(lab: Lab) -> dict[int, Array]:
        """The chosen dimensions that a table has."""
        return {i: _drawn_rows(lab)[:, i] for i in colours if i < lab.config.embedding_width}

    yield Curves(
        key="position_curves",
        alt=say("positions", "curves.alt"),
        caption=f"{say('positions', 'curves.caption')} {period}",
        curves=lambda lab: [
            Curve(f"dimension {i}", np.arange(len(values)), values, colours[i], marker=4)
            for i, values in shown(lab).items()
        ],
        x=Axis("position"),
        y=[lambda _: {"title": "value"}],
        height=360,
        table=lambda lab: pd.DataFrame(shown(lab)).rename_axis("position"),
    )


def show_similarity(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Dot products or distances between positions."""
    measure = options["positions_measure"]
    is_product = measure == "dot product"
    yield Control("positions_measure", say("positions", "measure"))

    def place_of(place: str) -> Axis[Lab]:
        return Axis("position", place=place, numbers=lambda lab: range(min(lab.run.n_real, MAX_POSITIONS)))

    def values(lab: Lab) -> Array:
        rows = _drawn_rows(lab)
        return rows @ rows.T if is_product else positions.distances(rows)

    yield ROWS_HEATMAP(
        key="between_positions",
        alt=say("positions", "similarity.alt", measure=measure),
        caption=say("positions", "similarity.caption", measure=measure),
        values=values,
        rows=place_of("query"),
        columns=place_of("key"),
        bar=measure,
        hover=f"positions %{{y}} and %{{x}}, {measure}",
        more=f"a larger {measure}",
        colours=colour_scales.most_around_zero if is_product else colour_scales.most_from_zero,
        click=say("positions", "similarity.click"),
    )


def show_exponents(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """The wavelengths of the paper's table and of tutorial B's, whose exponent is doubled."""
    d_model, longest = scene.now.config.d_model, scene.now.config.max_len
    yield Columns(tuple((Formula(positions.formula(kind)),) for kind in ("sinusoidal", "sinusoidal-doubled")))
    waves = {twice: wavelengths(d_model, doubled=twice).numpy() for twice in (False, True)}
    dimensions = np.arange(0, d_model, 2)
    names = {False: ("standard", palette.EMBEDDINGS), True: ("doubled exponent", palette.Q)}
    curves = [Curve(name, dimensions, waves[twice], colour, marker=4) for twice, (name, colour) in names.items()]
    ends, level = dimensions[[0, -1]], np.full(2, float(longest))
    limit = Curve(f"max_len = {longest}", ends, level, palette.RESIDUAL, marker=0, dash="dot")
    turning, doubled = (int((each <= longest).sum()) for each in waves.values())
    turns = {"pairs": len(dimensions), "longest": longest, "standard": turning, "doubled": doubled}
    axis = {"title": "wavelength, in positions (log scale)", "type": "log", "exponentformat": "power", "dtick": 1}
    yield Curves[Lab](
        key="wavelengths",
        alt=say("positions", "wavelengths.alt"),
        caption=say("positions", "wavelengths.caption", **turns),
        curves=lambda _: [*curves, limit],
        x=Axis("dimension, the sine of each pair"),
        y=[lambda _: axis],
        height=360,
        table=lambda _: pd.DataFrame({each.name: each.y for each in curves}, pd.Index(dimensions, name="dimension")),
        compares=False,
    )


VIEWS: Mapping[str, Callable[[Scene[Lab], Options], Iterator[Item]]] = {
    "swap two words": explain_swap,
    "this sentence": show_addition,
    "curves": show_curves,
    "similarity": show_similarity,
    "doubled exponent": show_exponents,
}
"""By the value of `positions_view`."""
