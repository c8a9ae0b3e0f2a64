"""Regularisers: runs with and without, side by side, and what each of the ten does."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.charts import over_steps, palette
from playground.charts.chart import Columns, Group, Item, Options, Paragraph, Picture, Table, Widget
from playground.charts.figure import Array, Figure
from playground.charts.scene import Scene
from playground.training.network import Measured
from playground.training.regularisers import REGULARISERS
from playground.training.variants import (
    TABLE_COLUMNS,
    VariantsState,
    difference_noise,
    first_seed,
    measure_effects,
    tabulate_effects,
)
from playground.views.variant_curves import SETS, WatchedVariants, run_lines, tabulate_runs

BEFORE_ANY = (
    "Two networks learn the same task from the same sequences, one of them with a *regulariser*, meant to improve "
    "results on unseen data. Start a comparison."
)
"""The page's answer before there is one."""


@dataclass(frozen=True)
class ReadyComparison:
    """Two runs that show what one regulariser is for."""

    name: str
    """What its button's key ends with."""
    title: str
    expectation: str
    """What is to be seen, and why, in a sentence or two."""
    settings: Mapping[str, Any]
    """The page's parameters that it sets."""


READY = (
    ReadyComparison(
        "dropout",
        "Memorised, then dropout",
        "100 sequences are memorised. With dropout no head can rely on one token: expect more right answers.",
        {
            "regularisers_task": "Sort", "regularisers_data": "small",
            "regularisers_chosen": ["Dropout on attention weights"], "regularisers_dropout_attention": 0.3,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "smoothing",
        "Wrong labels, then smoothing",
        "30% of the taught answers are wrong. Smoothing never asks for certainty: expect more right answers.",
        {
            "regularisers_task": "Copy, taught with errors", "regularisers_data": "small",
            "regularisers_chosen": ["Label smoothing"], "regularisers_label_smoothing": 0.5,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "clipping",
        "Exploding, then clipping",
        "With large steps one long gradient ruins the weights. Clipping shortens it: expect only that run to learn.",
        {
            "regularisers_task": "Copy", "regularisers_data": "plenty",
            "regularisers_chosen": ["Gradient clipping"], "regularisers_clip": 0.25,
            "regularisers_optimizer": "sgd", "regularisers_lr": 1, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "no_causal_mask",
        "Without the causal mask",
        "The next character is not hidden: expect it to be copied in training, and missed in use.",
        {
            "regularisers_task": "Next character", "regularisers_data": "small",
            "regularisers_chosen": ["Without causal mask"],
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
)  # fmt: skip
"""Tried with the seeds 0 to 4: what is to be expected was seen with each of them."""

TABLE_CAPTION = (
    "Means over the seeds. Gap: training minus validation. In use: the validation set again, one sequence at a time, "
    "without padding and with later characters hidden. ±: against the plain run. Spread: the seeds' highest ± points "
    "less their lowest. Loss in nats."
)

LINES: Mapping[str, Mapping[str, Any]] = {
    "none": {"color": palette.NO_REGULARISER, "dash": "solid", "width": 3},
    **{
        field: {"color": palette.REGULARISERS[number], "dash": "dash" if number == len(REGULARISERS) else "solid",
                "width": 2}
        for number, field in enumerate(REGULARISERS, 1)
    },
}  # fmt: skip
"""How a run is drawn, by Plotly's names; both kinds of dropout have one colour."""


def show_ready() -> Iterator[Item]:
    """A card for each of `READY`, with a button that starts it."""
    yield Columns(
        tuple(
            (
                Group(
                    f"regularisers_ready_{each.name}_card",
                    (
                        Paragraph(f"**{each.title}.** {each.expectation}"),
                        Widget("start_ready", {"ready": each}),
                    ),
                    is_card=True,
                ),
            )
            for each in READY
        )
    )


def show_answer(scene: Scene[WatchedVariants], untrained: str = "") -> Iterator[Item]:
    """What the runs have shown by now; `untrained` is what of the page's settings they do not have."""
    yield Paragraph(f"{untrained} {answer_variants(scene.now.state)}".strip(), "answer")


def answer_variants(state: VariantsState) -> str:
    """Return what the regulariser that changed most has changed, in two numbers, and how sure that is (markdown)."""
    effects = list(measure_effects(state).values())
    if not effects:
        return "The plain run is training: its share of right answers comes here."
    plain, *others = effects
    usual, n_seeds = plain.accuracy, plain.n_seeds
    if not others:
        return f"The **plain run** gives **{usual:.1%}** right answers to sequences that it never saw."
    most = max(others, key=lambda effect: abs(effect.accuracy_change))
    noise = 100 * difference_noise(usual, state.n_answers * n_seeds)
    sure = f"Up to {noise:.1f} points can be chance, and one seed each can be luck: three tell more."
    if n_seeds > 1:
        spread = 100 * most.accuracy_spread
        sure = (
            f"Means of {n_seeds} seeds, whose changes lie {spread:.1f} points apart; up to {noise:.1f} can be chance."
        )
    return (
        f"Largest change of {len(others)}: **{most.run.title}** gives **{most.accuracy:.1%}** right answers "
        f"to sequences that it never saw, the plain run **{usual:.1%}**. {sure}"
    )


def show_curves(scene: Scene[WatchedVariants], options: Options) -> Iterator[Item]:
    """Every run's accuracy or loss on both sets, under one legend."""
    yield Widget("legend", {"key": "regularisers_key", "entries": list_legend(scene.now)})
    titles = {"validation": "Sequences that it never saw", "train": "Sequences that it learns from"}
    measured = options["regularisers_measure"]
    yield Columns(
        tuple((Paragraph(f"**{title}**"), runs_by_step(scene.now, name, measured)) for name, title in titles.items())
    )


def show_details(options: Options) -> Iterator[Item]:
    """What each variant measures beside the plain run, and the numbers of the curves."""
    formats = {"loss": "%.3f", "± points": "%+.1f", "± nats": "%+.3f"}
    yield Table[WatchedVariants](
        key="regularisers_table",
        frame=lambda watched: tabulate_effects(watched.state),
        formats={column: formats.get(column, "%.1f") for column in TABLE_COLUMNS[:-1]},
        widths={column: 24 + 7 * len(column) for column in TABLE_COLUMNS[:-1]} | {"outcome": 135},
        missing="",
    )
    yield Paragraph(TABLE_CAPTION, "caption")
    yield Table[WatchedVariants](
        key="regularisers_curves",
        frame=lambda watched: tabulate_runs(watched, options["regularisers_measure"]),
        is_folded=True,
        title="The numbers of the curves",
    )


def list_legend(watched: WatchedVariants) -> list[dict[str, str]]:
    """Return each variant's name, its look, and how far it is: `done`, `growing`, or still `coming`."""
    variants, entries = watched.state.by_variant, []
    for run in first_seed(watched.state.runs):
        results, line = variants.get(run.name, []), LINES[run.name]
        is_done = sum(result.has_ended for result in results) == watched.n_seeds
        state = "done" if is_done else "growing" if results else "coming"
        entries.append({"name": run.title, "colour": line["color"], "dash": line["dash"], "state": state})
    return entries


def runs_by_step(watched: WatchedVariants, name: str, measured: Measured) -> Picture[WatchedVariants]:
    """Every run's accuracy or loss on one of `SETS`."""
    captions = {
        "train": "What it gets more right here than there is the *gap*.",
        "validation": f"Dotted: without learning; for accuracy, to {watched.data.task.rule}. A line is a run with one "
        "seed. A cross: it *diverged*, and ended there.",
    }
    return Picture(
        key=f"regularisers_{name}",
        alt=f"Lines: {measured} on the {SETS[name]} by step, one line a run.",
        caption=captions[name],
        figure=lambda each: draw_runs(each, name, measured),
        grows=watched.grows,
    )


def draw_runs(watched: WatchedVariants, name: str, measured: Measured) -> Figure:
    """Accuracy or loss on one of `SETS`; both have the same axes, as long as a whole run.

    A level across all steps is what can be had without learning: the simple rule's share, or guessing's ln(classes).
    """
    n_steps, n_classes = watched.state.runs[0].recipe.steps, len(watched.data.labels)
    if measured == "accuracy":
        level, text = watched.data.baseline, "simple rule"
        y_axis = {"title": "accuracy: right answers", "range": [0, 1.04], "tickformat": ".0%"}
    else:
        level, text = math.log(n_classes), f"guessing: ln {n_classes}"
        losses = tabulate_runs(watched, measured).to_numpy()
        y_axis = {"title": "loss, nats", "range": [0, choose_top(losses, n_classes)]}
    level_line = over_steps.level_line(n_steps, level, text, width=1, dash="dot")
    return over_steps.draw_over_steps(
        [level_line, *run_lines(watched, name, measured, LINES)], n_steps, y_axis, height=300
    )


def choose_top(losses: Array, n_classes: int) -> float:
    """Return where the axes of losses end: above all that is drawn; a growing loss moves it in steps, so rarely."""
    guess = math.log(n_classes)
    highest = float(np.max(losses, where=np.isfinite(losses), initial=guess))
    return guess * max(1.5, math.ceil(2.1 * highest / guess) / 2)


def explain_ten() -> str:
    """Return a table of the ten: what each does and where (markdown)."""
    rows = (f"| {each.title} | {each.explanation} | {each.where} |" for each in REGULARISERS.values())
    return "\n".join(("| | what it does | where |", "|-|-|-|", *rows))
