"""How words are told apart by their place: the table that is added, and what is lost without it.

Legend: N positions, T real tokens, D = d_model.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsFloat

import numpy as np
import pandas as pd

from playground.analysis import positions
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    AxisOptions,
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
from playground.charts.markdown import escape_markdown, quote_place
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.config import ModelConfig, Positions
from playground.language.family import change
from playground.limits import MAX_TOKENS
from playground.link.lab import Lab, once
from playground.link.opening import LinkedView
from playground.model.positions import sinusoids, wavelengths
from playground.runs.encoder_run import Run
from playground.text.wording import write_number
from playground.views.parts import describe_lost
from playground.views.scenes import scene_of, without_changes

MAX_POSITIONS = 128
"""Rows of the table that are drawn."""

MAX_DIMENSIONS = 256
"""Columns of the table that are drawn."""


@dataclass(frozen=True)
class PositionKind:
    """What is told of a value of `ModelConfig.positions`."""

    description: str
    how: str = ""
    """How an encoder knows the order, in a sentence with a space behind it."""
    beyond: str = ""
    """What becomes of sentences longer than any that a model has learned from."""
    by_distance: str = ""
    """What its curves of distances show; this and the next two are empty where a table is added."""
    axis: str = ""
    """What the curves' heights are."""
    one_curve: str = ""
    """What each of the curves belongs to."""


_ROW = "To each token's vector it adds one that belongs to its position. "

_SINES = "Sines go on for ever, but a model has only learned from the rows that it has seen."

KINDS: Mapping[Positions, PositionKind] = {
    "learned": PositionKind(
        "**This table is learned.** Its rows are parameters, like every other weight.",
        _ROW,
        "A longer sentence than the table is cut: there is no row for the rest.",
    ),
    "sinusoidal": PositionKind(
        "**This table is made of sines and cosines.** Each pair of dimensions changes more slowly than the pair before "
        "it. Nothing in the table is learned.",
        _ROW,
        _SINES,
    ),
    "sinusoidal-doubled": PositionKind(
        "**This is the table of tutorial B · Encoder Block.** Its exponent counts twice, so most dimensions hardly "
        "change. Nothing in the table is learned.",
        _ROW,
        _SINES,
    ),
    "none": PositionKind(
        "**This encoder adds no positions** (`positions = none`). The standard table is drawn for comparison."
    ),
    "rotary": PositionKind(
        "**This encoder turns queries and keys** (`positions = rotary`): each pair of their numbers by the position "
        "times a speed of its own. The product of two turned vectors depends on how far apart they are, and which "
        "comes first.",
        "It turns each query and key by an angle, another one at each position. ",
        "In a sentence longer than any seen, slow pairs meet angles that no training has shown; a larger base slows "
        "them further.",
        "Of a pair of features that is equal in query and key, this is left in the score: 1 where both stand at the "
        "same place, less where the pair has turned. Fast pairs tell neighbours apart; slow ones hardly turn, and can "
        "carry what words mean.",
        axis="share of the product",
        one_curve="pair",
    ),
    "alibi": PositionKind(
        "**This encoder lowers scores with distance** (`positions = alibi`): by so much for each token in between, in "
        "each head another number. Nothing of it is learned.",
        "It takes from each score an amount that grows with the distance. ",
        "In a sentence longer than any seen, the lines go on as they are: what is far counts little.",
        "What each head's scores get: nothing for the token itself, and less the further a key stands away. Heads with "
        "steep lines look near, flat ones far.",
        axis="added to the score",
        one_curve="head",
    ),
    "relative": PositionKind(
        "**This encoder adds a learned number to each score** (`positions = relative`): one for each range of "
        "distances, in each head another.",
        "It adds to each score a number that depends on the distance. ",
        "In a sentence longer than any seen, the farthest range takes all further distances: they are not told apart.",
        "What each head's scores get, whatever the words are: keys before the query to the left, keys behind it to the "
        "right. Ranges grow with the distance.",
        axis="added to the score",
        one_curve="head",
    ),
}

MAX_DISTANCE = 33
"""Tokens to either side that the curves of distances are drawn for."""

HEIGHT = 420
"""Pixels of heatmaps, and of what stands beside one."""

_POSITION: Axis[Any] = Axis("position")
_QUERY = "The chosen token. Arrow keys choose its neighbours."


@dataclass(frozen=True, eq=False)
class PlacedWords:
    """A sentence's run, and what its model adds to tell places apart."""

    lab: Lab
    run: Run

    @property
    def config(self) -> ModelConfig:
        """The model's."""
        return self.run.config

    @cached_property
    def rows(self) -> Array:
        """The first of the position table, (N, D); the standard table's where the model adds none."""
        return _first_rows(self.lab)

    @cached_property
    def by_distance(self) -> Array:
        """What the model makes of distances, as `positions.by_distance` gives it."""
        return _by_distance(self.lab)

    def swap(self, first: int, second: int) -> positions.Swap:
        """Exchange the tokens at two positions."""
        return _swap_words(self.lab, first, second)

    @property
    def is_causal(self) -> bool:
        """Whether no token may look at later ones."""
        return bool(self.lab["causal"])

    @property
    def is_random(self) -> bool:
        """Whether the model's weights are."""
        return self.lab.state.is_random

    @property
    def adds_table(self) -> bool:
        """Whether the model adds a table to the embeddings."""
        return self.config.has_position_table

    @property
    def tokens(self) -> list[str]:
        """The sentence's tokens without padding."""
        return self.run.real_tokens

    @property
    def drawn_rows(self) -> Array:
        """The rows that are drawn, whole."""
        return self.rows[:MAX_POSITIONS]

    @property
    def vectors(self) -> Array:
        """The tokens' vectors before positions are added, (T, D)."""
        vectors: Array = self.run.arrays["embed.tokens"][~self.run.padding]
        return vectors

    @cached_property
    def added(self) -> pd.DataFrame:
        """What adding the table does to the sentence; see `positions.addition`."""
        vectors = self.vectors
        return positions.addition(vectors, self.rows[: len(vectors)])


def positions_scene(view: LinkedView) -> Scene[PlacedWords]:
    """The view's run without its changes, and the pinned one's; raises as the run."""
    return scene_of(PlacedWords, without_changes(view))


@once
def _first_rows(lab: Lab) -> Array:
    return positions.first_rows(lab.encoder, MAX_TOKENS)


@once
def _by_distance(lab: Lab) -> Array:
    return positions.by_distance(lab.encoder, MAX_DISTANCE)


@once
def _swap_words(lab: Lab, first: int, second: int) -> positions.Swap:
    options = {"seed": lab["seed"], "causal": lab["causal"]}
    return positions.swap_words(lab.encoder, lab.batch, lab.sentence, first, second, **options)


def _same_words(scene: Scene[PlacedWords]) -> PlacedWords | None:
    """The pinned side, where it has read the present side's tokens."""
    pinned = scene.pinned
    return None if pinned is None or not scene.same_tokens else pinned


def show_positions(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """The page: two words change places, then the table that tells places apart, and the closer view."""
    now = scene.now
    yield from show_swap(scene, options)
    yield Paragraph(f"**A small encoder trained without positions.** {describe_lost(change(positions='none'))}")
    is_of_distances = not now.adds_table and now.config.positions != "none"
    title = "How scores change with distance" if is_of_distances else "The position table that tells places apart"
    yield fill_panel(options, "positions_table", title, lambda: show_table(scene), ":material/table_rows:")
    title = "Look closer: what is added, and how the table is made"
    yield fill_panel(options, "positions_closer", title, lambda: show_closer(scene, options), ":material/search:")


def position_places(options: Options) -> tuple[str, ...]:
    """The places of the focus that the page depends on."""
    has_focus = options["positions_closer"] and options["positions_view"] in ("this sentence", "similarity")
    return ("layer", "head", "query", "key") if has_focus else ()


def show_table(scene: Scene[PlacedWords]) -> Iterator[Item]:
    """The table that the model uses, and what kind of table it is."""
    now, pinned = scene.now, scene.pinned
    config, rows, kind = now.config, now.rows, KINDS[now.config.positions]
    if not now.adds_table and config.positions != "none":
        yield from show_distances(scene)
        return
    caution = " Its numbers are random: nothing is trained yet." * (config.positions == "learned" and now.is_random)
    yield Paragraph(
        "Attention by itself treats the tokens as a set: it does not know their order. A position table can add the "
        "order. Its row $P_t$ is added to the vector of the token at position $t$. "
        f"{kind.description}{caution} {kind.beyond}"
    )
    n, d = _drawn_cells(now).shape
    why_not = "" if pinned is None else _explain_no_difference(now, pinned)
    limit = colour_scales.limit_of_most([_drawn_cells(each) for each in (now, pinned if not why_not else None) if each])
    yield _table_heatmap(
        "position_table",
        _drawn_cells,
        "Heatmap of the position table: positions in rows, dimensions in columns.",
        caption="Each row is the vector of one position; each column is one of its numbers, a *dimension*. "
        f"Drawn: positions 0 to {n - 1} of {config.max_len}, dimensions 0 to {d - 1} of {rows.shape[1]}. "
        f"Colours end at ±{write_number(limit)}; at least 99% of the numbers lie within. "
        f"{_describe_lengths(now.drawn_rows)}",
        change=lambda one, other: f"The largest: {write_number(_largest_change(one, other))}.",
        nearest=lambda other: "This encoder adds no table: the standard one is drawn." * (not other.adds_table),
        height=HEIGHT,
        compares=not why_not,
    )
    if why_not:
        yield Paragraph(f"**{escape_markdown(scene.pinned_name)}.** {why_not}", "caption")


def show_distances(scene: Scene[PlacedWords]) -> Iterator[Item]:
    """What the encoder makes of distances, where it adds no table: one chart, and what lies beyond it."""
    now, kind = scene.now, KINDS[scene.now.config.positions]
    is_untrained = now.config.positions == "relative" and now.is_random
    caution = " Its numbers are random: nothing is trained yet." * is_untrained
    yield Paragraph(
        "Attention by itself treats the tokens as a set: it does not know their order. "
        f"{kind.description}{caution} {kind.beyond}"
    )

    def curves(placed: PlacedWords) -> list[Curve]:
        rows = placed.by_distance
        shown = np.linspace(0, len(rows) - 1, min(len(rows), len(palette.CURVES))).round().astype(int)
        x = np.arange(rows.shape[1]) - rows.shape[1] // 2
        drawn = zip(shown, palette.CURVES, strict=False)
        return [Curve(f"{kind.one_curve} {i}", x, rows[i], colour, marker=0) for i, colour in drawn]

    def table(placed: PlacedWords) -> pd.DataFrame:
        rows = placed.by_distance
        index = pd.Index(np.arange(rows.shape[1]) - rows.shape[1] // 2, name="key − query")
        return pd.DataFrame(rows.T, index)

    yield Curves(
        key="distance_curves",
        alt="Lines: what becomes of a score by the distance of key and query.",
        caption=f"{kind.by_distance} Drawn: {len(curves(now))} of {len(now.by_distance)}.",
        curves=curves,
        x=Axis("key − query, in tokens"),
        y=[lambda _: {"title": kind.axis}],
        height=HEIGHT,
        table=table,
        compares=scene.pinned is not None and scene.pinned.config.positions == now.config.positions,
    )


def _table_heatmap(key: str, values: Callable[[PlacedWords], Array], alt: str, **options: Any) -> Heatmap[PlacedWords]:
    """A row a position, a column a dimension; options are the chart's."""
    return Heatmap(
        key=key,
        alt=alt,
        values=values,
        rows=_POSITION,
        columns=Axis("dimension"),
        bar="value",
        flat_bar=True,
        hover="position %{y}, dimension %{x}",
        more="a larger number",
        colours=colour_scales.most_around_zero,
        change_colours=colour_scales.most_around_zero,
        **options,
    )


def _drawn_cells(placed: PlacedWords) -> Array:
    return placed.rows[:MAX_POSITIONS, :MAX_DIMENSIONS]


def _explain_no_difference(now: PlacedWords, pinned: PlacedWords) -> str:
    """Why the pinned table is not drawn; nothing where it is."""
    width, other = now.rows.shape[1], pinned.rows.shape[1]
    if width != other:
        return (
            f"Its rows have {other} numbers and those above {width}, so the tables cannot be subtracted. The curves "
            "and the similarities below show both."
        )
    n = min(len(now.drawn_rows), len(pinned.drawn_rows))
    is_same = np.array_equal(now.rows[:n], pinned.rows[:n])
    return f"The first {n} rows of its table are the same, number by number." if is_same else ""


def _largest_change(now: PlacedWords, pinned: PlacedWords) -> float:
    n = min(len(now.drawn_rows), len(pinned.drawn_rows))
    return float(np.abs(now.rows[:n] - pinned.rows[:n]).max())


def _describe_lengths(rows: Array) -> str:
    """The lengths (L2 norms) of rows, over all their dimensions."""
    lengths = np.linalg.norm(rows, axis=1)
    n, longest = len(lengths), int(lengths.argmax())
    if lengths.max() - lengths.min() < 0.01 * lengths.max():
        return f"Each of these {n} rows has a length (L2 norm) of about {write_number(lengths.mean())}."
    return (
        f"The mean length (L2 norm) of these {n} rows is {write_number(lengths.mean())}. The longest is that of "
        "position "
        f"{longest}: {write_number(lengths[longest])}."
    )


def show_closer(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """The closer view that `positions_view` names."""
    yield Control("positions_view", "Look closer")
    yield from VIEWS[options["positions_view"]](scene, options)


def show_swap(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """How far each word's output moves when two words change places, with positions and without."""
    now, tokens = scene.now, scene.now.tokens
    last = len(tokens) - 1
    if last < 1:
        yield Paragraph("This sentence has only one token: there is nothing to swap it with.", "info")
        return
    first, second, swap = _swap(now, options)
    chosen = Columns(
        (
            (Control("positions_first", f"Swap this token: {quote_place(tokens, first)}", high=last - 1),),
            (Control("positions_second", f"with this one: {quote_place(tokens, second)}", high=last),),
        )
    )
    yield Paragraph(describe_swap(now, swap, first, second), "answer")
    choices = Group("positions_choices", (chosen,))
    yield Group(
        "", (choices, _swapped_sentence(tokens, first, second), _swap_bars(scene, first, second)), is_proof=True
    )


def _swap(now: PlacedWords, options: Options) -> tuple[int, int, positions.Swap]:
    """The positions that change places, which may be one and the same, and what that does; of two tokens or more."""
    last = len(now.tokens) - 1
    first, second = min(options["positions_first"], last - 1), min(options["positions_second"], last)
    return first, second, now.swap(first, second)


def describe_swap(now: PlacedWords, swap: positions.Swap, first: int, second: int) -> str:
    """What tells the encoder the order, and what it notices when two words change places."""
    if first == second:
        return "Both sliders name the same token. Choose two different positions to swap."
    pair = f"Swap {quote_place(now.tokens, first)} and {quote_place(now.tokens, second)}"
    if swap.unchanged:
        return (
            f"{pair}: they are the same token to this encoder. The sentence stays as it is, and so does every output. "
            "Choose two different tokens to swap."
        )
    config, bare, placed = now.config, float(swap.bare.max()), float(swap.placed.max())
    random = " (Random weights.)" * now.is_random
    if not np.isfinite([bare, placed, swap.spread]).all():
        return f"{pair}. **Overflow**: the outputs are too large for floating-point numbers to compare.{random}"
    other = "causal mask" if now.is_causal else "window" if config.window else "reshape merge"
    tells_order = now.is_causal or config.window or config.head_merge == "reshape"
    rounding = f" ({write_number(bare, 1)} is rounding)" if bare else ""
    moved = f"the outputs change by up to **{write_number(placed)}** with positions"
    size = swap.size if config.positions == "none" else swap.placed_size
    scale = f" To compare: the outputs' numbers are at most {write_number(size)} in size."
    if config.positions == "none":
        if swap.alike:
            told = f"It does not: this encoder adds no positions. {pair}: all tokens have the same output anyway."
        elif tells_order:
            told = (
                f"Only its {other} tells it the order: this encoder adds no positions. {pair}: the outputs change by "
                f"up to **{write_number(bare)}**.{scale}"
            )
        else:
            told = (
                f"**It does not**: this encoder adds no positions. {pair}, and nothing changes: each word keeps its "
                f"output{rounding}."
            )
    elif swap.alike:
        told = f"{pair}: {moved}. Without them all tokens have the same output, so no swap can be seen.{scale}"
    elif tells_order:
        told = f"{pair}: {moved}, and by **{write_number(bare)}** without. The {other} tells the order too.{scale}"
    elif not swap.ordered:
        told = f"This encoder cannot tell the order. {pair}: even with positions nothing changes{rounding}."
    else:
        told = f"Only positions tell the order. {pair}: {moved}. Without positions nothing changes{rounding}.{scale}"
    return f"{KINDS[config.positions].how}{told}{random}"


def _swapped_sentence(tokens: list[str], first: int, second: int) -> Widget:
    order = list(range(len(tokens)))
    order[first], order[second] = second, first
    chips = [
        (tokens[old], str(old), "padding" if old == new else "plain", f"position {new}, before: {old}")
        for new, old in enumerate(order)
    ]
    about = "The sentence after the swap, with old positions; faded tokens did not move."
    return Widget("token_chips", {"chips": chips}, about if first != second else "Nothing is swapped yet.")


LEAST_SEEN = 0.005
"""Of the largest bar: what bars have to reach so that they are drawn."""


def _swap_bars(scene: Scene[PlacedWords], first: int, second: int) -> Bars[PlacedWords]:
    """How far each word's output moves, with positions if it has any; without them only if that can be seen."""

    def series(placed: PlacedWords) -> dict[str, Mapping[str, float]]:
        moved = placed.swap(first, second)
        bare = {"without positions": _by_token(placed, moved.bare)}
        return bare if placed.config.positions == "none" else {"with positions": _by_token(placed, moved.placed)} | bare

    def is_seen(placed: PlacedWords) -> bool:
        moved = placed.swap(first, second)
        return bool(moved.bare.max() and not moved.bare.max() < LEAST_SEEN * moved.placed.max())

    def bars(placed: PlacedWords) -> Mapping[str, Mapping[str, float]]:
        both = series(placed)
        if is_seen(placed):
            return both
        name, changes = next(iter(both.items()))
        return {name: changes if name == "with positions" else dict.fromkeys(changes, 0.0)}  # no bars of rounding

    has_positions = scene.now.config.positions != "none"
    told, title = "", "largest change"
    if not is_seen(scene.now):
        title = f"largest change{', with positions' * has_positions}"
        bare = float(scene.now.swap(first, second).bare.max())
        told = f"Without positions no bar would be seen: the largest change is {write_number(bare, 1)}."
    if (other := _same_words(scene)) is not None:
        before = other.swap(first, second)
        with_them = f"{write_number(float(before.placed.max()))} with positions and "
        told += (
            f" In the pinned settings, outputs change by up to {with_them * (other.config.positions != 'none')}"
            f"{write_number(float(before.bare.max()), 3 if is_seen(other) else 1)} without."
        )
    options = _by_token_options(scene, title, "these changes")
    return Bars(
        key="swap_differences",
        height=360,
        alt="Bars: each word's largest change of output after two words changed places.",
        caption="How far does each word's output move? A bar is the largest change among its numbers; a word is "
        "compared with itself, wherever it stands after the swap.",
        reading=lambda _: told,
        bars=bars,
        colours={"with positions": palette.EMBEDDINGS, "without positions": palette.RESIDUAL},
        number=".2g",
        table=lambda placed: pd.DataFrame(series(placed)),
        **options | {"labels": Axis("token", of_tokens=True), "click": ""},
    )


def explain_swap(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """Why the outputs change with positions and without, and how that is measured."""
    now = scene.now
    if len(now.tokens) > 1 and not (swap := _swap(now, options)[2]).unchanged:
        yield Paragraph(positions.describe_swap(now.config, swap, causal=now.is_causal))
    if now.config.positions != "none":
        yield Paragraph(
            "With positions and without, the weights are the same. There the blocks compute in 64-bit floats, so that "
            "a small change is not taken for rounding.",
            "caption",
        )


def _by_token(placed: PlacedWords, numbers: Array) -> Mapping[str, float]:
    return dict(zip(token_names(placed.tokens), numbers.tolist(), strict=True))


def _by_token_options(scene: Scene[PlacedWords], title: str, needs_tokens: str) -> dict[str, Any]:
    """What bars of every token have: their axes, their click, and whether the pinned ones stand beside them."""
    axis: AxisOptions = {"title": title, "rangemode": "tozero", "exponentformat": "power"}
    return {
        "labels": Axis("token", place="query", of_tokens=True),
        "value": axis,
        "horizontal": False,
        "click": _QUERY,
        "compares": scene.pinned is not None and scene.pinned.run is not None,
        "needs_tokens": needs_tokens,
    }


def show_addition(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """How long this sentence's embeddings, their position rows and the sums of both are."""
    now, config = scene.now, scene.now.config
    is_scaled = config.vocab_size > 0 and config.scale_embeddings
    row = r"E_{\text{id}_t}" if config.vocab_size else "v_t"
    scale = r"\sqrt{D}\, " if is_scaled else ""
    yield Formula(rf"x_t = {scale}{row} + P_t")
    yield Formula(positions.sum_with_numbers(now.vectors, now.rows, scene.focus.query))
    scaled = f"multiplied by √{config.d_model} = {write_number(config.d_model**0.5)}" if is_scaled else "not scaled"
    pinned = ""
    if (other := _same_words(scene)) is not None:
        shares = other.added["relative"]
        pinned = (
            f" In the pinned settings, the row is {write_number(shares.min())} to {write_number(shares.max())} "
            "times as long."
        )
    later = ["the vector of segment 0 is added"] * (config.n_segments > 0)
    later += ["a norm rescales the sum"] * config.embedding_norm
    after = f" After that, {' and '.join(later)}." if later else ""
    colours = {"token": palette.RESIDUAL, "position": palette.EMBEDDINGS, "sum": palette.NORMS}
    yield Bars(
        key="addition_lengths",
        alt="Bars: L2 norm of each token's embedding, its position's row, and their sum.",
        caption=f"Bars are lengths (L2 norms) of three vectors: a token's embedding ({scaled}), its position's row, "
        "and their sum.",
        reading=lambda placed: f"{_describe_addition(placed)}{after}{pinned}",
        bars=lambda placed: {part: _by_token(placed, placed.added[part].to_numpy()) for part in colours},
        colours=colours,
        table=lambda placed: placed.added.set_axis(token_names(placed.tokens)),
        **_by_token_options(scene, "L2 norm", "these lengths"),
    )


def _describe_addition(placed: PlacedWords) -> str:
    added = placed.added
    is_added = "is" if placed.adds_table else "would be"
    return (
        f"The row {is_added} {write_number(added['relative'].min())} to {write_number(added['relative'].max())} times "
        "as long as the "
        f"embedding. The mean cosine between embedding and sum is {write_number(added['cosine'].mean())}; 1 means the "
        "same "
        "direction."
    )


def show_curves(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """Three dimensions of the table as curves over the positions."""
    now = scene.now
    rows, last = now.rows, now.rows.shape[1] - 1
    keys = [f"positions_curve_{i}" for i in (1, 2, 3)]
    yield Columns(tuple((Control(key, f"dimension, curve {i}", high=last),) for i, key in enumerate(keys, 1)))
    chosen = [min(options[key], last) for key in keys]
    colours = dict(zip(dict.fromkeys(chosen), (palette.EMBEDDINGS, palette.Q, palette.V), strict=False))
    kind: Positions = now.config.positions if now.adds_table else "sinusoidal"
    yield Formula(positions.formula(kind))
    yield Formula(positions.formula_with_numbers(kind, rows, len(now.tokens) - 1, chosen[1]))
    reading = "A learned table has no wavelengths: only training can bring regularity into it."
    if kind != "learned":
        waves = wavelengths(rows.shape[1], doubled=kind == "sinusoidal-doubled")
        lengths = ", ".join(f"{round_length(waves[dimension // 2])} (dimension {dimension})" for dimension in colours)
        reading = f"A curve repeats after its *wavelength*. Wavelengths here, in positions: {lengths}."

    def shown(placed: PlacedWords) -> dict[int, Array]:
        """The chosen dimensions that a table has."""
        return {i: placed.drawn_rows[:, i] for i in colours if i < placed.rows.shape[1]}

    yield Curves(
        key="position_curves",
        alt="Lines: chosen dimensions of the position table by position.",
        caption=f"A curve is one dimension, that is one column of the table, position by position. {reading}",
        curves=lambda placed: [
            Curve(f"dimension {i}", np.arange(len(values)), values, colours[i], marker=4)
            for i, values in shown(placed).items()
        ],
        x=_POSITION,
        y=[lambda _: {"title": "value"}],
        height=360,
        table=lambda placed: pd.DataFrame(shown(placed)).rename_axis("position"),
    )


def show_similarity(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """Dot products or distances between positions, by pair and by how far apart the two are."""
    measure = options["positions_measure"]
    yield Control("positions_measure", "Measure")
    is_product, is_sinusoidal = measure == "dot product", scene.now.config.positions != "learned"
    compare = positions.dot_products if is_product else positions.distances
    if is_sinusoidal:
        yield Formula(
            r"P_s \cdot P_t = \sum_i \cos\left(\omega_i (s - t)\right)"
            if is_product
            else r"\lVert P_s - P_t \rVert^2 = 2 \sum_i \left(1 - \cos\left(\omega_i (s - t)\right)\right)"
        )

    def values(placed: PlacedWords) -> Array:
        return compare(placed.drawn_rows)

    def place_of(place: str) -> Axis[PlacedWords]:
        return Axis(
            "position", place=place, numbers=lambda placed: range(min(len(placed.tokens), len(placed.drawn_rows)))
        )

    pairs = Heatmap(
        key="between_positions",
        alt=f"Heatmap of the {measure} between positions.",
        caption=f"The {measure} between every two of the first {len(scene.now.drawn_rows)} rows. Where stripes follow "
        "the diagonal, only the *offset* counts: how far apart two positions are. The frame marks the chosen query's "
        "and key's.",
        values=values,
        rows=place_of("query"),
        columns=place_of("key"),
        bar=measure,
        flat_bar=True,
        hover=f"positions %{{y}} and %{{x}}, {measure}",
        more=f"a larger {measure}",
        colours=colour_scales.most_around_zero if is_product else colour_scales.most_from_zero,
        change_colours=colour_scales.most_around_zero,
        height=HEIGHT,
        click="The query's position, in its row, and the key's, in its column. Arrow keys move them.",
    )
    unpaired = " An odd d_model leaves the last sine without its cosine. The formula is then only nearly true."
    is_unpaired = is_sinusoidal and bool(scene.now.rows.shape[1] % 2)
    offsets: Curves[PlacedWords] = Curves(
        key="by_offset",
        alt=f"Line: mean {measure} by how far apart two positions are.",
        caption="The same numbers by offset. The line is their mean; the band goes from the lowest to the highest.",
        reading=lambda placed: f"{_describe_spread(values(placed))}{unpaired * is_unpaired}",
        curves=lambda placed: [_offset_curve(values(placed))],
        x=Axis("how far apart, in positions"),
        y=[lambda _: {"title": measure}],
        height=HEIGHT,
        table=lambda placed: positions.by_offset(values(placed)),
    )
    yield Columns(((pairs,), (offsets,)))


def _offset_curve(matrix: Array) -> Curve:
    table = positions.by_offset(matrix)
    mean, low, high = (table[column].to_numpy(np.float32) for column in ("mean", "lowest", "highest"))
    band = " (%{customdata[0]:.4g} … %{customdata[1]:.4g})"
    return Curve("mean", table.index.to_numpy(), mean, palette.EMBEDDINGS, low, high, band=band, marker=0)


def _describe_spread(matrix: Array) -> str:
    table = positions.by_offset(matrix)
    return (
        f"Pairs of equal offset differ by up to {write_number(float((table['highest'] - table['lowest']).max()), 2)}."
    )


def show_exponents(scene: Scene[PlacedWords], options: Options) -> Iterator[Item]:
    """The paper's table beside tutorial B's, whose exponent is doubled, and the wavelengths of both."""
    config, n_rows = scene.now.config, len(scene.now.rows)
    d_model, max_len = config.d_model, config.max_len
    standard, doubled = (sinusoids(n_rows, d_model, doubled=twice).numpy() for twice in (False, True))
    at = f"at d_model {d_model}."
    yield Columns(
        (
            _fixed_table(
                "standard", "sinusoidal", standard,
                f"The standard table (Vaswani et al. 2017, section 3.5) {at}",
            ),
            _fixed_table(
                "doubled", "sinusoidal-doubled", doubled,
                f"The table of tutorial B · Encoder Block {at} Its exponent counts twice: each frequency is squared.",
            ),
        )
    )  # fmt: skip
    waves, waves_doubled = (wavelengths(d_model, doubled=twice).numpy() for twice in (False, True))
    turning, turning_doubled = (int((lengths <= max_len).sum()) for lengths in (waves, waves_doubled))
    dimensions = 2 * np.arange(waves.size)
    n_drawn = min(n_rows, MAX_POSITIONS)
    apart = float(np.abs(standard - doubled)[:n_drawn].max())
    table = pd.DataFrame({"standard": waves, "doubled exponent": waves_doubled}, pd.Index(dimensions, name="dimension"))
    hover = "%{y:.4g} positions"
    ends, level = dimensions[[0, -1]], np.full(2, float(max_len))
    curves = [
        Curve("standard", dimensions, waves, palette.EMBEDDINGS, hover=hover, marker=4),
        Curve("doubled exponent", dimensions, waves_doubled, palette.Q, hover=hover, marker=4),
        Curve(f"max_len = {max_len}", ends, level, palette.RESIDUAL, hover=hover, marker=0, dash="dot"),
    ]
    yield Curves[PlacedWords](
        key="wavelengths",
        alt="Lines: wavelength of each pair of dimensions, standard and doubled exponent, on a logarithmic axis.",
        caption="A pair of dimensions, a sine and a cosine, repeats after its *wavelength* in positions. "
        f"Wavelengths grow from {round_length(waves[0])} to {round_length(waves[-1])} (standard) or "
        f"{round_length(waves_doubled[-1])} (doubled exponent). Of {waves.size} pairs, {turning} complete a turn "
        f"within max_len = {max_len:,}; with the doubled exponent {turning_doubled} do. Slower pairs hardly tell "
        f"neighbouring positions apart. The first {n_drawn} rows of the tables differ by up to "
        f"{write_number(apart, 4)}.",
        curves=lambda _: curves,
        x=Axis("dimension, the sine of each pair"),
        y=[
            lambda _: {
                "title": "wavelength, in positions (log scale)", "type": "log", "exponentformat": "power", "dtick": 1
            }
        ],
        height=360,
        table=lambda _: table,
        compares=False,
    )  # fmt: skip
    if scene.pinned is not None:
        other = scene.pinned.config
        yield Paragraph(
            "Both tables are fixed by their formulas, so there is no before and after here; only d_model and max_len "
            f"change them. The pinned settings have d_model {other.d_model} and max_len {other.max_len:,}.",
            "caption",
        )


def _fixed_table(name: str, kind: Positions, rows: Array, caption: str) -> tuple[Item, ...]:
    """A table's formula, and its first rows as they are drawn."""
    alt, drawn = f"Heatmap of the {name} position table.", rows[:MAX_POSITIONS, :MAX_DIMENSIONS]
    options = {"caption": caption, "height": 320, "compares": False, "is_tabulated": False}
    return Formula(positions.formula(kind)), _table_heatmap(f"table_{name}", lambda _: drawn, alt, **options)


def round_length(wavelength: SupportsFloat) -> str:
    """A wavelength as a whole number from 100 on, with three digits below."""
    return f"{float(wavelength):,.0f}" if float(wavelength) >= 100 else write_number(float(wavelength))


VIEWS: Mapping[str, Callable[[Scene[PlacedWords], Options], Iterator[Item]]] = {
    "swap two words": explain_swap,
    "this sentence": show_addition,
    "curves": show_curves,
    "similarity": show_similarity,
    "doubled exponent": show_exponents,
}
"""By the value of `positions_view`."""
