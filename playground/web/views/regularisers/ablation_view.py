"""The Regularisers page's experiment: its settings, its buttons, its curves and its table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from playground.accounting.readable import duration
from playground.figures import training as figures
from playground.figures.training import LINES, Curve, Measured
from playground.text.wording import join_words
from playground.training.regularisers.ablation import (
    AblationResult,
    AblationState,
    AblationTraining,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.regularisers.ablation_report import (
    COLUMNS,
    SPREAD_COLUMNS,
    ablation_table,
    group_by_name,
    summarise_ablation,
)
from playground.training.tasks import TASKS, Task
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.components.charts import LegendEntry, draw_legend
from playground.web.session.experiments import Experiment, session_experiments, training_data
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.experiment_buttons import difference_sentence, list_changed_settings
from playground.web.views.regularisers.ablation_plan import (
    PAGE,
    AblationInputs,
    AblationPlan,
    create_experiment,
    make_plan,
    status_sentence,
)

SEEDS_HELP = (
    "A seed decides the sequences, the initial weights, the order of batches and all that regularisers draw. With 3, "
    "everything runs with the sidebar's seed and the next two: it takes three times as long and shows what chance does."
)

SPREAD_CAPTION = (
    "All numbers are means over the seeds with which every run has ended; {} are planned. Spread: the highest of the "
    "seeds' ± less the lowest. A change smaller than its spread is not told apart from chance. Chance alone makes it "
    "larger about once in twelve times."
)

SETS = {"train": "training set", "validation": "validation set"}


def plan_or_error() -> AblationPlan | None:
    """Draw the settings; returns the ablation that they describe, or None with a message on the page."""
    columns = st.columns([3, 3, 3], gap="medium")
    with columns[0]:
        widgets.menu(f"{PAGE}_task", "What is to be learnt")
    with columns[1]:
        widgets.choice(f"{PAGE}_data", "Data to learn from")
    with columns[2]:
        widgets.choice(f"{PAGE}_seeds", "Seeds", help_text=SEEDS_HELP)
    widgets.several(f"{PAGE}_chosen", "What to compare with a run that has masks and norms, and none of the others")
    plan = experiment_buttons.plan_or_error(make_plan)
    if plan is None:
        return None
    for regulariser, reason in plan.left_out:
        st.caption(f"**{regulariser.choice}** is left out: {reason}.")
    if len(plan.compared) == 1:
        st.info("Choose at least one that can matter here; then its run is compared with a run without any.")
        return None
    return plan


def start_row(plan: AblationPlan | None) -> None:
    """Draw the buttons, and the cost of the plan."""
    experiment_buttons.buttons(PAGE, plan, create_experiment)
    if plan is not None:
        recipe, config, seeds = plan.trainings[0].recipe, plan.config, _name_seeds(plan.trainings)
        amount = f"{len(plan.trainings)} runs of {recipe.steps} steps"
        if len(plan.trainings) > len(plan.compared):
            amount, seeds = f"{amount}, {len(plan.compared)} with each of the {seeds}", "those of one seed"
        st.caption(
            f"About **{duration(plan.seconds)}** here: {amount}, each on the same {len(training_data(recipe).train):,} "
            f"sequences, in the same order, from the same initial weights ({seeds}). {TASKS[recipe.task].question} "
            f"{config.n_layers} layers × {config.n_heads} heads, d_model {config.d_model}; all else of the "
            "architecture is the sidebar's."
        )


def ablation(plan: AblationPlan | None) -> None:
    """Draw the session's ablation; before there is one, the axes of the planned one."""
    experiment = session_experiments().get(PAGE)
    if experiment is None and plan is None:
        return
    # Here and not beside the curves: a whole rerun of the page ends by putting right what the address says.
    widgets.choice(f"{PAGE}_measure", "Curves of")
    if experiment is not None:
        recipe = experiment.inputs[1][0].recipe
        measured = f"“{TASKS[recipe.task].title}”, {recipe.n_train:,} sequences, {_name_seeds(experiment.inputs[1])}"
        differences = [] if plan is None else ablation_differences(experiment.inputs, plan.inputs)
        if differences:
            st.info(difference_sentence(experiment, measured, differences))
        experiment_buttons.follow(status_and_curves, PAGE)
    elif plan is not None:
        _curves(plan.trainings, [], panels.chart)


def ablation_differences(before: AblationInputs, now: AblationInputs) -> list[str]:
    """The trainings that only one of two ablations has, and the settings in which their common trainings differ."""
    old, new = (
        {training.title: training.recipe for training in trainings_of_one_seed(trainings)}
        for _, trainings in (before, now)
    )
    differences = [f"“{title}” is gone" for title in old if title not in new]
    differences += [f"“{title}” is new" for title in new if title not in old]
    for title in (title for title in old if title in new):
        differences += list_changed_settings((before[0], old[title]), (now[0], new[title]))
    n_before, n_now = (len(seeds_of(trainings)) for _, trainings in (before, now))
    differences += [f"seeds {n_before} → {n_now}"] if n_before != n_now else []
    return list(dict.fromkeys(differences))


def _name_seeds(trainings: Sequence[AblationTraining]) -> str:
    seeds = [str(seed) for seed in seeds_of(trainings)]
    return f"seed{'s' if len(seeds) > 1 else ''} {join_words(seeds)}"


def status_and_curves(experiment: Experiment[AblationState]) -> None:
    """Draw the progress bar, the curves so far, what they show in words, and the table."""
    experiment_buttons.show_progress(experiment, experiment.progress, status_sentence(experiment))
    trainings, state = experiment.inputs[1], experiment.state
    results = list(state.results) if state else []
    _curves(trainings, results, panels.growing_curves if experiment.in_progress else panels.chart)
    sentences = summarise_ablation(results, state.n_answers) if state else []
    if sentences:
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    _table(trainings, results)


def _curves(trainings: Sequence[AblationTraining], results: list[AblationResult], show: Callable[..., None]) -> None:
    measured: Measured = current_value(f"{PAGE}_measure")
    kinds, n_seeds = group_by_name(results), len(seeds_of(trainings))
    draw_legend(
        f"{PAGE}_key",
        [
            LegendEntry(
                training.title,
                LINES[training.name].colour,
                LINES[training.name].dash,
                _state(kinds.get(training.name, []), n_seeds),
            )
            for training in trainings_of_one_seed(trainings)
        ],
    )
    recipe, data = trainings[0].recipe, training_data(trainings[0].recipe)
    n_classes = len(data.labels)
    curves = _both_sets(results, measured, with_seed=n_seeds > 1)
    top = figures.axis_top([*curves["train"], *curves["validation"]], measured, n_classes)
    guess = math.log(n_classes)
    levels = {"accuracy": (data.baseline, "simple rule"), "loss": (guess, f"guessing: ln {n_classes}")}
    for column, (name, called) in zip(st.columns(2, gap="medium"), SETS.items(), strict=True):
        with column:
            st.markdown(f"**On the {called}**")
            show(
                f"{PAGE}_{name}",
                figures.curves(curves[name], measured, steps=recipe.steps, top=top, level=levels[measured]),
                caption=_caption(name, measured, data.task, n_seeds),
                alt=f"Lines: {measured} on the {called} by step, one line a run.",
            )
    if results:
        panels.numbers(f"{PAGE}_curves", lambda: _by_step(curves), "The numbers of the curves")


def _state(results: list[AblationResult], n_seeds: int) -> str:
    """How far a kind of training is, as the legend has it."""
    if not results:
        return "coming"
    return "done" if sum(result.unbatched is not None for result in results) == n_seeds else "growing"


def _caption(name: str, measured: Measured, task: Task, n_seeds: int) -> str:
    if name == "validation":
        lines = f" A thin line is one seed: {n_seeds} lines of a look are one kind of run." if n_seeds > 1 else ""
        return (
            "The same on sequences that never are learnt from: what is lost from one chart to the other is the gap."
            + lines
        )
    if measured == "loss":
        return "Plain cross-entropy of sequences that are learnt from, whatever a run adds to it while it learns."
    return f"The share of right answers for sequences that are learnt from. The simple rule is to {task.rule}."


def _both_sets(results: list[AblationResult], measured: Measured, *, with_seed: bool) -> dict[str, list[Curve]]:
    """The curves of both charts, by the keys of `SETS`; with several seeds, each has a thin line with its seed."""
    curves: dict[str, list[Curve]] = {name: [] for name in SETS}
    for result in results:
        steps, *sets = result.history.series(measured)
        title, look = result.training.title, LINES[result.training.name]
        if with_seed:
            title, look = f"{title}, seed {result.training.recipe.seed}", replace(look, width=1)
        for name, values in zip(SETS, sets, strict=True):
            curves[name].append(Curve(title, look, steps, values))
    return curves


def _by_step(curves: dict[str, list[Curve]]) -> pd.DataFrame:
    columns = {
        f"{curve.title}, {called}": pd.Series(curve.values, curve.steps)
        for both in zip(*curves.values(), strict=True)
        for called, curve in zip(SETS.values(), both, strict=True)
    }
    return pd.DataFrame(columns).rename_axis("after step")


def describe_use(task: Task) -> str:
    """What is measured as a network in use: where batches can pad or show what comes next, it is without that."""
    without = [] if task.reads_text else ["without padding"]
    without += ["with later characters hidden"] * task.predicts_next
    so = f", so {' and '.join(without)}" if without else ", which are equally long"
    return f"In use: the validation set again, one sequence at a time{so}."


def _table(trainings: Sequence[AblationTraining], results: list[AblationResult]) -> None:
    formats = {"loss": "%.3f", "accuracy_change": "%+.1f", "loss_change": "%+.3f", "loss_spread": "%.3f"}
    columns = {
        title: st.column_config.NumberColumn(
            format=formats.get(short, "%.1f"), width=90 if short in SPREAD_COLUMNS else 70
        )
        for short, title in (COLUMNS | SPREAD_COLUMNS).items()
        if short != "ending"
    }
    n_seeds = len(seeds_of(trainings))
    panels.show_table(
        f"{PAGE}_table",
        ablation_table(results, trainings),
        height="content",
        placeholder="",
        column_config={**columns, COLUMNS["ending"]: st.column_config.TextColumn(width=175 if n_seeds == 1 else 135)},
    )
    st.caption(
        "How much of both sets is right with the weights that a run ended with; the gap is the one minus the other. "
        f"{describe_use(TASKS[trainings[0].recipe.task])} ±: against the run with none of them. A run that "
        "stops early or runs away keeps earlier weights."
        + (f" {SPREAD_CAPTION.format(n_seeds)}" if n_seeds > 1 else "")
    )
