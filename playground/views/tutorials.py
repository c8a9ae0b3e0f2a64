"""The page Tutorials."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Button,
    Control,
    Group,
    Heatmap,
    Item,
    LabelledBars,
    Options,
    Paragraph,
    Table,
    fill_panel,
)
from playground.charts.scene import Scene
from playground.link.opening import LinkedView
from playground.link.params import SMALL, TASK_TITLES
from playground.link.query import needed_panels, values_of_preset
from playground.mistakes.registry import MISTAKES
from playground.pages import page_at
from playground.presets import PRESETS
from playground.text.wording import upper_first
from playground.training.tasks import TASKS
from playground.tutorials import (
    DEPARTURES,
    NAMES,
    NOTES,
    PAPER,
    SHORT_TITLES,
    SIZES,
    TUTORIALS,
    Topic,
    apart_by,
    by_point,
    effects,
    find_unusual,
    point_names,
    read_properties,
    small_config,
    trace_all,
)
from playground.views.diagnosis import show_lines
from playground.words import say


def tutorials_scene(view: LinkedView) -> Scene[int]:
    """Return the seed."""
    return Scene(view.values["seed"])


def show_tutorials(scene: Scene[int], options: Options) -> Iterator[Item]:
    """Yield what is different in the chosen tutorial, what it teaches, and panels."""
    seed, letter = scene.now, options["tutorials_letter"]
    distance = apart_by(trace_all(seed)[letter]["final"], trace_all(seed)[PAPER]["final"])
    reason = next((sentence for _, sentence in _list_departures(seed, letter)), "none")
    answer = say("tutorials", "answer", letter=letter, distance=f"{distance:.2f}", reason=reason)
    yield Paragraph(answer, "answer")
    yield Control("tutorials_letter", say("tutorials", "follow"))
    if letter != PAPER:
        yield _show_departures(seed, letter)
    yield from _show_topics(letter)
    flaws, differences = say("tutorials", "flaws", number=len(TUTORIALS[letter].flaws)), say("tutorials", "differences")
    five = Table[int](key="tutorials_properties", frame=lambda _: list_properties(), is_markdown=True)
    caption = Paragraph(say("tutorials", "five.caption"), "caption")
    yield fill_panel(options, "tutorials_mistakes", flaws, lambda: _show_flaws(letter))
    yield fill_panel(options, "tutorials_five", say("tutorials", "five"), lambda: (five, caption))
    yield fill_panel(options, "tutorials_differences", differences, lambda: _show_differences(seed))


def _list_departures(seed: int, letter: str) -> dict[tuple[str, str], float]:
    """Return departures from the paper, which names no ε, the largest effect first."""
    found = {field: effect for (of, field), effect in effects(seed).items() if of == letter and field != "norm_eps"}
    order = sorted(found, key=found.__getitem__, reverse=True)
    return {DEPARTURES[field, getattr(small_config(letter), field)]: found[field] for field in order}


def _show_departures(seed: int, letter: str) -> LabelledBars[int]:
    moved = {short: effect for (short, _), effect in _list_departures(seed, letter).items()}
    return LabelledBars(
        key="tutorials_effects",
        alt=say("tutorials", "effects.alt", title=SHORT_TITLES[letter]),
        caption=say("tutorials", "effects.caption"),
        labels=[*moved],
        values=[*moved.values()],
        colours=[palette.ATTENTION] * len(moved),
        texts=[f"{effect:.2f}" for effect in moved.values()],
        title=say("tutorials", "effects.value"),
        table=lambda _: pd.DataFrame({"largest difference": moved}),
    )


def _show_topics(letter: str) -> Iterator[Item]:
    tutorial, brought = TUTORIALS[letter], "text" if PRESETS[NAMES[letter]].text else "config"
    yield Paragraph(say("tutorials", "topics"), "header")
    yield Paragraph(tutorial.what)
    whole = Topic(say("tutorials", "whole", letter=letter, brought=brought), "overview")
    for number, topic in enumerate((whole, *tutorial.topics)):
        yield _open_topic(topic, f"tutorials_open_{number or 'overview'}", letter)


def _open_topic(topic: Topic, key: str, letter: str) -> Group:
    """Return a button that opens a topic's page, and the topic's sentence."""
    preset, panels = values_of_preset(NAMES[letter], has_wordpiece=True), needed_panels({*topic.settings, topic.target})
    chooses = {"weights": "random", **preset, "causal": False, **panels, **topic.settings}
    if task := topic.settings.get("training_task"):
        defaults = TASKS[TASK_TITLES[str(task)]].defaults
        chooses |= {**SMALL, **{f"training_{name}": value for name, value in defaults.items()}}
    title = page_at(topic.page).title
    button = Button(key, title, chooses, opens=topic.page, scrolls=topic.target)
    return Group("", (button, Paragraph(topic.text)), is_row=True)


def _show_flaws(letter: str) -> Iterator[Item]:
    for number, flaw in enumerate(TUTORIALS[letter].flaws, start=1):
        said = say("tutorials", "flaw", where=upper_first(flaw.where), printed=flaw.printed, happens=flaw.happens)
        items: list[Item] = [Paragraph(said.rstrip())]
        if flaw.demonstration is not None:
            items.append(Paragraph(f":material/play_arrow: {flaw.demonstrate()}", "caption"))
        items += [show_lines(MISTAKES[key], PRESETS[NAMES[letter]].config) for key in flaw.keys]
        yield Group(f"tutorials_mistake_{number}", tuple(items), is_card=True)
    yield _open_topic(Topic(say("tutorials", "own-code"), "diagnosis"), "tutorials_diagnosis", letter)


def list_properties() -> pd.DataFrame:
    """Return a row a property, a column a tutorial."""
    rows = {name: dict(row) for name, row in read_properties().items()}
    for name, row in rows.items():
        row.update({letter: f":violet-background[{row[letter]}]" for letter in find_unusual(row)})
        row.update({letter: f"{row[letter]} ({note})" for letter, note in NOTES.get(name, {}).items()})
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.rename(index=lambda name: f"**{name}**", columns=SHORT_TITLES)


def _show_differences(seed: int) -> Iterator[Item]:
    sizes = {"words": SIZES["vocab_size"], "width": SIZES["d_model"], "heads": SIZES["n_heads"]}
    about = {"seed": str(seed), "layers": SIZES["n_layers"], "vectors": SHORT_TITLES["C"]}
    yield Paragraph(say("tutorials", "differences.about", **sizes, **about))
    yield Heatmap[int](
        key="tutorials_where",
        alt=say("tutorials", "points.alt", title=SHORT_TITLES[PAPER]),
        caption=say("tutorials", "points.caption", title=SHORT_TITLES[PAPER]),
        values=lambda seed: np.stack(list(by_point(seed).values())),
        rows=Axis("tutorial", lambda seed: [SHORT_TITLES[letter] for letter in by_point(seed)]),
        columns=Axis("point of the forward pass", lambda _: [name.removeprefix("layers.") for name in point_names()]),
        bar="largest",
        hover="%{y}, %{x}<br>largest difference",
        more="a larger difference",
        number=".3g",
        gap=1,
        height=300,
    )
