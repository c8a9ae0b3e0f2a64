"""The tutorial that a student follows: what it computes otherwise, and where to see it; and all five side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd

from playground.accounting.shapes import list_stages
from playground.charts import palette
from playground.charts.bars import LabelledRows
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    LabelledBars,
    Options,
    Paragraph,
    Table,
    Widget,
    fill_panel,
)
from playground.charts.scene import Scene
from playground.config import Initialisation
from playground.link.opening import LinkedView
from playground.mistakes.registry import MISTAKES
from playground.model import Trace
from playground.presets import PRESETS
from playground.text.wording import upper_first, with_minus
from playground.tutorials import comparison
from playground.tutorials.comparison import (
    DEPARTURES,
    NAMES,
    PROPERTIES_OF_FIELDS,
    SHORT_TITLES,
    Cause,
    Row,
    build_table,
    name_value,
)
from playground.tutorials.tutorial_texts import TUTORIALS, Topic
from playground.views.mistakes import show_mistake

SHOWN_TOKENS = 10
"""Of the sentence whose way is drawn."""


@dataclass(frozen=True)
class FiveTutorials:
    """What the page looks at: small encoders with the same weights, drawn from a seed."""

    seed: int
    traces: Mapping[str, Trace]
    """By the tutorials' letters."""
    find_causes: Callable[[str], Sequence[Cause]]
    """Why the others give other numbers than the tutorial of this letter."""


def trace_tutorials(seed: int) -> dict[str, Trace]:
    """Every intermediate of one sentence, by the tutorials' letters."""
    return {letter: comparison.trace_of(comparison.small_config(letter), seed) for letter in NAMES}


def linked_tutorials(view: LinkedView) -> Scene[FiveTutorials]:
    """What a link's page looks at."""
    five = FiveTutorials(view.seed, trace_tutorials(view.seed), partial(comparison.causes, seed=view.seed))
    return Scene(five)


def show_tutorials(scene: Scene[FiveTutorials], options: Options) -> Iterator[Item]:
    """The page: what is different in the chosen tutorial, what it teaches where, and panels."""
    five, letter = scene.now, options["tutorials_letter"]
    yield Paragraph(answer_what_is_different(five, letter), "answer")
    yield Paragraph(
        "Five tutorials on the transformer encoder differ in details that change numbers. Choose yours; "
        "if you follow none, you do not need this page.",
        "caption",
    )
    yield Control("tutorials_letter", "Which one do you follow?")
    if letter != PAPER:
        listed = "\n".join(f"- {upper_first(_explain(each))}." for each in _departures(five, letter))
        yield Paragraph(f"Different in yours, the largest effect first:\n{listed}")
    yield show_departures(five, letter)
    yield from show_topics(letter)
    n = len(TUTORIALS[letter].mistakes)
    yield Paragraph(
        "A *difference* changes the numbers above, though nothing may be wrong in it. A *mistake* is an error in the "
        "tutorial's text or code; the numbers above are computed without it, unless it is named as a difference too.",
        "caption",
    )
    title = f"{n} mistakes in it, and what comes of each"
    yield fill_panel(options, "tutorials_mistakes", title, lambda: show_mistakes(letter), ":material/bug_report:")
    title = "All five side by side"
    yield fill_panel(options, "tutorials_five", title, lambda: show_side_by_side(letter), ":material/table_chart:")
    yield fill_panel(
        options,
        "tutorials_differences",
        "Where the numbers of the five part, and why",
        lambda: show_differences(scene, options),
        ":material/grid_on:",
        closed=(AGAINST,),
    )


def answer_what_is_different(five: FiveTutorials, letter: str) -> str:
    """What the chosen tutorial computes otherwise than the paper, for one number and by its main cause."""
    yours, papers = (five.traces[each]["final"].numpy() for each in (letter, PAPER))
    if letter == PAPER:
        distances = comparison.distances(five.traces, PAPER)
        nearest, farthest = min(distances, key=distances.__getitem__), max(distances, key=distances.__getitem__)
        return (
            f"**Tutorial {letter}**, its mistakes mended, computes the paper's encoder, number by number. The other "
            f"four do not: with the same random weights, an output of {nearest} is up to **{distances[nearest]:.2f}** "
            f"away, one of {farthest} up to **{distances[farthest]:.2f}**."
        )
    place = np.unravel_index(np.abs(yours - papers).argmax(), yours.shape)
    main = _departures(five, letter)[0]
    yours_there, papers_there = (with_minus(f"{each[place]:.2f}") for each in (yours, papers))
    return (
        f"If you follow **tutorial {letter}**, your encoder is not the paper's: with the same random weights, one of "
        f"its outputs is **{yours_there}** instead of **{papers_there}**. The largest single reason: {_explain(main)}."
    )


PAPER = "E"
"""The tutorial that computes the encoder of the paper (Vaswani et al. 2017): what the others are compared with."""

AGAINST = Control("tutorials_against", "Compare the others with")
"""Closed, its panel keeps what was chosen."""


def _departures(five: FiveTutorials, letter: str) -> list[Cause]:
    """What a tutorial does otherwise than the paper, which names no ε; what alone moves an output most comes first."""
    causes = [cause for cause in five.find_causes(PAPER) if cause.letter == letter and cause.field != "norm_eps"]
    return sorted(causes, key=lambda cause: -cause.effect)


def _explain(cause: Cause) -> str:
    return DEPARTURES[cause.field, cause.here][1]


def show_departures(five: FiveTutorials, letter: str) -> LabelledBars[FiveTutorials]:
    """How far each thing that one tutorial does otherwise moves an output; for the paper's, how far the others are."""

    def find(five: FiveTutorials) -> dict[str, float]:
        if letter != PAPER:
            return {DEPARTURES[cause.field, cause.here][0]: cause.effect for cause in _departures(five, letter)}
        distances = comparison.distances(five.traces, PAPER)
        return {SHORT_TITLES[each]: distances[each] for each in sorted(distances, key=lambda each: -distances[each])}

    def bars(five: FiveTutorials) -> LabelledRows:
        found = find(five)
        texts = [_write_difference(value) for value in found.values()]
        title = "largest difference of an output"
        return LabelledRows([*found], [*found.values()], [palette.ATTENTION] * len(found), texts, title)

    sizes = comparison.SIZES
    caption = (
        "How far the other tutorials' outputs are from these, at most."
        if letter == PAPER
        else "Each bar is the largest change of any output when this one thing alone is done in the paper's encoder as "
        "in your tutorial. So the bars do not add up, and a single one may be larger than the difference in the "
        "sentence at the top."
    )
    if letter != PAPER and any(cause.effect <= comparison.APART for cause in _departures(five, letter)):
        caption += " A 0 means that only the weights' layout differs."
    return LabelledBars(
        key="tutorials_effects",
        alt=f"Bars: what is different in tutorial {SHORT_TITLES[letter]}, by how far it moves an output",
        caption=f"{caption} Measured in small untrained encoders: {sizes['n_layers']} layers, width "
        f"{sizes['d_model']}, {sizes['vocab_size']} words. Their outputs are about 1 in size. "
        "The paper is Vaswani et al. 2017.",
        bars=bars,
        table=lambda five: pd.DataFrame({"largest difference": find(five)}),
    )


def _write_difference(value: float) -> str:
    if value <= comparison.APART:
        return "0"
    if value >= 0.005:
        return f"{value:.2f}"
    return np.format_float_positional(value, precision=1, fractional=False)


def show_topics(letter: str) -> Iterator[Item]:
    """What a tutorial is, and the page that shows each thing that it teaches."""
    tutorial, preset = TUTORIALS[letter], PRESETS[NAMES[letter]]
    yield Paragraph("What it teaches, and the page that shows it", "header")
    yield Paragraph(f"**{preset.title}.** {tutorial.what}")
    brought = "parts, sizes and sentence" if preset.text else "parts and sizes"
    whole = Topic(f"Everything: opens Start with tutorial {letter}'s {brought} in the sidebar.", "overview")
    for number, topic in enumerate((whole, *tutorial.topics)):
        data = {"topic": topic, "key": f"tutorials_open_{number or 'overview'}", "preset": NAMES[letter]}
        yield Widget("tutorial_topic", data)


def show_mistakes(letter: str) -> Iterator[Item]:
    """What is wrong in one tutorial, with what comes of it, computed; and the order of its block, if its text errs."""
    tutorial, preset = TUTORIALS[letter], PRESETS[NAMES[letter]]
    if tutorial.order_in_text:
        yield Paragraph(f"{tutorial.order_in_text} Its code does this, here with a sentence of {SHOWN_TOKENS} tokens:")
        stages = list_stages(preset.config, SHOWN_TOKENS)
        flow = {"stages": stages, "n_layers": preset.config.n_layers, "key": "tutorials_flow"}
        yield Widget("tutorial_flow", flow)
    for number, mistake in enumerate(tutorial.mistakes, start=1):
        where = upper_first(mistake.where)
        items: list[Item] = [Paragraph(f"**{where}**: {mistake.printed}. {mistake.happens}".rstrip())]
        if mistake.demonstration is not None:
            items.append(Paragraph(f":material/play_arrow: {mistake.demonstration()}", "caption"))
        items += [item for key in mistake.keys for item in show_mistake(MISTAKES[key], preset.config)]
        yield Group(f"tutorials_mistake_{number}", tuple(items), is_card=True)
    yield Widget("tutorial_topic", {"topic": IN_YOUR_CODE, "key": "tutorials_diagnosis", "preset": NAMES[letter]})


IN_YOUR_CODE = Topic("Find such a mistake in your own code, by the numbers that it computes.", "diagnosis")


def show_side_by_side(letter: str) -> Iterator[Item]:
    """Every property of the five; cells that differ from most are marked, those of the chosen one also named."""
    odd = [f"**{row.name}** {row.cells[letter]}" for row in build_table() if letter in row.unusual()]
    yield Paragraph(f"In yours, unlike most of the five: {'; '.join(odd)}.")
    yield Paragraph(f"Yours as a preset: {PRESETS[NAMES[letter]].source}.")
    yield Table[FiveTutorials](key="tutorials_properties", frame=lambda _: list_properties(), is_markdown=True)
    yield Paragraph(
        "A violet cell differs from most of the five. All rows but the last two are read from the sidebar's presets. "
        "How a tutorial masks, and where it drops numbers in training, is no part of a preset.",
        "caption",
    )


def list_properties() -> pd.DataFrame:
    """A row a property, a column a tutorial, in markdown."""
    rows = build_table()
    columns = {SHORT_TITLES[letter]: [_format_cell(row, letter) for row in rows] for letter in NAMES}
    columns["a difference changes"] = [row.changes for row in rows]
    return pd.DataFrame(columns, index=pd.Index([f"**{row.name}**" for row in rows]))


def _format_cell(row: Row, letter: str) -> str:
    text = f":violet-background[{row.cells[letter]}]" if letter in row.unusual() else row.cells[letter]
    return f"{text} ({row.notes[letter]})" if letter in row.notes else text


def show_differences(scene: Scene[FiveTutorials], options: Options) -> Iterator[Item]:
    """How far apart the outputs are, where that begins, and which field it comes from."""
    five, sizes, against = scene.now, comparison.SIZES, options["tutorials_against"]
    chosen = SHORT_TITLES[against]
    yield Paragraph(_describe_extremes(five))
    yield Paragraph(
        f"Five small encoders run on {sizes['vocab_size']} different words: d_model {sizes['d_model']}, "
        f"{sizes['n_heads']} heads, {sizes['n_layers']} layers. They share one token table and one set of linear maps, "
        f"drawn from seed {five.seed}. Norms are untrained, and nothing is dropped. "
        f"{SHORT_TITLES['C']} expects positions to be added already; here it gets the standard ones. Numbers are in "
        "double precision, so rounding plays no part."
    )
    yield Columns(((differences_of_outputs(),), (AGAINST, differences_by_point(against))), shares=(2, 3))
    yield Paragraph("\n".join(_explain_differences(five, against)))
    shares = {scheme: comparison.position_share(scheme, five.seed) for scheme in get_args(Initialisation)}
    yield Paragraph(
        "Initial weights are another difference between the tutorials and this page. They leave them to torch, whose "
        "token tables are standard normal. Here linear maps are Xavier-uniform, and token tables are uniform with a "
        f"standard deviation of 1/√d_model. In {SHORT_TITLES['A']} a position is {shares['torch']:.2f} × as long as "
        f"the token's vector that it is added to; drawn as here, {shares['xavier']:.2f} ×. A preset of a tutorial sets "
        "*initial weights* to torch's, and the sidebar changes them.",
        "caption",
    )
    yield Paragraph(
        f"In brackets: how far an output moves, at most, when that one thing alone is changed in {chosen}. "
        "These effects do not add up, because later ones act on the results of earlier ones.",
        "caption",
    )


def _describe_extremes(five: FiveTutorials) -> str:
    distances = comparison.matrix(five.traces)
    pairs = {
        f"{SHORT_TITLES[a]} and {SHORT_TITLES[b]}": distances[i, j]
        for i, a in enumerate(NAMES)
        for j, b in enumerate(NAMES)
        if i < j
    }
    nearest, farthest = min(pairs, key=pairs.__getitem__), max(pairs, key=pairs.__getitem__)
    return (
        "**No two give the same numbers**, even with the same weights and the same words. "
        f"The nearest are {nearest}: their outputs differ by up to {pairs[nearest]:.2f}. "
        f"The farthest apart are {farthest}: theirs differ by up to {pairs[farthest]:.2f}."
    )


def differences_of_outputs() -> Heatmap[FiveTutorials]:
    """The largest difference of outputs between each two tutorials."""
    names: Axis[FiveTutorials] = Axis("tutorial", lambda _: list(SHORT_TITLES.values()), options={"tickangle": None})
    return Heatmap(
        key="tutorials_matrix",
        alt="Matrix of the largest difference of outputs between each two tutorials.",
        caption="The largest difference between two tutorials' outputs. The outputs themselves are about 1 in size.",
        values=lambda five: comparison.matrix(five.traces),
        rows=names,
        columns=names,
        bar="largest",
        hover="%{y}, %{x}<br>largest difference",
        more="a larger difference",
        number=".3g",
        written=".2f",
        gap=1,
        height=300,
        is_tabulated=False,
    )


def differences_by_point(against: str) -> Heatmap[FiveTutorials]:
    """The largest difference of the others from one tutorial, point by point, in the order of computation."""
    chosen, points = SHORT_TITLES[against], comparison.point_names()
    return Heatmap(
        key="tutorials_where",
        alt=f"Largest difference from tutorial {chosen} at each point of the forward pass, by tutorial.",
        caption=f"Where each tutorial departs from {chosen}. Columns follow the order of computation; a cell at "
        "0 is still the same. `0.attn.out` is the output of attention in layer 0, and so on.",
        values=lambda five: np.stack(list(comparison.by_point(five.traces, against).values())),
        rows=Axis("tutorial", lambda _: [title for letter, title in SHORT_TITLES.items() if letter != against]),
        columns=Axis("point of the forward pass", lambda _: [point.removeprefix("layers.") for point in points]),
        bar="largest",
        hover="%{y}, %{x}<br>largest difference",
        more="a larger difference",
        number=".3g",
        gap=1,
        height=300,
        table=lambda five: pd.DataFrame(comparison.by_point(five.traces, against), index=pd.Index(points)),
    )


def _explain_differences(five: FiveTutorials, against: str) -> Iterator[str]:
    """Of each other tutorial, where its numbers part from one, and why: a list, in lines of markdown."""
    causes = sorted(five.find_causes(against), key=lambda cause: -cause.effect)
    for letter, differences in comparison.by_point(five.traces, against).items():
        start = comparison.first_apart(differences).removeprefix("layers.")
        yield f"- **{SHORT_TITLES[letter]}** gives other numbers than {SHORT_TITLES[against]} from `{start}` on:"
        yield from (f"    - {_describe_cause(cause, against)}" for cause in causes if cause.letter == letter)


def _describe_cause(cause: Cause, against: str) -> str:
    effect = _write_difference(cause.effect) if cause.effect > comparison.APART else "nothing: only the layout differs"
    here, there = (name_value(cause.field, comparison.small_config(each)) for each in (cause.letter, against))
    return f"**{PROPERTIES_OF_FIELDS[cause.field]}**: *{here}* instead of *{there}* ({effect})"
