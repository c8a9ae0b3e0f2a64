"""Regularisers: runs with and without, side by side, and what each of the ten does."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Button, Columns, Group, Item, Options, Panel, Paragraph, Picture, Table, Widget
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.training.network import Measured
from playground.training.variants import (
    REGULARISERS,
    VariantResult,
    VariantsState,
    difference_noise,
    first_seed,
    measure_effects,
)
from playground.views.training import SETS, SHARES, evaluated_line
from playground.words import say

_COMMON = {"regularisers_optimizer": "adamw", "regularisers_lr": 0.002, "regularisers_seeds": "1"}

READY: Mapping[str, Mapping[str, Any]] = {
    "dropout": _COMMON | {
        "regularisers_task": "Sort", "regularisers_data": "small",
        "regularisers_chosen": ("Dropout on attention weights",), "regularisers_dropout_attention": 0.3,
    },
    "clipping": _COMMON | {
        "regularisers_task": "Copy", "regularisers_data": "plenty",
        "regularisers_chosen": ("Gradient clipping",), "regularisers_clip": 0.25,
        "regularisers_optimizer": "sgd", "regularisers_lr": 1,
    },
}  # fmt: skip
"""Parameters of two runs that show what one regulariser is for, with each of the seeds 0 to 4."""

LINES: Mapping[str, Mapping[str, Any]] = {
    "none": {"color": palette.NO_REGULARISER, "dash": "solid", "width": 3},
    **{
        field: {"color": colour, "dash": "dash" if field == "dropout_residual" else "solid", "width": 2}
        for field, colour in zip(REGULARISERS, palette.REGULARISERS.values(), strict=True)
    },
}
"""How a run is drawn, by Plotly's names."""

COLUMNS = {
    "training %": "%.1f", "validation %": "%.1f", "gap": "%.1f", "in use %": "%.1f", "± points": "%+.1f",
    "spread": "%.1f", "loss": "%.3f", "± nats": "%+.3f",
}  # fmt: skip
"""Of the table of effects, with formats."""


def show_ready() -> Iterator[Item]:
    """A card for each of `READY`, with a button that sets it, and what each regulariser does."""
    cards = []
    for name, chooses in READY.items():
        key, icon, scrolls = f"regularisers_ready_{name}", ":material/tune:", "regularisers_buttons"
        button = Button(key, say("regularisers", "ready"), chooses, icon=icon, scrolls=scrolls)
        cards.append((Group(f"{key}_card", (Paragraph(say("regularisers", f"ready-{name}")), button), is_card=True),))
    yield Columns(tuple(cards))
    yield Panel("", "What each of the ten does", (Paragraph(explain_ten()),), ":material/tune:")


def show_answer(scene: Scene[VariantsState], untrained: str = "") -> Iterator[Item]:
    """What the runs have shown by now."""
    case, numbers = find_change(scene.now)
    yield Paragraph(f"{untrained} {say('regularisers', f'answer-{case}', **numbers)}".strip(), "answer")


def find_change(state: VariantsState) -> tuple[str, dict[str, Any]]:
    """Return the accuracies of the plain run and of what changed most, and how far the runs are."""
    effects = list(measure_effects(state).values())
    if not effects:
        return "begun", {}
    plain, *others = effects
    if not others:
        return "plain", {"plain": plain.accuracy}
    most = max(others, key=lambda effect: abs(effect.accuracy_change))
    noise = f"{100 * difference_noise(plain.accuracy, state.data.validation.n_answers * plain.n_seeds):.1f}"
    numbers = {"plain": plain.accuracy, "right": most.accuracy, "title": most.run.title, "runs": len(others)}
    if plain.n_seeds == 1:
        return "seed", numbers | {"noise": noise}
    return "seeds", numbers | {"noise": noise, "spread": f"{100 * most.accuracy_spread:.1f}", "seeds": plain.n_seeds}


def show_curves(scene: Scene[VariantsState], options: Options) -> Iterator[Item]:
    """Every run's accuracy or loss on both sets, under one legend."""
    yield Widget("legend", {"key": "regularisers_key", "entries": _list_legend(scene.now)})
    measured = options["regularisers_measure"]
    sets = ("validation", "train")
    yield Columns(
        tuple(
            (Paragraph(say("regularisers", f"set-{name}")), _runs_by_step(scene.now, name, measured)) for name in sets
        )
    )


def show_details() -> Iterator[Item]:
    """Each variant's numbers beside the plain run's."""
    yield Table[VariantsState](
        key="regularisers_table",
        frame=tabulate_effects,
        formats=COLUMNS,
        widths={column: 24 + 7 * len(column) for column in COLUMNS} | {"outcome": 135},
        missing="",
    )
    yield Paragraph(say("regularisers", "table.caption"), "caption")


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


def _list_legend(state: VariantsState) -> list[dict[str, str]]:
    """Return each variant's name, look, and state: `done`, `growing`, or `coming`."""
    variants, entries = state.by_variant, []
    for run in first_seed(state.runs):
        results, line = variants.get(run.name, []), LINES[run.name]
        is_done = sum(result.has_ended for result in results) == state.n_seeds
        progress = "done" if is_done else "growing" if results else "coming"
        entries.append({"name": run.title, "colour": line["color"], "dash": line["dash"], "state": progress})
    return entries


def _runs_by_step(state: VariantsState, name: str, measured: Measured) -> Picture[VariantsState]:
    """Every run's accuracy or loss on one of `SETS`."""
    rule = say("training", f"rule-{state.data.task.name}")
    return Picture(
        key=f"regularisers_{name}",
        alt=f"Lines: {measured} on the {SETS[name]} by step, one line a run.",
        caption=say("regularisers", f"set-{name}.caption", rule=rule),
        figure=lambda each: draw_runs(each, name, measured),
    )


def draw_runs(state: VariantsState, name: str, measured: Measured) -> Figure:
    """Draw one of `SETS` beside what can be had without learning."""
    n_steps, n_classes = state.runs[0].recipe.steps, len(state.data.labels)
    level, text, y_axis = state.data.baseline, "simple rule", SHARES
    if measured == "loss":
        level, text = math.log(n_classes), f"guessing: ln {n_classes}"
        losses = tabulate_runs(state, measured).to_numpy()
        highest = float(np.max(losses, where=np.isfinite(losses), initial=1.4 * level))
        y_axis = {"title": "loss, nats", "range": [0, 1.08 * highest]}
    level_line = figures.level_line(n_steps, level, text, width=1, dash="dot")
    lines = [level_line, *run_lines(state, name, measured, LINES)]
    return figures.draw_over_steps(lines, n_steps, y_axis, height=300)


def explain_ten() -> str:
    """Return a table of the ten: what each does and where (markdown)."""
    rows = (f"| {each.title} | {say('regularisers', f'does-{name}')} |" for name, each in REGULARISERS.items())
    return "\n".join(("| | what it does, and where |", "|-|-|", *rows))


# --- its lines

Looks = Mapping[str, Mapping[str, Any]]
"""Colour, width and dash, by the name of a variant."""


def _name_run(state: VariantsState, result: VariantResult) -> str:
    return result.run.title + (f", seed {result.run.recipe.seed}" if state.n_seeds > 1 else "")


def list_series(result: VariantResult, measured: Measured) -> dict[str, pd.Series]:
    """Return what was measured on each of `SETS`, by step."""
    steps, *sets = result.history.series(measured)
    return {name: pd.Series(values, steps, dtype=float) for name, values in zip(SETS, sets, strict=True)}


def tabulate_runs(state: VariantsState, measured: Measured) -> pd.DataFrame:
    """Return a row an evaluation, a column a run and set."""
    columns = {
        f"{_name_run(state, result)}, {SETS[name]}": series
        for result in state.results
        for name, series in list_series(result, measured).items()
    }
    return pd.DataFrame(columns).rename_axis("after step")


def run_lines(state: VariantsState, name: str, measured: Measured, looks: Looks) -> Iterator[dict[str, Any]]:
    """Yield a line a run, and a cross where it diverged."""
    for result in state.results:
        look, title = dict(looks[result.run.name]), _name_run(state, result)
        if state.n_seeds > 1:
            look["width"] = 1
        series = list_series(result, measured)[name]
        line = evaluated_line(list(series.index), list(series), title, look, measured)
        yield line
        if result.outcome == "diverged":
            step, values = len(result.history.loss), line["y"]
            yield line | {
                "mode": "markers",
                "x": np.array([step], np.int32),
                "y": values[np.isfinite(values)][-1:],
                "marker": {"symbol": "x", "size": 10, "color": look["color"]},
                "line": {"color": look["color"], "width": 0},
                "hovertemplate": f"diverged at step {step}<extra>{title}</extra>",
            }
