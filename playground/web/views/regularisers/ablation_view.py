"""The Regularisers page's experiment: its settings, its buttons, its curves and its table."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from playground.accounting.readable import duration
from playground.errors import PlaygroundError
from playground.figures import ablation as figures
from playground.figures.ablation import Measured, Set
from playground.training.regularisers.ablation import Ablation, Arm, ArmResult
from playground.training.regularisers.ablation_summary import describe
from playground.training.regularisers.ablation_table import COLUMNS, table
from playground.training.tasks.catalogue import TASKS, Task
from playground.web.choices import widgets
from playground.web.components.curves import curve_drawing
from playground.web.components.legend import Entry, line_key
from playground.web.session.experiment_inputs import training_data
from playground.web.session.experiments import Experiment
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.experiment_status import list_shortly, run_differences
from playground.web.shared.markdown import escaped
from playground.web.views.regularisers import ablation_plan
from playground.web.views.regularisers.ablation_plan import PAGE, AblationInputs, AblationPlan

SETS: dict[Set, str] = {"train": "training set", "validation": "validation set"}


def plan_or_error() -> AblationPlan | None:
    """Draw the settings; returns the ablation that they describe, or None with a message on the page."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        widgets.menu(f"{PAGE}_task", "What is to be learnt")
    with right:
        widgets.choice(f"{PAGE}_data", "Data to learn from")
    widgets.several(
        f"{PAGE}_chosen", "What is to be compared with nothing at all (masks and norms are there: choosing takes away)"
    )
    try:
        plan = ablation_plan.make_plan()
    except PlaygroundError as error:
        st.error(escaped(error))
        return None
    for regulariser, reason in plan.left_out:
        st.caption(f"**{regulariser.title}** is left out: {reason}.")
    if len(plan.arms) == 1:
        st.info("Choose at least one that can matter here; then its run is compared with a run without any.")
        return None
    return plan


def start_row(plan: AblationPlan | None) -> None:
    """Draw the buttons, and the cost of the plan."""
    experiment_buttons.buttons(PAGE, None if plan is None else partial(ablation_plan.create_experiment, plan))
    if plan is not None:
        recipe, config = plan.arms[0].recipe, plan.config
        st.caption(
            f"About **{duration(plan.seconds)}** here: {len(plan.arms)} runs of {recipe.steps} steps, each on the same "
            f"{len(training_data(recipe).train):,} sequences, in the same order, from the same initial weights (seed "
            f"{recipe.seed}). {TASKS[recipe.task].question} {config.n_layers} layers × {config.n_heads} heads, d_model "
            f"{config.d_model}; all else of the architecture is the sidebar's."
        )


def ablation(plan: AblationPlan | None) -> None:
    """Draw the session's ablation; before there is one, the axes of the planned one."""
    experiment = ablation_plan.current_experiment()
    if experiment is None and plan is None:
        return
    # Here and not beside the curves: a whole run of the page ends by putting right what the address says.
    widgets.choice(f"{PAGE}_measure", "Curves of")
    if experiment is not None:
        differences = [] if plan is None else ablation_differences(experiment.inputs, plan.inputs)
        if differences:
            st.info(
                f"What is drawn was measured with other settings than the page has now: {_describe(experiment)}. The "
                f"difference: {list_shortly(differences)}. "
                + (
                    "It has to end before another can start."
                    if experiment.active
                    else "**Start** measures what is chosen now."
                )
            )
        experiment_buttons.follow(status_and_curves, PAGE)
    elif plan is not None:
        _curves(plan.arms, [], panels.chart)


def _describe(experiment: Experiment[Ablation]) -> str:
    recipe = experiment.inputs[1][0].recipe
    return f"“{TASKS[recipe.task].title}”, {recipe.n_train:,} sequences, seed {recipe.seed}"


def ablation_differences(before: AblationInputs, now: AblationInputs) -> list[str]:
    """The runs that only one of two ablations has, and the settings in which their common runs differ."""
    old, new = ({arm.title: arm.recipe for arm in arms} for _, arms in (before, now))
    differences = [f"“{title}” is gone" for title in old if title not in new]
    differences += [f"“{title}” is new" for title in new if title not in old]
    for title in (title for title in old if title in new):
        differences += run_differences((before[0], old[title]), (now[0], new[title]))
    return list(dict.fromkeys(differences))


def status_and_curves() -> None:
    """Draw the progress bar, the curves so far, what they show in words, and the table."""
    experiment = ablation_plan.current_experiment()
    if experiment is None:
        return
    st.progress(experiment.progress, ablation_plan.status_sentence(experiment))
    arms, computation = experiment.inputs[1], experiment.computation
    results = computation.results() if computation else []
    _curves(arms, results, curve_drawing if experiment.in_progress else panels.chart)
    sentences = describe(results, computation.n_answers) if computation else []
    if sentences:
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    _table(arms, results)


def _curves(arms: Sequence[Arm], results: list[ArmResult], show: Callable[..., None]) -> None:
    measured: Measured = ablation_plan.value("measure")
    states = ["done" if result.in_use is not None else "growing" for result in results]
    states += ["coming"] * (len(arms) - len(results))
    line_key(
        f"{PAGE}_key",
        [Entry(arm.title, figures.line_of(arm), state) for arm, state in zip(arms, states, strict=True)],
    )
    recipe, data = arms[0].recipe, training_data(arms[0].recipe)
    n_classes = len(data.labels)
    top = figures.top_of(results, measured, n_classes)
    guess = math.log(n_classes)
    levels = {"accuracy": (data.baseline, "simple rule"), "loss": (guess, f"guessing: ln {n_classes}")}
    for column, (name, called) in zip(st.columns(2, gap="medium"), SETS.items(), strict=True):
        with column:
            st.markdown(f"**On the {called}**")
            show(
                f"{PAGE}_{name}",
                figures.curves(results, name, measured, steps=recipe.steps, top=top, level=levels[measured]),
                caption=_caption(name, measured, data.task),
                alt=f"Lines: {measured} on the {called} by step, one line a run.",
            )
    if results:
        panels.numbers(f"{PAGE}_curves", lambda: _by_step(results, measured), "The numbers of the curves")


def _caption(name: Set, measured: Measured, task: Task) -> str:
    if name == "validation":
        return "The same on sequences that never are learnt from: what is lost from one chart to the other is the gap."
    if measured == "loss":
        return "Plain cross-entropy of sequences that are learnt from, whatever a run adds to it while it learns."
    return f"The share of right answers for sequences that are learnt from. The simple rule is to {task.rule}."


def _by_step(results: list[ArmResult], measured: Measured) -> pd.DataFrame:
    columns = {
        f"{result.arm.title}, {called}": pd.Series(
            {each.step: getattr(getattr(each, name), measured) for each in result.history.evaluations}
        )
        for result in results
        for name, called in SETS.items()
    }
    return pd.DataFrame(columns).rename_axis("after step")


def _table(arms: Sequence[Arm], results: list[ArmResult]) -> None:
    formats = {"loss": "%.3f", "more": "%+.1f", "change": "%+.3f"}
    columns = {
        title: st.column_config.NumberColumn(format=formats.get(short, "%.1f"), width=70)
        for short, title in COLUMNS.items()
        if short != "ended"
    }
    st.dataframe(
        table(results, [arm.title for arm in arms]),
        key=f"{PAGE}_table",
        height="content",
        placeholder="",
        column_config={**columns, COLUMNS["ended"]: st.column_config.TextColumn(width=175)},
    )
    st.caption(
        "How much of both sets is right with the weights that a run ended with; the gap is the one minus the other. In "
        "use: the validation set again, one sequence at a time, so without padding, and with later characters hidden. "
        "±: against the run with none of them. A run that stops early or runs away keeps earlier weights."
    )
