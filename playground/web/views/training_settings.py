"""The Training page's settings and buttons: task, data, sizes, optimiser, regularisers."""

from collections.abc import Iterable

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from playground.accounting.readable import duration
from playground.charts.scene import Scene
from playground.link.params import ARCHITECTURE, SMALL, STRENGTHS, TASK_TITLES
from playground.link.query import shape_to_train, trains_small
from playground.training.answers import right_answer
from playground.training.recipe import Recipe
from playground.training.regularisers import (
    REGULARISERS,
    Regulariser,
    reason_without_effect,
)
from playground.training.tasks import TASKS
from playground.views.training import describe_classes, describe_shape, describe_size, show_plan
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import trained_slot
from playground.web.session.experiments import session_experiments, training_data, without_idle
from playground.web.session.trained_slot import is_trained_network
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import render
from playground.web.views.training import PAGE, TrainingPlan, create_experiment, is_known, make_plan

SCHEDULES = "paper: up in a line while it warms up, then down with 1/√step (Vaswani et al. 2017, section 5.3)."


def pick_task() -> None:
    """Draw the menu of tasks, and the question that the chosen task asks."""
    task = widgets.menu("training_task", "What is to be learnt", on_change=shortcuts.use_task_defaults)
    st.markdown(TASKS[TASK_TITLES[task]].question)
    if TASKS[TASK_TITLES[task]].reads_text:
        widgets.text(
            "training_text",
            "A text of your own to learn from",
            height=90,
            placeholder="empty: Python's help topics, 430,000 characters of English",
        )


def plan_or_error() -> TrainingPlan | None:
    """The run that the settings describe; None, with an error on the page, where there can be none."""
    return experiment_buttons.plan_or_error(make_plan)


def show_question(plan: TrainingPlan | None) -> None:
    """Draw the first validation sequence with its right answer."""
    if plan is not None:
        data = training_data(plan.recipe)
        answer = data.task.join(right_answer(data, data.validation.targets[0]))
        st.code(f"reads   {data.task.show_blanks(data.example)}\nanswer  {answer}", language=None, wrap_lines=True)
        if data.task.example_note:
            st.caption(data.task.example_note)


def draw_settings(plan: TrainingPlan | None) -> None:
    """Draw the widgets of everything else that a run depends on."""
    task = TASK_TITLES[current_value("training_task")]
    data = None if plan is None else training_data(plan.recipe)
    if data is not None:
        st.caption(
            f"It learns from {len(data.train):,} such sequences, the *training set*. It is measured on "
            f"{len(data.validation):,} others, the *validation set*. The simple rule to beat: {data.task.rule}. It is "
            f"right in **{data.baseline:.1%}** of the validation set."
        )
    widgets.size("training_steps", "steps of training · `steps`")
    with _fold("data", "The data", ("length", "n_symbols", "n_train")):
        what = "characters in a window" if TASKS[task].reads_text else "longest sequence"
        widgets.whole("training_length", f"{what} · `length`", high=256)
        if TASKS[task].counts_symbols:
            widgets.whole("training_n_symbols", "different symbols · `n_symbols`", high=26)
        widgets.size("training_n_train", "sequences to learn from · `n_train`")
        if data is not None:
            st.caption(describe_classes(data))
    with _fold("optimiser", "The optimiser", ("optimizer", "schedule", "lr", "warmup", "batch_size")) as panel:
        widgets.choice("training_optimizer")
        schedule = widgets.choice("training_schedule", "learning-rate schedule · `schedule`", help_text=SCHEDULES)
        widgets.size("training_lr", "learning rate, or its peak · `lr`")
        widgets.size("training_warmup", "steps until the peak · `warmup`", disabled=schedule == "constant")
        widgets.size("training_batch_size", "sequences in a step · `batch_size`")
        if panel.open and plan is not None and session_experiments().get(PAGE) is None:
            scene = Scene(plan.recipe)
            render(show_plan(scene), scene)
    _regularisers(task)


def _fold(name: str, title: str, names: Iterable[str]) -> ExpanderContainer:
    """A panel for settings that a run may have without a newcomer's knowing; open where a link has set one of them."""
    return panels.fold_settings(f"{PAGE}_{name}_open", title, (f"{PAGE}_{each}" for each in names))


def start_row(plan: TrainingPlan | None) -> None:
    """Draw the buttons, and the cost of this plan unless it is the latest experiment already."""
    has_network = trained_slot.session_slot().trained is not None
    _draw_shape(plan)
    experiment_buttons.draw_buttons(
        PAGE, plan, create_experiment, has_network=has_network, scrolls_to="training_buttons"
    )
    experiment = session_experiments().get(PAGE)
    if plan is None:
        return
    if experiment is not None and experiment.inputs == plan.inputs:
        if experiment_buttons.was_computed_before(experiment):
            _offer_another_seed(plan)
        return
    if is_known(plan):
        _offer_another_seed(plan)
        return
    recipe, data = plan.recipe, training_data(plan.recipe)
    st.caption(
        f"About **{duration(plan.seconds)}** here: {recipe.steps:,} steps of "
        f"{min(recipe.batch_size, len(data.train))} sequences. Whoever starts it from this link gets the same "
        f"curves: the *seed* {recipe.seed} draws the same sequences and first weights."
    )


def _offer_another_seed(plan: TrainingPlan) -> None:
    """Draw the button that makes a run to watch; not where a trained network decides on the seed."""
    if not is_trained_network(current_value("weights")):
        st.button(
            "Another seed, to watch it learn",
            key="training_another_seed",
            icon=":material/casino:",
            on_click=shortcuts.choose_values,
            args=({"seed": (plan.recipe.seed + 1) % 2**31},),
        )


def _regularisers(task: str) -> None:
    """Draw the regularisers' widgets if their panel is open or one is set: other values need no widget to last."""
    chosen = {name: current_value(f"{PAGE}_{name}") for name in STRENGTHS}
    panel = _fold("regularisers", "Regularisers", STRENGTHS)
    if panel.open or any(chosen[name] != param.default for name, param in STRENGTHS.items()):
        recipe, norm = without_idle(Recipe(task=task, **chosen)), current_setup().state.asked["norm"]
        with panel:
            for regulariser in REGULARISERS.values():
                _strength(regulariser, reason_without_effect(regulariser, recipe, norm))


def _strength(regulariser: Regulariser, reason: str) -> None:
    """Draw one regulariser's widget; grey, with the reason, if it can change nothing."""
    no_effect = f" It changes nothing here: {reason}." if reason else ""
    help_text = f"{regulariser.explanation} Where: {regulariser.where}.{no_effect}"
    label = f"{regulariser.title} · `{regulariser.field}`"
    widgets.draw(f"training_{regulariser.field}", label, help_text=help_text, disabled=bool(reason))
    if regulariser.field == "distill":
        widgets.size(
            "training_temperature",
            "temperature of the teacher · `temperature`",
            disabled=current_value("training_distill") == 0,
        )


def _draw_shape(plan: TrainingPlan | None) -> None:
    """Say which architecture is trained, and offer the usual one where it is another."""
    if plan is not None:
        small = ", MiniLM's kind in small" * trains_small(current_setup().state.asked)
        size = describe_size(plan.config, training_data(plan.recipe))
        st.caption(f"**The sidebar's architecture{small}:** {describe_shape(plan.config)}; {size}.")
    shape = shape_to_train(current_setup().state.asked)
    usual = {name: param.default for name, param in ARCHITECTURE.items()} | SMALL
    if any(shape[name] != value for name, value in usual.items() if name != "dropout"):
        st.button(
            "Train the usual architecture", key="training_usual", icon=":material/undo:",
            on_click=shortcuts.choose_values, args=({"weights": "random", **usual},), type="tertiary",
        )  # fmt: skip
