"""An ablation's curves and tables, run beside run, and ten regularisers with what each was measured to change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.charts import over_steps, palette
from playground.charts.chart import Columns, Control, Group, Item, Options, Paragraph, Picture, Table, Widget
from playground.charts.figure import Array, Figure
from playground.charts.scene import Scene
from playground.link.params import TASK_TITLES
from playground.text.wording import lower_first
from playground.training.ablation import (
    AblationResult,
    Effect,
    count_ended,
    group_by_name,
    trainings_of_one_seed,
)
from playground.training.ablation_report import (
    COLUMNS,
    SPREAD_COLUMNS,
    ablation_table,
    answer_ablation,
    measure_effects,
    summarise_ablation,
)
from playground.training.network import Measured
from playground.training.recipe import Recipe
from playground.training.regularisers import (
    REGULARISERS,
    TEN,
    Regulariser,
    explain_regulariser,
    reason_without_effect,
)
from playground.training.tasks import TASKS, Task
from playground.views.ablation_curves import SETS, WatchedAblation, mark_divergence, run_lines, tabulate_runs

BEFORE_ANY = (
    "Nothing is measured yet: start an experiment. Two networks learn the same task from the same sequences, one "
    "of them with a *regulariser*, which is to help with what it never saw."
)
"""The page's answer before there is one."""


@dataclass(frozen=True)
class ReadyExperiment:
    """A comparison of two runs that shows what one regulariser is for."""

    name: str
    """What its button's key ends with."""
    title: str
    expectation: str
    """What is to be seen, and why, in a sentence or two."""
    settings: Mapping[str, Any]
    """The page's parameters that it sets."""


READY = (
    ReadyExperiment(
        "dropout",
        "Learnt by heart, then dropout",
        "100 sequences are learnt by heart. Dropout hides some tokens from each head, at random. Expect more right "
        "answers to new sequences: no head can rely on one token.",
        {
            "regularisers_task": "Sort", "regularisers_data": "small",
            "regularisers_chosen": ["Dropout on attention weights"], "regularisers_dropout_attention": 0.3,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyExperiment(
        "smoothing",
        "Wrong labels, then smoothing",
        "30% of the taught answers are wrong. Label smoothing never asks for certainty. Expect more right answers: "
        "fewer errors are learnt by heart.",
        {
            "regularisers_task": "Copy, taught with errors", "regularisers_data": "small",
            "regularisers_chosen": ["Label smoothing"], "regularisers_label_smoothing": 0.5,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyExperiment(
        "clipping",
        "Exploding, then clipping",
        "With large steps one long gradient throws the weights away. Clipping shortens it. Expect the first run to "
        "fail early, and the second to learn.",
        {
            "regularisers_task": "Copy", "regularisers_data": "plenty",
            "regularisers_chosen": ["Gradient clipping"], "regularisers_clip": 0.25,
            "regularisers_optimizer": "sgd", "regularisers_lr": 1, "regularisers_seeds": "1",
        },
    ),
)  # fmt: skip
"""Tried with the seeds 0 to 4: what is to be expected was seen with each of them."""

MISSING_MASKS = (
    ReadyExperiment(
        "no_padding_mask",
        "Without the padding mask",
        "Tokens that only fill up a batch are not hidden. Expect other answers to a sequence that comes alone.",
        {
            "regularisers_task": "Sort", "regularisers_data": "plenty",
            "regularisers_chosen": ["Without padding mask"],
        },
    ),
    ReadyExperiment(
        "no_causal_mask",
        "Without the causal mask",
        "The next character is not hidden. Expect it to be copied while the network learns, and to be missed in use.",
        {
            "regularisers_task": "Next character", "regularisers_data": "small",
            "regularisers_chosen": ["Without causal mask"],
        },
    ),
)  # fmt: skip
"""What shows the absence of a mask."""

WITHOUT_MASKS = (
    "A batch is as long as its longest sequence; shorter ones are filled up with [PAD]. Without the **padding mask** "
    "these get a share of the attention, and a share that depends on the neighbours: the network learns answers that "
    "hold only in company. Without the **causal mask** a network that is asked for the next character finds it one "
    "place further on in what it reads. It learns to copy it from there, its loss falls below what anybody could reach "
    "who does not know the future. In use there is no next character yet, so what it copies from is gone."
)

TABLE_CAPTION = (
    "How much of both sets is right with the weights that a run ended with. Gap: the one minus the other, in points of "
    "a hundred. {} Loss: in use, too, in nats. ±: against the plain run. A run that stops early or "
    "diverges keeps earlier weights."
)
"""`describe_use` stands in it."""

SEEDS_CAPTION = (
    "All numbers are means over the seeds with which every run has ended; {} are planned. Spread: the highest of the "
    "seeds' ± less the lowest."
)


def _choose_lines() -> dict[str, dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = {
        "none": {"color": palette.NO_REGULARISER, "dash": "solid", "width": 3},
        "all": {"color": palette.ALL_REGULARISERS, "dash": "solid", "width": 3},
    }
    dashes: dict[str, Iterator[str]] = {}
    for field, regulariser in REGULARISERS.items():
        colour = palette.REGULARISERS[regulariser.number]
        of_colour = dashes.setdefault(colour, iter(("solid", "dash", "dot", "dashdot", "longdash")))
        lines[field] = {"color": colour, "dash": next(of_colour), "width": 2}
    return lines


LINES: Mapping[str, Mapping[str, Any]] = _choose_lines()
"""How a run is drawn, on every chart and in every session, by Plotly's names: by the regulariser's field, or `none`
and `all`. Each of the ten has a colour; those that share it are told apart by dashes."""


def show_ready_experiments() -> Iterator[Item]:
    """A card for each of `READY`, with a button that starts it."""
    cards = (
        Group(
            f"regularisers_ready_{each.name}_card",
            (
                Paragraph(f"**{each.title}**"),
                Paragraph(each.expectation, "caption"),
                Paragraph(f"The task: {lower_first(_question(each))}", "caption"),
                Widget("start_ready", {"ready": each, "label": "Start both runs", "is_first_choice": True}),
            ),
            is_card=True,
        )
        for each in READY
    )
    yield Columns(tuple((card,) for card in cards))


def _question(ready: ReadyExperiment) -> str:
    return TASKS[TASK_TITLES[ready.settings["regularisers_task"]]].question


def show_answer(scene: Scene[WatchedAblation], untrained: str = "") -> Iterator[Item]:
    """What an ablation has shown by now, in a sentence.

    `untrained`: what of the page's settings is no longer the ablation's, in sentences.
    """
    state = scene.now.state
    answer = answer_ablation(state.results, state.n_answers)
    answer = answer or "The first of these runs is training: its share of right answers comes here."
    yield Paragraph(f"{untrained} {answer}".strip(), "answer")


def show_curves(scene: Scene[WatchedAblation], options: Options) -> Iterator[Item]:
    """Every run's accuracy or loss on both sets, under one legend."""
    ablation, measured = scene.now, options["regularisers_measure"]
    yield Widget("legend", {"key": "regularisers_key", "entries": list_legend(ablation)})
    titles = {"validation": "Sequences that it never saw", "train": "Sequences that it learns from"}
    yield Columns(
        tuple((Paragraph(f"**{title}**"), runs_by_step(ablation, name, measured)) for name, title in titles.items())
    )


def show_details(scene: Scene[WatchedAblation], options: Options) -> Iterator[Item]:
    """What the runs show in words, what each of them measures, and the numbers of the curves."""
    state, n_seeds = scene.now.state, scene.now.n_seeds
    if sentences := summarise_ablation(state.results, state.n_answers):
        yield Paragraph("\n".join(f"- {sentence}" for sentence in sentences))
    yield compare_runs(n_seeds)
    caption = TABLE_CAPTION.format(describe_use(scene.now.data.task))
    yield Paragraph(caption if n_seeds == 1 else f"{caption} {SEEDS_CAPTION.format(n_seeds)}", "caption")
    if state.results:
        yield Table[WatchedAblation](
            key="regularisers_curves",
            frame=lambda each: tabulate_runs(each, options["regularisers_measure"]),
            is_folded=True,
            title="The numbers of the curves",
        )


def list_legend(ablation: WatchedAblation) -> list[dict[str, str]]:
    """Of each kind of training its name, its look, and how far it is: `done`, `growing`, or still `coming`."""
    kinds, entries = group_by_name(ablation.state.results), []
    for training in trainings_of_one_seed(ablation.state.trainings):
        results, line = kinds.get(training.name, []), LINES[training.name]
        is_done = count_ended(results) == ablation.n_seeds
        state = "done" if is_done else "growing" if results else "coming"
        entries.append({"name": training.title, "colour": line["color"], "dash": line["dash"], "state": state})
    return entries


def runs_by_step(ablation: WatchedAblation, name: str, measured: Measured) -> Picture[WatchedAblation]:
    """Every run's accuracy or loss on one of `SETS`."""
    if name == "train":
        caption = "The same on the training set. What it gets more right here than in the validation set is the *gap*."
    elif measured == "loss":
        caption = "Plain cross-entropy on the validation set, whatever a run adds to it while it learns."
    else:
        rule = ablation.data.task.rule
        caption = f"The share of right answers in the validation set. The simple rule is to {rule}."
    n = ablation.n_seeds
    if name == "validation" and n > 1:
        caption += f" A thin line is one seed: {n} lines of a look are one kind of run."
    if name == "validation" and any(result.outcome == "diverged" for result in ablation.state.results):
        caption += (
            " A cross: there a run *diverged*. Its loss got far worse than guessing, or no number, which ended it."
        )
    return Picture(
        key=f"regularisers_{name}",
        alt=f"Lines: {measured} on the {SETS[name]} by step, one line a run.",
        caption=caption,
        figure=lambda each: draw_runs(each, name, measured),
        grows=ablation.grows,
    )


def draw_runs(ablation: WatchedAblation, name: str, measured: Measured) -> Figure:
    """Accuracy or loss on one of `SETS`; both have the same axes, as long as a whole run.

    A level across all steps is what can be had without learning: the simple rule's share, or guessing's ln(classes).
    With several seeds, lines are thin.
    """
    n_steps, n_classes = ablation.state.trainings[0].recipe.steps, len(ablation.data.labels)
    if measured == "accuracy":
        level, text = ablation.data.baseline, "simple rule"
        y_axis = {"title": "accuracy: right answers", "range": [0, 1.04], "tickformat": ".0%"}
    else:
        level, text = math.log(n_classes), f"guessing: ln {n_classes}"
        losses = tabulate_runs(ablation, measured).to_numpy()
        y_axis = {"title": "loss, nats", "range": [0, choose_top(losses, n_classes)]}
    traces = [
        over_steps.level_line(n_steps, level, text, width=1, dash="dot"),
        *run_lines(ablation, name, measured, LINES),
        *mark_divergence(ablation, name, measured, LINES),
    ]
    return over_steps.draw_over_steps(traces, n_steps, y_axis, height=300)


def choose_top(losses: Array, n_classes: int) -> float:
    """Where the axes of losses end: above all that is drawn; a growing loss moves it in steps, so rarely."""
    guess = math.log(n_classes)
    highest = float(np.max(losses, where=np.isfinite(losses), initial=guess))
    return guess * max(1.5, math.ceil(2.1 * highest / guess) / 2)


def compare_runs(n_seeds: int) -> Table[WatchedAblation]:
    """What each kind of training measures beside the plain run."""
    formats = {"loss": "%.3f", "accuracy_change": "%+.1f", "loss_change": "%+.3f", "loss_spread": "%.3f"}
    columns = COLUMNS | SPREAD_COLUMNS
    widths = {title: 24 + 7 * len(title) for title in columns.values()}
    return Table(
        key="regularisers_table",
        frame=lambda ablation: ablation_table(ablation.state.results, ablation.state.trainings),
        formats={title: formats.get(short, "%.1f") for short, title in columns.items()},
        widths=widths | {COLUMNS["ending"]: 175 if n_seeds == 1 else 135},
        missing="",
    )


def describe_use(task: Task) -> str:
    """What is measured as a network in use: where batches can pad or show what comes next, it is without that."""
    without = [] if task.reads_text else ["without padding"]
    without += ["with later characters hidden"] * task.predicts_next
    so = f", so {' and '.join(without)}" if without else ", which are equally long"
    return f"In use: the validation set again, one sequence at a time{so}."


def show_catalogue(options: Options, norm: str, results: Sequence[AblationResult]) -> Iterator[Item]:
    """Ten cards, in Tutorial C's order: what each does and where, its strength, what was measured of it.

    `norm` is the architecture's, `results` are those of the ablation so far.
    """
    recipe = Recipe(task=TASK_TITLES[options["regularisers_task"]])
    effects = measure_effects(results)
    missing = f"Not {'in this comparison' if effects else 'measured yet'}."
    for number, title in TEN.items():
        card: list[Item] = [Paragraph(f"**{number} · {title}**")]
        for regulariser in REGULARISERS.values():
            if regulariser.number == number:
                effect = effects.get(regulariser.field)
                card.append(
                    _show_switch(regulariser, recipe, norm, effect, missing, is_alone=regulariser.title == title)
                )
        if number == 2:
            starts = (Widget("start_ready", {"ready": each, "label": each.title}) for each in MISSING_MASKS)
            card += [Paragraph(WITHOUT_MASKS), Group("", (Paragraph("Start both runs:"), *starts), is_row=True)]
        yield Group(f"regularisers_card_{number}", tuple(card), is_card=True, gap="small")


def _show_switch(
    regulariser: Regulariser, recipe: Recipe, norm: str, effect: Effect | None, missing: str, *, is_alone: bool
) -> Columns:
    """One switch of a card: its explanation, its strength, its effect, or what is said where that is `missing`."""
    name = "" if is_alone else f"**{regulariser.title}.** "
    explained = Paragraph(f"{name}{explain_regulariser(regulariser, norm)}")
    where = Paragraph(f"Where: {regulariser.where}.", "caption")
    strength: list[Item] = []
    if regulariser.on_by_default:
        reason = reason_without_effect(regulariser, recipe, norm)
        on = f"On in every run, unless “{regulariser.choice}” is chosen above: then one run goes without."
        strength.append(Paragraph(f"It changes nothing here: {reason}." if reason else on, "caption"))
    else:
        field = regulariser.field
        strength.append(Control(f"regularisers_{field}", f"{regulariser.scale} · `{field}`"))
    if regulariser.field == "distill":
        label = "temperature of both, before they are compared · `temperature`"
        strength.append(Control("regularisers_temperature", label))
    measured = describe_effect(regulariser, effect) if effect else missing
    explanation = Group("", (explained, where), gap="xsmall")
    return Columns(((explanation,), tuple(strength), (Paragraph(measured, "caption"),)), shares=(6, 4, 5))


def describe_effect(regulariser: Regulariser, effect: Effect) -> str:
    """Strength, task and effect of a run that has ended, and the effect's spread over several seeds."""
    recipe = effect.training.recipe
    how = "Without it" if regulariser.on_by_default else f"At {regulariser.strength_in(recipe):g}"
    spreads = ("", "")
    if effect.n_seeds > 1:
        spreads = f" (spread {100 * effect.accuracy_spread:.1f})", f" (spread {effect.loss_spread:.2f})"
        how += f", mean of {effect.n_seeds} seeds"
    return (
        f"{how}, on “{TASKS[recipe.task].title}” with {recipe.n_train:,} sequences: right answers "
        f"**{100 * effect.accuracy_change:+.1f} points**{spreads[0]}, loss **{effect.loss_change:+.2f} nats**"
        f"{spreads[1]}, gap {100 * effect.gap_change:+.1f} points."
    )
