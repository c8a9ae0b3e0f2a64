"""The page Tutorials: what the one that a student follows computes otherwise, where to see it, and all five."""

from collections.abc import Iterator, Mapping
from typing import Any

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
    Options,
    Paragraph,
    Table,
    Widget,
    fill_panel,
)
from playground.charts.scene import Scene
from playground.link.opening import LinkedView
from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.text.wording import upper_first
from playground.tutorials import comparison
from playground.tutorials.comparison import DEPARTURES, NAMES, SHORT_TITLES, SIZES, Cause, trace_all
from playground.tutorials.demonstrations import TUTORIALS, Topic
from playground.views.diagnosis import show_mistake
from playground.words import say

PAPER = "E"
"""The tutorial that computes the encoder of the paper (Vaswani et al. 2017)."""


def tutorials_scene(view: LinkedView) -> Scene[int]:
    """Return the seed that small encoders of the five are drawn from."""
    return Scene(view.values["seed"])


def show_tutorials(scene: Scene[int], options: Options) -> Iterator[Item]:
    """Yield what is different in the chosen tutorial, what it teaches where, and panels."""
    seed, letter, against = scene.now, options["tutorials_letter"], options["tutorials_against"]
    distance = comparison.apart_by(trace_all(seed)[letter], trace_all(seed)[PAPER])
    reason = next((DEPARTURES[each.field, each.here][1] for each in _list_departures(seed, letter)), "none")
    answer = say("tutorials", "answer", letter=letter, distance=f"{distance:.2f}", reason=reason)
    yield Paragraph(answer, "answer")
    yield Control("tutorials_letter", say("tutorials", "follow"))
    if letter != PAPER:
        yield _show_departures(seed, letter)
    yield from _show_topics(letter)
    choice = Control("tutorials_against", say("tutorials", "against"))
    flaws = say("tutorials", "flaws", number=len(TUTORIALS[letter].flaws))
    yield fill_panel(options, "tutorials_mistakes", flaws, lambda: _show_flaws(letter))
    yield fill_panel(options, "tutorials_five", say("tutorials", "five"), _show_side_by_side)
    title = say("tutorials", "differences")
    yield fill_panel(
        options, "tutorials_differences", title, lambda: _show_differences(seed, against, choice), closed=(choice,)
    )


def _list_departures(seed: int, letter: str) -> list[Cause]:
    """Return what a tutorial does otherwise than the paper, which names no ε; the largest effect first."""
    causes = [each for each in comparison.causes(PAPER, seed) if each.letter == letter and each.field != "norm_eps"]
    return sorted(causes, key=lambda cause: -cause.effect)


def _show_departures(seed: int, letter: str) -> LabelledBars[int]:
    effects = {DEPARTURES[each.field, each.here][0]: each.effect for each in _list_departures(seed, letter)}
    return LabelledBars(
        key="tutorials_effects",
        alt=say("tutorials", "effects.alt", title=SHORT_TITLES[letter]),
        caption=say("tutorials", "effects.caption"),
        labels=[*effects],
        values=[*effects.values()],
        colours=[palette.ATTENTION] * len(effects),
        texts=[f"{effect:.2f}" for effect in effects.values()],
        title=say("tutorials", "effects.value"),
        table=lambda _: pd.DataFrame({"largest difference": effects}),
    )


def _show_topics(letter: str) -> Iterator[Item]:
    tutorial, brought = TUTORIALS[letter], "text" if PRESETS[NAMES[letter]].text else "config"
    yield Paragraph(say("tutorials", "topics"), "header")
    yield Paragraph(tutorial.what)
    whole = Topic(say("tutorials", "whole", letter=letter, brought=brought), "overview")
    for number, topic in enumerate((whole, *tutorial.topics)):
        yield _open_topic(topic, f"tutorials_open_{number or 'overview'}", letter)


def _open_topic(topic: Topic, key: str, letter: str) -> Widget:
    return Widget("tutorial_topic", {"topic": topic, "key": key, "preset": NAMES[letter]})


def _show_flaws(letter: str) -> Iterator[Item]:
    for number, flaw in enumerate(TUTORIALS[letter].flaws, start=1):
        said = say("tutorials", "flaw", where=upper_first(flaw.where), printed=flaw.printed, happens=flaw.happens)
        items: list[Item] = [Paragraph(said.rstrip())]
        if flaw.demonstration is not None:
            items.append(Paragraph(f":material/play_arrow: {flaw.demonstrate()}", "caption"))
        for key in flaw.keys:
            items += show_mistake(MISTAKES[key], PRESETS[NAMES[letter]].config)
        yield Group(f"tutorials_mistake_{number}", tuple(items), is_card=True)
    yield _open_topic(Topic(say("tutorials", "own-code"), "diagnosis"), "tutorials_diagnosis", letter)


def _show_side_by_side() -> Iterator[Item]:
    yield Table[int](key="tutorials_properties", frame=lambda _: list_properties(), is_markdown=True)
    yield Paragraph(say("tutorials", "five.caption"), "caption")


def list_properties() -> pd.DataFrame:
    """Return a row a property, a column a tutorial, in markdown."""
    rows = {name: dict(row) for name, row in comparison.read_properties().items()}
    for name, row in rows.items():
        row.update({letter: f":violet-background[{row[letter]}]" for letter in comparison.find_unusual(row)})
        row.update({letter: f"{row[letter]} ({note})" for letter, note in comparison.NOTES.get(name, {}).items()})
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.rename(index=lambda name: f"**{name}**", columns=SHORT_TITLES)


def _show_differences(seed: int, against: str, choice: Control) -> Iterator[Item]:
    sizes = {"words": SIZES["vocab_size"], "width": SIZES["d_model"], "heads": SIZES["n_heads"]}
    about = {"seed": str(seed), "layers": SIZES["n_layers"], "vectors": SHORT_TITLES["C"]}
    yield Paragraph(say("tutorials", "differences.about", **sizes, **about))
    yield Columns(((_differences_of_outputs(),), (choice, _differences_by_point(against))), shares=(2, 3))
    yield Table[int](
        key="tutorials_causes",
        frame=lambda seed: list_causes(seed, against),
        formats={"output moves by": "%.3g"},
        shows_index=False,
        title=say("tutorials", "causes", title=SHORT_TITLES[against]),
    )
    yield Paragraph(say("tutorials", "causes.caption"), "caption")


def list_causes(seed: int, against: str) -> pd.DataFrame:
    """Return a row for each thing that a tutorial does otherwise than one, and where their numbers part."""
    differences = comparison.by_point(trace_all(seed), against)
    return pd.DataFrame(
        [
            {
                "tutorial": SHORT_TITLES[cause.letter],
                "first differs at": comparison.first_apart(differences[cause.letter]).removeprefix("layers."),
                "property": comparison.PROPERTIES_OF_FIELDS[cause.field],
                "there": comparison.name_value(cause.field, comparison.small_config(cause.letter)),
                "instead of": comparison.name_value(cause.field, comparison.small_config(against)),
                "output moves by": cause.effect if cause.effect > comparison.APART else 0.0,
            }
            for cause in sorted(comparison.causes(against, seed), key=lambda cause: (cause.letter, -cause.effect))
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


def _differences_of_outputs() -> Heatmap[int]:
    names: Axis[int] = Axis("tutorial", lambda _: list(SHORT_TITLES.values()), options={"tickangle": None})
    return Heatmap(
        key="tutorials_matrix",
        alt=say("tutorials", "outputs.alt"),
        caption=say("tutorials", "outputs.caption"),
        values=lambda seed: comparison.matrix(trace_all(seed)),
        rows=names,
        columns=names,
        written=".2f",
        is_tabulated=False,
        **_DIFFERENCES,
    )


def _differences_by_point(against: str) -> Heatmap[int]:
    points = [point.removeprefix("layers.") for point in comparison.point_names()]
    others = [title for letter, title in SHORT_TITLES.items() if letter != against]
    return Heatmap(
        key="tutorials_where",
        alt=say("tutorials", "points.alt", title=SHORT_TITLES[against]),
        caption=say("tutorials", "points.caption", title=SHORT_TITLES[against]),
        values=lambda seed: np.stack(list(comparison.by_point(trace_all(seed), against).values())),
        rows=Axis("tutorial", lambda _: others),
        columns=Axis("point of the forward pass", lambda _: points),
        **_DIFFERENCES,
    )
