"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from playground.analysis import streams
from playground.analysis.comparison import describe_growth_change
from playground.analysis.streams import NormPoint
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
from playground.charts.figure import ROUNDING, Array, Curve
from playground.charts.head_map import CLICK_CELL
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene, note_other_tokens
from playground.config import ModelConfig, Norm
from playground.language.family import change
from playground.runs.encoder_run import Run
from playground.text.wording import join_words, upper_first, with_minus, write_number, write_share
from playground.views.parts import describe_lost

HELP = {
    "view": "tokens: lengths token by token. statistics: mean and deviation (std) around every norm. "
    "cosines: where the vectors point. by hand: one norm computed with its numbers.",
    "part": "residual: the residual stream, the vectors between the layers. attention, feed-forward: the outputs of "
    "these two parts of a layer.",
}

PURPOSE = " A *norm* brings a vector's numbers to a common scale, before others compute with them."
"""What norms are for, where an encoder has them."""

PEAK = 1.05
"""A median that is so many times as long as those at both ends is named."""

MOST_NAMED = 3
"""Outliers that a sentence names."""

WIDE = 1.8
"""A band that goes beyond so many times its median is explained."""

PARTS = {
    "residual": ("residual stream", palette.RESIDUAL),
    "attention": ("attention", palette.ATTENTION),
    "feed-forward": ("feed-forward", palette.FEED_FORWARD),
}
"""How the parts are called on a page, and their colours."""

SUBLAYERS = {"attention": "attn", "feed-forward": "ffn"}
"""The trace's names of the parts whose outputs are added to the residual stream."""


def show_norms(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """The page: how long the vectors get, and why, what a norm does to one of them, and what `norms_view` names."""
    lengths = streams.lengths(scene.now)
    yield Paragraph(summarise_growth(scene.now, lengths["residual"]), "answer")
    reasons = [f"**Why?** {streams.describe_growth(scene.now, lengths)}", describe_widest_band(scene.now)]
    if scene.pinned is not None:
        names = (scene.pinned_name, scene.now_name)
        reasons.append(escape_markdown(describe_growth_change(streams.lengths(scene.pinned), lengths, names)))
    yield Group("", (lengths_by_depth(scene), *map(Paragraph, filter(None, reasons))), is_proof=True)
    yield from show_norm_effect(scene)
    deep = {name: describe_lost(change(n_layers=12, norm_placement=name)) for name in ("pre", "post")}
    yield Paragraph(f"**Trained with 12 layers.** Pre-norm: {deep['pre']} Post-norm: {deep['post']}")
    title = "Look closer: every token, every norm, directions"
    yield fill_panel(options, "norms_closer", title, lambda: look_closer(scene, options), ":material/search:")


def norm_places(options: Options) -> tuple[str, ...]:
    """The places that the page depends on."""
    compares_tokens = options["norms_closer"] and options["norms_view"] == "cosines"
    return ("layer", "query", "key") if compares_tokens else ("layer", "query")


OUTLIERS = (
    "An outlier differs from the median by more than 10 %, and lies beyond the middle half of the tokens by 1.5 times "
    "its range."
)
"""What makes a token's length one."""


def look_closer(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """The view that `norms_view` names."""
    yield Control("norms_view", "Look closer", HELP["view"])
    yield from VIEWS[options["norms_view"]](scene, options)


def summarise_growth(run: Run, stream: Array) -> str:
    """How the median of the residual stream's lengths (L + 1, T) goes through the layers, and where they end."""
    medians, n_layers, n_tokens = np.median(stream, axis=1), run.config.n_layers, stream.shape[1]
    first, last, top = float(medians[0]), float(medians[-1]), int(medians.argmax())
    layers = f"{n_layers} layer{'s' * (n_layers > 1)}"
    over = f"median length of {n_tokens} tokens" if n_tokens > 1 else "length of the only token"
    if np.isnan(medians).any():
        lost = int(np.isnan(medians).argmax())
        return (
            f"**Overflow**: the vectors begin at {write_number(first)} ({over}), and {streams.name_depth(lost)} "
            "the numbers are too large for 32-bit floats."
        )
    if medians[top] > PEAK * max(first, last):
        way = f"grow from **{write_number(first)}** to **{write_number(medians[top])}** {streams.name_depth(top)}"
        way += f", and shrink to **{write_number(last)}** by the end of {layers}"
    elif write_number(first) == write_number(last):
        way = f"end as long as they begin: **{write_number(first)}** before and after {layers}"
    else:
        way = (
            f"{'grow' if last > first else 'shrink'} from **{write_number(first)}** to **{write_number(last)}** "
            f"through {layers}"
        )
    return f"The tokens' vectors {way} ({over}).{PURPOSE * (run.config.norm != 'none')}"


def lengths_by_depth(scene: Scene[Run]) -> Curves[Run]:
    """Median length over tokens by depth, a curve a part, with a band that holds all tokens but outliers."""
    return Curves(
        key="norms_by_layer",
        height=360,  # on a phone it ends in the first window
        alt="Median length by depth of the residual stream and of the outputs of attention and feed-forward",
        caption=r"A vector's length is its L2 norm, $\sqrt{\sum_i x_i^2}$. A line is the median over tokens; a band "
        "holds all of them but outliers, which are far from the others. *Residual stream*: what passes from layer to "
        "layer. *Attention*, *feed-forward*: what these two parts of a layer compute.",
        reading=lambda run: f"The frame marks layer {scene.focus.layer}. {_describe_ends(run)}".strip(),
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
        click="The chosen layer. Arrow keys choose its neighbours.",
    )


def _describe_ends(run: Run) -> str:
    """How long the shortest and the longest vector are that leave the last layer."""
    last = streams.lengths(run)["residual"][-1]
    shortest, longest = (write_number(end) for end in (last.min(), last.max()))
    return f"At the end, the shortest is {shortest} long, the longest {longest}." * (shortest != longest)


def _name_ticks(runs: Sequence[Run]) -> AxisOptions:
    """Layers along an axis of depths, as every page counts them; the embeddings stand before the first."""
    n_layers = max(run.config.n_layers for run in runs)
    layers = range(0, n_layers, figures.round_step(n_layers, 12))
    return {
        "tickmode": "array",
        "tickvals": np.array([-1, *layers]),
        "ticktext": ["emb.", *map(str, layers)],
        "tickangle": 0,
    }


def _depth_names(run: Run) -> list[str]:
    return ["embeddings", *map(str, range(run.config.n_layers))]


def describe_outliers(run: Run) -> str:
    """The residual stream's outliers; nothing without any."""
    stream, tokens = streams.lengths(run)["residual"], run.real_tokens
    outliers = streams.find_outliers(stream)
    if not outliers:
        return ""
    named = [
        f"{quote_place(tokens, token)} ({write_number(stream[depth, token])} {streams.name_depth(depth)})"
        for token, depth in outliers[:MOST_NAMED]
    ]
    more = f"; {len(outliers) - MOST_NAMED} more" if len(outliers) > MOST_NAMED else ""
    special = [quote_token(token) for token, is_special in zip(tokens, run.special, strict=False) if is_special]
    is_added = any(run.special[token] for token, _ in outliers[:MOST_NAMED])
    added = f" The tokenizer adds {join_words(list(dict.fromkeys(special)))}." if is_added else ""
    return f"Outliers of the residual stream: {join_words(named)}{more}.{added}"


def describe_widest_band(run: Run) -> str:
    """Why the widest band of attention and feed-forward is: the token at its upper end, and its largest numbers.

    Nothing where it does not go far beyond its median.
    """
    lengths = streams.lengths(run)
    bands = {part: np.stack(streams.length_band(lengths[part]), axis=1) for part in SUBLAYERS}
    widths = {part: np.nan_to_num(np.ptp(ends, axis=1)) for part, ends in bands.items()}  # what has overflowed is NaN
    part = max(SUBLAYERS, key=lambda each: widths[each].max())
    layer = int(widths[part].argmax())
    high, median = bands[part][layer, 1], np.median(lengths[part][layer])
    if not high > WIDE * median:
        return ""
    token = int(np.flatnonzero(lengths[part][layer] == high)[0])
    vector = run.arrays[f"layers.{layer}.{SUBLAYERS[part]}.out"][~run.padding][token]
    name, word = PARTS[part][0], quote_place(run.real_tokens, token)
    told = (
        f"**Why is the band of {name} so wide in layer {layer}?** At its upper end, {write_number(high)}, lies its "
        "vector for "
        f"{word}; the median is {write_number(median)}. {_describe_largest(vector)}"
    )
    if run.config.norm != "none" and run.config.norm_placement == "post":
        after = lengths["residual"][layer + 1]
        told += (
            f" Layer {layer} ends in a norm, which sets lengths anew: {word} leaves it {write_number(after[token])} "
            "long, the "
            f"median is {write_number(np.median(after))}."
        )
    return told


def _describe_largest(vector: Array) -> str:
    """How much of a vector's squared length its largest numbers make."""
    squares = np.square(vector.astype(np.float64))
    largest = np.argsort(-squares, kind="stable")
    shares = squares[largest].cumsum() / squares.sum()
    n = 1 if shares[0] >= 0.5 else 2
    if shares[min(n, len(shares)) - 1] < 0.5:
        return (
            f"No single number is the cause: the largest of its {len(vector)} makes up {write_share(shares[0])} of the "
            "sum of squares."
        )
    named = join_words([f"number {at} ({write_number(vector[at])})" for at in largest[:n]])
    return (
        f"Of its {len(vector)} numbers, {named} alone make{'s' * (n == 1)} up {write_share(shares[n - 1])} of the sum "
        "of squares."
    )


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


def _layers_by_depth(run: Run) -> list[int | None]:
    """The layer that ends at each depth; the embeddings, depth 0, are no layer's."""
    return [None, *range(run.config.n_layers)]


def show_norm_effect(scene: Scene[Run]) -> Iterator[Item]:
    """The chosen token's vector before, within and after each of the chosen layer's norms."""
    run, focus = scene.now, scene.focus
    if run.config.norm == "none":
        yield Paragraph("**What does a norm do?** This encoder has none: nothing sets a vector's length anew.")
        return
    yield Paragraph(
        f"**What does a norm do?** {EFFECTS[run.config.norm]} Here with {quote_place(run.tokens, focus.query)} in "
        f"layer {focus.layer}."
    )
    if not run.config.has_norm1(focus.layer):
        yield Paragraph(f"Layer {focus.layer} has no norm before attention.", "caption")
    yield _by_norm(scene, norm_numbers)


def _by_norm(scene: Scene[Run], chart: Callable[[Scene[Run], int], Item]) -> Columns:
    """A chart of each of the chosen layer's norms, side by side; below one another where pinned rows need width."""
    numbers = (1, 2) if scene.now.config.has_norm1(scene.focus.layer) else (2,)
    charts = tuple(chart(scene, number) for number in numbers)
    return Columns(tuple((each,) for each in charts) if scene.pinned is None else (charts,))


EFFECTS: Mapping[Norm, str] = {
    "layer": "It subtracts the mean of a vector's numbers and divides by their *deviation*: how far they lie from "
    "it, as a root mean square. Weights of the model then stretch and shift it: a *gain* and a *bias* for each number.",
    "scalar": "It subtracts the mean of a vector's numbers and divides by their *deviation*: how far they lie from "
    "it, as a root mean square. Two weights of the model, one *gain* and one *bias*, then stretch and shift them all.",
    "rms": "It divides a vector's numbers by the root of their mean square, and subtracts nothing. Weights of the "
    "model, a *gain* for each number, then stretch it.",
}
"""What a kind of norm does, in words."""


def _name_norm(config: ModelConfig, number: int) -> str:
    side = "after" if config.norm_placement == "post" else "before"
    return f"Norm {number}, {side} {('attention', 'the feed-forward')[number - 1]}"


def norm_stages(run: Run, layer: int, number: int, token: int) -> dict[str, Array]:
    """A token's vector before a layer's first or second norm, normalised, and after gain and bias: (D,) each, by name.

    Empty where a run lacks that norm.
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
    layer, token, title = scene.focus.layer, scene.focus.query, _name_norm(scene.now.config, number)

    def work_out(run: Run) -> str:
        stages = norm_stages(run, layer, number, token)
        if not np.isfinite([vector.astype(np.float64) for vector in stages.values()]).all():
            return "**Overflow**: its numbers are too large for 32-bit floats."
        before, normalised, scaled = (write_number(length) for length in streams.l2(np.stack([*stages.values()])))
        weights = list(stages)[-1].removeprefix("× ")
        lengths = f"Length {before} → {normalised} normalised → {scaled} with {weights}."
        return with_minus(f"{lengths} {work_out_first(stages['before'], run.config)}")

    return Vectors(
        key=f"norm_numbers_{number}",
        alt=f"{title}: numbers of the token's vector, before the norm, normalised, and after its learned weights",
        caption=f"**{title}.**",
        reading=work_out,
        rows=lambda run: norm_stages(run, layer, number, token),
        needs_tokens="these numbers",
        table_title="All the numbers",
    )


def work_out_first(x: Array, config: ModelConfig) -> str:
    """How the first number of a vector (D,) is normalised, with its numbers."""
    hand = streams.normalise_by_hand(x, config)
    divisor = hand.spread + config.norm_eps if config.norm == "scalar" else np.sqrt(hand.spread + config.norm_eps)
    without = hand.spread if config.norm == "scalar" else np.sqrt(hand.spread)
    epsilon = (
        "" if write_number(divisor, 4) == write_number(without, 4) else f", with ε = {write_number(config.norm_eps)}"
    )
    result = f"{write_number(divisor, 4)} = {write_number(hand.normalized[0], 2)}"
    if config.norm == "rms":
        return (
            f"Root mean square {write_number(divisor, 4)}{epsilon}. Number 0 by hand: {write_number(x[0], 4)} / "
            f"{result}."
        )
    mean = 0.0 if abs(hand.mean) < ROUNDING * divisor else hand.mean
    sign = "+" if mean < 0 else "−"
    return (
        f"Mean {write_number(mean, 4)}, deviation {write_number(divisor, 4)}{epsilon}. "
        f"Number 0 by hand: ({write_number(x[0], 4)} {sign} {write_number(abs(mean), 4)}) / {result}."
    )


def norm_effect(scene: Scene[Run], number: int) -> Curves[Run]:
    """All of the chosen token's numbers before, within and after the chosen layer's norm, each sorted."""
    layer, token, title = scene.focus.layer, scene.focus.query, _name_norm(scene.now.config, number)

    def describe(run: Run) -> str:
        both = [vector.astype(np.float64) for vector in norm_stages(run, layer, number, token).values()][::2]
        if not both or not np.isfinite(both).all():
            return ""
        (mean, deviation, length) = ([compute(x) for x in both] for compute in MEASURES.values())
        mean = [0.0 if abs(m) < ROUNDING * std else m for m, std in zip(mean, deviation, strict=True)]
        pairs = (f"{write_number(first)} → {write_number(second)}" for first, second in (length, mean, deviation))
        return with_minus("Before → after: length {}, mean {}, deviation {}.".format(*pairs))

    def curves(run: Run) -> list[Curve]:
        stages = norm_stages(run, layer, number, token)
        looks = ((palette.RESIDUAL, None), (palette.NORMS, "dash"), (palette.NORMS, None))
        return [
            Curve(name, 100 * shares, _quantiles(vector, shares), colour, marker=0, dash=dash)
            for (name, vector), (colour, dash) in zip(stages.items(), looks, strict=False)
        ]

    shares = np.linspace(0.02, 0.98, 97)
    return Curves(
        key=f"norm_effect_{number}",
        alt=f"{title}: the sorted numbers of the token's vector, before the norm, normalised, and after it",
        caption=f"**{title}.** The middle 96 % of all {scene.now.config.d_model} numbers.",
        reading=describe,
        curves=curves,
        x=Axis("% of the numbers are smaller"),
        y=[lambda _: {"title": "number"}],
        height=230,
        is_tabulated=False,
        needs_tokens="these numbers",
    )


def _quantiles(vector: Array, shares: Array) -> Array:
    with np.errstate(invalid="ignore"):  # what has overflowed is NaN, as everywhere
        return np.quantile(vector, shares).astype(np.float32)


def show_tokens(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Lengths token by token."""
    part, outliers = options["norms_part"], describe_outliers(scene.now)
    first = 0 if part == "residual" else 1

    def values(run: Run) -> Array:
        return streams.lengths(run)[part]

    yield Control("norms_part", "Length of", HELP["part"])
    if outliers and part == "residual":
        yield Paragraph(f"{outliers} {OUTLIERS}", "caption")
    yield Heatmap(
        key="norms_by_token",
        alt=f"Heatmap of the length of each token's vector by depth: {PARTS[part][0]}",
        caption="A column is a token. A row is what leaves a layer, or the embeddings. A stronger "
        "colour means a longer vector. The frame marks the chosen token after the chosen layer; click a cell to "
        "choose.",
        reading=lambda run: (
            f"The shortest has length {write_number(np.nanmin(values(run)))}, the longest "
            f"{write_number(np.nanmax(values(run)))}."
        ),
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
        click="The chosen layer, in its row, and token, in its column. Arrow keys move them.",
    )


def show_statistics(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Mean and standard deviation of a token's features before and after every norm; one token's, sorted."""
    largest = colour_scales.largest(
        np.concatenate([_statistics(run)[["std before", "std after"]].to_numpy() for run in _runs(scene)])
    )
    rounding = {"include": [-ROUNDING * largest, ROUNDING * largest]}
    yield Curves(
        key="norm_statistics",
        alt="Standard deviation and mean of the features before and after every norm",
        caption="What does a norm change? Mean and standard deviation (std) are taken over a token's "
        f"{scene.now.config.d_model} features, then averaged over tokens.",
        reading=_describe_statistics,
        curves=_statistic_curves,
        x=Axis("norm, in the order of the computation"),
        y=[
            figures.length_axis("std of features"),
            lambda _: {"title": "mean of features", "autorangeoptions": rounding},
        ],
        shares=(0.6, 0.4),
        order=_order_of_computation,
        height=460,
        table=_statistics,
    )
    if scene.now.config.norm != "none":
        word = quote_place(scene.now.tokens, scene.focus.query)
        yield Paragraph(f"**One token's numbers, sorted:** {word} in layer {scene.focus.layer}.")
        yield _by_norm(scene, norm_effect)


def _runs(scene: Scene[Run]) -> list[Run]:
    return [scene.now] if scene.pinned is None else [scene.now, scene.pinned]


def _statistics(run: Run) -> pd.DataFrame:
    return streams.norm_statistics(streams.norm_points(run))


def _describe_statistics(run: Run) -> str:
    table = _statistics(run)
    before, after = table["std before"], table["std after"]
    equal = " With norm = none, every output equals its input." if run.config.norm == "none" else ""
    return (
        f"Inputs of the norms have a std of {write_number(before.min())} to {write_number(before.max())}, outputs "
        f"{write_number(after.min())} to "
        f"{write_number(after.max())}.{equal}"
    )


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
    yield Control("norms_layer", "After so many layers (0: embeddings, 1: after layer 0)", high=last)
    yield Paragraph(
        "The cosine of two vectors compares their directions: 1 means the same, 0 a right angle, −1 the opposite.",
        "caption",
    )
    yield Columns(((_cosines_between_depths(),), (_cosines_between_tokens(depth),)))


def _cosines_between_depths() -> Heatmap[Run]:
    def values(run: Run) -> Array:
        return streams.cosine_between_layers(streams.residual_stream(run))

    depths: Axis[Run] = Axis("after layer", names=_depth_names)
    return Heatmap(
        key="cosines_between_layers",
        alt="Heatmap of cosines between what leaves each two layers",
        caption="Do the layers turn a token's vector? Each cell compares it after two of them, averaged over tokens.",
        reading=lambda run: f"Embeddings and last layer: {values(run)[0, -1]:.2f}.",
        values=values,
        rows=depths,
        columns=depths,
        bar="cosine",
        hover="after %{y} and %{x}",
        more="a larger cosine",
        number=".3f",
        colours=colour_scales.within(1),
        magnitude=1.0,
        height=420,
    )


def _cosines_between_tokens(depth: int) -> Heatmap[Run]:
    def values(run: Run) -> Array:
        stream = streams.residual_stream(run)
        return streams.cosine_between_tokens(stream[min(depth, len(stream) - 1)])

    def describe_means(run: Run) -> str:
        stream = streams.residual_stream(run)
        if stream.shape[1] == 1:
            return "This sentence has only one."
        first, last = (streams.mean_of_pairs(streams.cosine_between_tokens(stream[at])) for at in (0, -1))
        here = streams.mean_of_pairs(values(run))
        return f"The mean over all pairs is {here:.2f}; at the embeddings {first:.2f}, after the last layer {last:.2f}."

    def name_depth(run: Run) -> str:
        shown = min(depth, run.config.n_layers)
        place = f"{upper_first(streams.name_depth(shown))}."
        return (
            place if shown == depth else f"{place} The nearest: it has {run.config.n_layers} layer{'s' * (shown > 1)}."
        )

    return Heatmap(
        key="cosines_between_tokens",
        alt=f"Heatmap of cosines between tokens {streams.name_depth(depth)}",
        caption=f"Do the tokens point the same way? Each cell compares two tokens {streams.name_depth(depth)}.",
        reading=describe_means,
        nearest=name_depth,
        values=values,
        rows=token_axis(lambda run: run.real_tokens),
        columns=token_axis(lambda run: run.real_tokens, "key"),
        bar="cosine",
        hover="%{y} and %{x}",
        more="a larger cosine",
        number=".3f",
        colours=colour_scales.within(1),
        magnitude=1.0,
        height=420,
        needs_tokens="cosines between tokens",
        click=CLICK_CELL,
    )


def show_norm_by_hand(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """One norm for one token, with its numbers."""
    yield Group("norm_by_hand", tuple(_work_out_norm(scene, options)))


def _work_out_norm(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """One norm for one token, as its formula says; beside the pinned run's norm of that name."""
    run, token = scene.now, scene.focus.query
    if run.config.norm == "none":
        yield Paragraph("With norm = none there is nothing to compute: every output equals its input.", "info")
        return
    points = streams.norm_points(run)
    point = points[min(options["norms_norm"], len(points) - 1)]
    x, out = point.before[token], point.after[token]
    hand = streams.normalise_by_hand(x, run.config)
    scaling = "gain" if run.config.norm == "rms" else "gain and bias"
    yield Control("norms_norm", "Norm, in the order of the computation", high=len(points) - 1)
    yield Paragraph(f"`{point.name}` of {quote_token(run.tokens[token])} at position {token}")
    yield Formula(streams.formula(run.config))
    yield Formula(streams.formula_with_numbers(x, hand, run.config))
    yield Paragraph(
        f"Is the formula what PyTorch computes? Over {x.size} features, the two differ by at most "
        f"{write_number(hand.off, 2)}. After it, the norm applies its {scaling}: out₀ = {write_number(out[0], 4)}.",
        "caption",
    )
    numbers = pd.DataFrame({"x": x, "normalised by hand": hand.normalized, f"after {scaling}": out})
    yield Table(key="norm_by_hand", frame=lambda _: numbers.rename_axis("feature"), is_folded=True, compares=False)
    if scene.pinned is not None:
        yield from _compare_one_norm(scene, scene.pinned, point)


def _compare_one_norm(scene: Scene[Run], pinned: Run, point: NormPoint) -> Iterator[Item]:
    name = escape_markdown(scene.pinned_name)
    if not scene.same_tokens:
        yield Paragraph(note_other_tokens("this token's numbers"), "caption")
    elif all(other.name != point.name for other in streams.norm_points(pinned)):
        yield Paragraph(f"**{name}:** it has no `{point.name}`.", "caption")
    else:
        yield Paragraph(f"**Before and now.** {name}; the same norm and the same token.")
        yield Table(key="norm_by_hand_pinned", frame=lambda run: _measure_norm(run, point.name, scene.focus.query))


def _measure_norm(run: Run, name: str, token: int) -> pd.DataFrame:
    """Mean, standard deviation and length of a token's vector before and after the norm of this name."""
    point = next(each for each in streams.norm_points(run) if each.name == name)
    rows = {}
    for label, vectors in (("of x", point.before), ("after the norm", point.after)):
        for measure, compute in MEASURES.items():
            rows[f"{measure} {label}"] = compute(vectors[token].astype(np.float64))
    return pd.DataFrame({"now": rows})


MEASURES: Mapping[str, Callable[[Array], float]] = {
    "mean": lambda x: float(np.mean(x)),
    "std": lambda x: float(np.std(x)),
    "L2 norm": lambda x: float(np.linalg.norm(x)),
}

VIEWS: Mapping[str, Callable[[Scene[Run], Options], Iterator[Item]]] = {
    "tokens": show_tokens,
    "statistics": show_statistics,
    "cosines": show_cosines,
    "by hand": show_norm_by_hand,
}
"""By the value of `norms_view`."""
