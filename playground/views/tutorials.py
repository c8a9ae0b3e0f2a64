"""The page Tutorials: what the one that a student follows computes otherwise, where to see it, and all five."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    LabelledBars,
    LabelledRows,
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
from playground.text.wording import upper_first
from playground.tutorials import comparison
from playground.tutorials.comparison import DEPARTURES, NAMES, SHORT_TITLES, SIZES, Cause, Row
from playground.tutorials.tutorial_texts import TUTORIALS, Topic
from playground.views.mistakes import show_mistake

PAPER = "E"
"""The tutorial that computes the encoder of the paper (Vaswani et al. 2017)."""

AGAINST = Control("tutorials_against", "Compare the others with")

IN_YOUR_CODE = Topic("Find such a mistake in your own code, by the numbers that it computes.", "diagnosis")


@dataclass(frozen=True)
class FiveTutorials:
    """Small encoders of the five, with the same weights, drawn from a seed."""

    seed: int
    traces: Mapping[str, Trace]
    """By the tutorials' letters."""
    find_causes: Callable[[str], Sequence[Cause]]
    """Return why the others give other numbers than the tutorial of this letter."""


def trace_tutorials(seed: int) -> dict[str, Trace]:
    """Return every intermediate of one sentence, by the tutorials' letters."""
    return {letter: comparison.trace_of(comparison.small_config(letter), seed) for letter in NAMES}


def read_five(
    seed: int,
    trace: Callable[[int], Mapping[str, Trace]] = trace_tutorials,
    find_causes: Callable[[str, int], Sequence[Cause]] = comparison.causes,
) -> Scene[FiveTutorials]:
    """Return the five with weights of a seed; the app caches what `trace` and `find_causes` compute."""
    return Scene(FiveTutorials(seed, trace(seed), lambda letter: find_causes(letter, seed)))


def linked_tutorials(view: LinkedView) -> Scene[FiveTutorials]:
    """Return what a link's page looks at."""
    return read_five(view.seed)


def show_tutorials(scene: Scene[FiveTutorials], options: Options) -> Iterator[Item]:
    """Yield what is different in the chosen tutorial, what it teaches where, and panels."""
    five, letter = scene.now, options["tutorials_letter"]
    yield Paragraph(answer_what_is_different(five, letter), "answer")
    yield Control("tutorials_letter", "Which one do you follow?")
    if letter != PAPER:
        yield show_departures(letter)
    yield from show_topics(letter)
    shown: dict[str, tuple[str, Callable[[], Iterator[Item]]]] = {
        "mistakes": (
            f"Mistakes in its text and code: {len(TUTORIALS[letter].mistakes)}",
            lambda: show_mistakes(letter),
        ),
        "five": ("All five side by side", show_side_by_side),
        "differences": (
            "Where the numbers of the five part, and why",
            lambda: show_differences(five, options["tutorials_against"]),
        ),
    }
    for name, (title, show) in shown.items():
        yield fill_panel(options, f"tutorials_{name}", title, show, closed=(AGAINST,) if name == "differences" else ())


def answer_what_is_different(five: FiveTutorials, letter: str) -> str:
    """Return how far the chosen tutorial is from the paper, and its main cause."""
    distance = comparison.apart_by(five.traces[letter], five.traces[PAPER])
    reasons = [f" Mainly because {DEPARTURES[each.field, each.here][1]}." for each in _departures(five, letter)]
    return (
        f"With the same random weights, outputs of **tutorial {letter}** and of the paper (Vaswani et al. 2017) differ "
        f"by up to **{distance:.2f}**.{''.join(reasons[:1])}"
    )


def _departures(five: FiveTutorials, letter: str) -> list[Cause]:
    """Return what a tutorial does otherwise than the paper, which names no ε; the largest effect first."""
    causes = [cause for cause in five.find_causes(PAPER) if cause.letter == letter and cause.field != "norm_eps"]
    return sorted(causes, key=lambda cause: -cause.effect)


def show_departures(letter: str) -> LabelledBars[FiveTutorials]:
    """Return how far each thing that a tutorial does otherwise than the paper moves an output."""

    def bars(five: FiveTutorials) -> LabelledRows:
        causes = _departures(five, letter)
        names, effects = [DEPARTURES[each.field, each.here][0] for each in causes], [each.effect for each in causes]
        colours, texts = [palette.ATTENTION] * len(causes), [f"{effect:.2f}" for effect in effects]
        return LabelledRows(names, effects, colours, texts, "largest difference of an output")

    return LabelledBars(
        key="tutorials_effects",
        alt=f"Bars: what is different in tutorial {SHORT_TITLES[letter]}, by how far it moves an output",
        caption="The largest change of any output if this one thing is done in the paper's encoder, in small untrained "
        "encoders whose outputs are about 1. The bars do not add up.",
        bars=bars,
        table=lambda five: pd.DataFrame({"largest difference": bars(five).values}, index=pd.Index(bars(five).labels)),
    )


def show_topics(letter: str) -> Iterator[Item]:
    """Yield what a tutorial is, and the page that shows each thing that it teaches."""
    tutorial, preset = TUTORIALS[letter], PRESETS[NAMES[letter]]
    yield Paragraph("What it teaches, and the page that shows it", "header")
    yield Paragraph(tutorial.what)
    brought = "architecture and sentence" if preset.text else "architecture"
    whole = Topic(f"Everything, with tutorial {letter}'s {brought} in the sidebar.", "overview")
    for number, topic in enumerate((whole, *tutorial.topics)):
        yield _open_topic(topic, f"tutorials_open_{number or 'overview'}", letter)


def _open_topic(topic: Topic, key: str, letter: str) -> Widget:
    return Widget("tutorial_topic", {"topic": topic, "key": key, "preset": NAMES[letter]})


def show_mistakes(letter: str) -> Iterator[Item]:
    """Yield what is wrong in one tutorial, with what comes of it, computed."""
    for number, mistake in enumerate(TUTORIALS[letter].mistakes, start=1):
        said = Paragraph(f"**{upper_first(mistake.where)}**: {mistake.printed}. {mistake.happens}".rstrip())
        evidence = [Paragraph(f":material/play_arrow: {mistake.demonstrate()}", "caption")] * bool(
            mistake.demonstration
        )
        same = (item for key in mistake.keys for item in show_mistake(MISTAKES[key], PRESETS[NAMES[letter]].config))
        yield Group(f"tutorials_mistake_{number}", (said, *evidence, *same), is_card=True)
    yield _open_topic(IN_YOUR_CODE, "tutorials_diagnosis", letter)


def show_side_by_side() -> Iterator[Item]:
    """Yield every property of the five; cells that differ from most are marked."""
    yield Table[FiveTutorials](key="tutorials_properties", frame=lambda _: list_properties(), is_markdown=True)
    yield Paragraph("A violet cell differs from most of the five.", "caption")


def list_properties() -> pd.DataFrame:
    """Return a row a property, a column a tutorial, in markdown."""
    rows = comparison.build_table()
    columns = {SHORT_TITLES[letter]: [_format_cell(row, letter) for row in rows] for letter in NAMES}
    columns["a difference changes"] = [row.changes for row in rows]
    return pd.DataFrame(columns, index=pd.Index([f"**{row.name}**" for row in rows]))


def _format_cell(row: Row, letter: str) -> str:
    text = f":violet-background[{row.cells[letter]}]" if letter in row.unusual() else row.cells[letter]
    return f"{text} ({row.notes[letter]})" if letter in row.notes else text


def show_differences(five: FiveTutorials, against: str) -> Iterator[Item]:
    """Yield how far apart the outputs are, where that begins, and which field it comes from."""
    yield Paragraph(
        f"Five small encoders with the same weights (seed {five.seed}) read the same {SIZES['vocab_size']} words: "
        f"d_model {SIZES['d_model']}, {SIZES['n_heads']} heads, {SIZES['n_layers']} layers, untrained, in double "
        f"precision. {SHORT_TITLES['C']} expects positions to be added already; here it gets the standard ones."
    )
    yield Columns(((differences_of_outputs(),), (AGAINST, differences_by_point(against))), shares=(2, 3))
    yield Table[FiveTutorials](
        key="tutorials_causes",
        frame=lambda five: list_causes(five, against),
        formats={"output moves by": "%.3g"},
        shows_index=False,
        title=f"Why, compared with {SHORT_TITLES[against]}",
    )
    torchs, here = (comparison.position_share(each, five.seed) for each in reversed(get_args(Initialisation)))
    yield Paragraph(
        "“Output moves by”: at most, if this one thing alone is changed; these effects do not add up. Initial weights "
        f"differ too: in {SHORT_TITLES['A']} a position is {torchs:.2f} × as long as the token's vector that it is "
        f"added to; with the weights drawn here, {here:.2f} ×.",
        "caption",
    )


def list_causes(five: FiveTutorials, against: str) -> pd.DataFrame:
    """Return a row for each thing that a tutorial does otherwise than one, and where their numbers part."""
    starts = {
        letter: comparison.first_apart(differences).removeprefix("layers.")
        for letter, differences in comparison.by_point(five.traces, against).items()
    }
    return pd.DataFrame(
        [
            {
                "tutorial": SHORT_TITLES[cause.letter],
                "first differs at": starts[cause.letter],
                "property": comparison.PROPERTIES_OF_FIELDS[cause.field],
                "there": comparison.name_value(cause.field, comparison.small_config(cause.letter)),
                "instead of": comparison.name_value(cause.field, comparison.small_config(against)),
                "output moves by": cause.effect if cause.effect > comparison.APART else 0.0,
            }
            for cause in sorted(five.find_causes(against), key=lambda cause: (cause.letter, -cause.effect))
        ]
    )


_DIFFERENCES: Mapping[str, Any] = {
    "bar": "largest",
    "hover": "%{y}, %{x}<br>largest difference",
    "more": "a larger difference",
    "number": ".3g",
    "gap": 1,
    "height": 300,
}
"""Fields that both maps of differences share."""


def differences_of_outputs() -> Heatmap[FiveTutorials]:
    """Return the largest difference of outputs between each two tutorials."""
    names: Axis[FiveTutorials] = Axis("tutorial", lambda _: list(SHORT_TITLES.values()), options={"tickangle": None})
    return Heatmap(
        key="tutorials_matrix",
        alt="Matrix of the largest difference of outputs between each two tutorials.",
        caption="The largest difference between two tutorials' outputs, which are about 1 in size.",
        values=lambda five: comparison.matrix(five.traces),
        rows=names,
        columns=names,
        written=".2f",
        is_tabulated=False,
        **_DIFFERENCES,
    )


def differences_by_point(against: str) -> Heatmap[FiveTutorials]:
    """Return the largest difference of the others from one tutorial, point by point, in the order of computation."""
    chosen, points = SHORT_TITLES[against], comparison.point_names()
    return Heatmap(
        key="tutorials_where",
        alt=f"Largest difference from tutorial {chosen} at each point of the forward pass, by tutorial.",
        caption=f"Where each tutorial departs from {chosen}; columns follow the order of computation.",
        values=lambda five: np.stack(list(comparison.by_point(five.traces, against).values())),
        rows=Axis("tutorial", lambda _: [title for letter, title in SHORT_TITLES.items() if letter != against]),
        columns=Axis("point of the forward pass", lambda _: [point.removeprefix("layers.") for point in points]),
        **_DIFFERENCES,
    )
