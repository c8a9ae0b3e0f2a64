"""Regularisers: runs with and without, side by side, and what each of the ten does."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.charts import figure as figures
from playground.charts import palette
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
from playground.words import say


@dataclass(frozen=True)
class ReadyComparison:
    """Two runs that show what one regulariser is for."""

    name: str
    """What its button's key and its words end with."""
    settings: Mapping[str, Any]
    """The page's parameters that it sets."""


READY = (
    ReadyComparison(
        "dropout",
        {
            "regularisers_task": "Sort", "regularisers_data": "small",
            "regularisers_chosen": ["Dropout on attention weights"], "regularisers_dropout_attention": 0.3,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "smoothing",
        {
            "regularisers_task": "Copy, taught with errors", "regularisers_data": "small",
            "regularisers_chosen": ["Label smoothing"], "regularisers_label_smoothing": 0.5,
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "clipping",
        {
            "regularisers_task": "Copy", "regularisers_data": "plenty",
            "regularisers_chosen": ["Gradient clipping"], "regularisers_clip": 0.25,
            "regularisers_optimizer": "sgd", "regularisers_lr": 1, "regularisers_seeds": "1",
        },
    ),
    ReadyComparison(
        "no_causal_mask",
        {
            "regularisers_task": "Next character", "regularisers_data": "small",
            "regularisers_chosen": ["Without causal mask"],
            "regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1",
        },
    ),
)  # fmt: skip
"""Tried with the seeds 0 to 4: what is to be expected was seen with each of them."""

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
                        Paragraph(say("regularisers", f"ready-{each.name}")),
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
    case, numbers = find_change(scene.now.state)
    yield Paragraph(f"{untrained} {say('regularisers', f'answer-{case}', **numbers)}".strip(), "answer")


def find_change(state: VariantsState) -> tuple[str, dict[str, Any]]:
    """Return the plain run's share of right answers, that of the regulariser that changed most, and how sure that is.

    The case: `begun`, nothing was measured; `plain`, of one run alone; `seed` and `seeds`, how many seeds there are.
    """
    effects = list(measure_effects(state).values())
    if not effects:
        return "begun", {}
    plain, *others = effects
    if not others:
        return "plain", {"plain": plain.accuracy}
    most = max(others, key=lambda effect: abs(effect.accuracy_change))
    noise = f"{100 * difference_noise(plain.accuracy, state.n_answers * plain.n_seeds):.1f}"
    numbers = {"plain": plain.accuracy, "right": most.accuracy, "title": most.run.title, "runs": len(others)}
    if plain.n_seeds == 1:
        return "seed", numbers | {"noise": noise}
    return "seeds", numbers | {"noise": noise, "spread": f"{100 * most.accuracy_spread:.1f}", "seeds": plain.n_seeds}


def show_curves(scene: Scene[WatchedVariants], options: Options) -> Iterator[Item]:
    """Every run's accuracy or loss on both sets, under one legend."""
    yield Widget("legend", {"key": "regularisers_key", "entries": list_legend(scene.now)})
    measured = options["regularisers_measure"]
    new, known = Paragraph(say("regularisers", "set-validation")), Paragraph(say("regularisers", "set-train"))
    charts = (runs_by_step(scene.now, name, measured) for name in ("validation", "train"))
    yield Columns(tuple(zip((new, known), charts, strict=True)))


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
    yield Paragraph(say("regularisers", "table.caption"), "caption")
    yield Table[WatchedVariants](
        key="regularisers_curves",
        frame=lambda watched: tabulate_runs(watched, options["regularisers_measure"]),
        is_folded=True,
        title=say("regularisers", "curves"),
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
        "train": say("regularisers", "set-train.caption"),
        "validation": say("regularisers", "set-validation.caption", rule=watched.data.task.rule),
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
    level_line = figures.level_line(n_steps, level, text, width=1, dash="dot")
    return figures.draw_over_steps(
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
