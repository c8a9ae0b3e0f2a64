"""Regularisers: runs with and without, side by side, and what each of the ten does."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Columns, Group, Item, Options, Paragraph, Picture, Table, Widget
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.training.network import Measured
from playground.training.variants import REGULARISERS, VariantsState, difference_noise, first_seed, measure_effects
from playground.views.training_curves import SETS, SHARES, WatchedVariants, run_lines, tabulate_runs
from playground.words import say

_COMMON = {"regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1"}

READY: Mapping[str, Mapping[str, Any]] = {
    "dropout": _COMMON | {
        "regularisers_task": "Sort", "regularisers_data": "small",
        "regularisers_chosen": ["Dropout on attention weights"], "regularisers_dropout_attention": 0.3,
    },
    "smoothing": _COMMON | {
        "regularisers_task": "Copy, taught with errors", "regularisers_data": "small",
        "regularisers_chosen": ["Label smoothing"], "regularisers_label_smoothing": 0.5,
    },
    "clipping": _COMMON | {
        "regularisers_task": "Copy", "regularisers_data": "plenty",
        "regularisers_chosen": ["Gradient clipping"], "regularisers_clip": 0.25,
        "regularisers_optimizer": "sgd", "regularisers_lr": 1,
    },
    "no_causal_mask": _COMMON | {
        "regularisers_task": "Next character", "regularisers_data": "small",
        "regularisers_chosen": ["Without causal mask"],
    },
}  # fmt: skip
"""The page's parameters of two runs that show what one regulariser is for.

Tried with the seeds 0 to 4: what is to be expected was seen with each of them.
"""

LINES: Mapping[str, Mapping[str, Any]] = {
    "none": {"color": palette.NO_REGULARISER, "dash": "solid", "width": 3},
    **{
        field: {"color": colour, "dash": "dash" if field == "dropout_residual" else "solid", "width": 2}
        for field, colour in zip(REGULARISERS, palette.REGULARISERS.values(), strict=True)
    },
}
"""How a run is drawn, by Plotly's names; both kinds of dropout have one colour."""

COLUMNS = {
    "training %": "%.1f", "validation %": "%.1f", "gap": "%.1f", "in use %": "%.1f", "± points": "%+.1f",
    "spread": "%.1f", "loss": "%.3f", "± nats": "%+.3f",
}  # fmt: skip
"""Of the table of effects: names, and how their numbers are written."""


def show_ready() -> Iterator[Item]:
    """A card for each of `READY`, with a button that starts it."""
    cards = (
        Group(
            f"regularisers_ready_{name}_card",
            (Paragraph(say("regularisers", f"ready-{name}")), Widget("start_ready", {"name": name})),
            is_card=True,
        )
        for name in READY
    )
    yield Columns(tuple((card,) for card in cards))


def show_answer(scene: Scene[WatchedVariants], untrained: str = "") -> Iterator[Item]:
    """What the runs have shown by now; `untrained`: settings of the page they do not have."""
    case, numbers = find_change(scene.now.state)
    yield Paragraph(f"{untrained} {say('regularisers', f'answer-{case}', **numbers)}".strip(), "answer")


def find_change(state: VariantsState) -> tuple[str, dict[str, Any]]:
    """Return the accuracies of the plain run and of what changed most; the case is how far runs are, or `seeds`."""
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
    sets = ("validation", "train")
    yield Columns(
        tuple((Paragraph(say("regularisers", f"set-{name}")), runs_by_step(scene.now, name, measured)) for name in sets)
    )


def show_details(options: Options) -> Iterator[Item]:
    """What each variant measures beside the plain run, and the numbers of the curves."""
    yield Table[WatchedVariants](
        key="regularisers_table",
        frame=lambda watched: tabulate_effects(watched.state),
        formats=COLUMNS,
        widths={column: 24 + 7 * len(column) for column in COLUMNS} | {"outcome": 135},
        missing="",
    )
    yield Paragraph(say("regularisers", "table.caption"), "caption")
    yield Table[WatchedVariants](
        key="regularisers_curves",
        frame=lambda watched: tabulate_runs(watched, options["regularisers_measure"]),
        is_folded=True,
        title=say("regularisers", "curves"),
    )


def tabulate_effects(state: VariantsState) -> pd.DataFrame:
    """Return a row a variant: means over its seeds."""
    effects, variants, rows = measure_effects(state), state.by_variant, {}
    for run in first_seed(state.runs):
        numbers = [math.nan] * len(COLUMNS)
        if effect := effects.get(run.name):
            training, validation, accuracy = effect.training, effect.validation, effect.accuracy
            spread = effect.accuracy_spread if effect.n_seeds > 1 else math.nan
            shares = (training, validation, training - validation, accuracy, effect.accuracy_change, spread)
            numbers = [*(100 * share for share in shares), effect.loss, effect.loss_change]
        outcomes: list[str] = [result.outcome or "training" for result in variants.get(run.name, [])] or ["to come"]
        rows[run.title] = [*numbers, ", ".join(dict.fromkeys(outcomes))]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*COLUMNS, "outcome"]).rename_axis("run")


def list_legend(watched: WatchedVariants) -> list[dict[str, str]]:
    """Return each variant's name, look, and state: `done`, `growing`, or `coming`."""
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
        "validation": say(
            "regularisers", "set-validation.caption", rule=say("training", f"rule-{watched.data.task.name}")
        ),
    }
    return Picture(
        key=f"regularisers_{name}",
        alt=f"Lines: {measured} on the {SETS[name]} by step, one line a run.",
        caption=captions[name],
        figure=lambda each: draw_runs(each, name, measured),
        grows=watched.grows,
    )


def draw_runs(watched: WatchedVariants, name: str, measured: Measured) -> Figure:
    """Draw accuracy or loss on one of `SETS`, beside what can be had without learning."""
    n_steps, n_classes = watched.state.runs[0].recipe.steps, len(watched.data.labels)
    level, text, y_axis = watched.data.baseline, "simple rule", SHARES
    if measured == "loss":
        level, text = math.log(n_classes), f"guessing: ln {n_classes}"
        losses = tabulate_runs(watched, measured).to_numpy()
        highest = float(np.max(losses, where=np.isfinite(losses), initial=1.4 * level))
        y_axis = {"title": "loss, nats", "range": [0, 1.08 * highest]}
    level_line = figures.level_line(n_steps, level, text, width=1, dash="dot")
    lines = [level_line, *run_lines(watched, name, measured, LINES)]
    return figures.draw_over_steps(lines, n_steps, y_axis, height=300)


def explain_ten() -> str:
    """Return a table of the ten: what each does and where (markdown)."""
    rows = (f"| {each.title} | {say('regularisers', f'does-{name}')} |" for name, each in REGULARISERS.items())
    return "\n".join(("| | what it does, and where |", "|-|-|", *rows))
