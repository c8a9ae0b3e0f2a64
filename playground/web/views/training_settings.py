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
from playground.web.session.experiments import session_experiments, training_data, without_idle
from playground.web.session.own_models import is_trained_network
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import render
from playground.web.views.training import PAGE, TrainingPlan, create_experiment, is_known, make_plan
from playground.words import say


def pick_task() -> None:
    """Draw the menu of tasks, and the question that the chosen task asks."""
    task = widgets.menu("training_task", say("training", "task"), on_change=shortcuts.use_task_defaults)
    st.markdown(TASKS[TASK_TITLES[task]].question)
    if TASKS[TASK_TITLES[task]].reads_text:
        widgets.text(
            "training_text",
            say("training", "text"),
            height=90,
            placeholder=say("training", "text.placeholder"),
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
        sizes = {"train": len(data.train), "validation": len(data.validation)}
        st.caption(say("training", "data", **sizes, rule=data.task.rule, right=data.baseline))
    widgets.size("training_steps", _label("steps"))
    with _fold("data", ("length", "n_symbols", "n_train")):
        widgets.whole("training_length", _label("length"), high=256)
        if TASKS[task].counts_symbols:
            widgets.whole("training_n_symbols", _label("n_symbols"), high=26)
        widgets.size("training_n_train", _label("n_train"))
        if data is not None:
            st.caption(describe_classes(data))
    with _fold("optimiser", ("optimizer", "schedule", "lr", "warmup", "batch_size")) as panel:
        widgets.choice("training_optimizer")
        schedule_help = say("training", "set-schedule.help")
        schedule = widgets.choice("training_schedule", _label("schedule"), help_text=schedule_help)
        widgets.size("training_lr", _label("lr"))
        widgets.size("training_warmup", _label("warmup"), disabled=schedule == "constant")
        widgets.size("training_batch_size", _label("batch_size"))
        if panel.open and plan is not None and session_experiments().get(PAGE) is None:
            scene = Scene(plan.recipe)
            render(show_plan(scene), scene)
    _regularisers(task)


def _label(name: str) -> str:
    """A setting with its name in the code."""
    return f"{say('training', f'set-{name}')} · `{name}`"


def _fold(name: str, names: Iterable[str]) -> ExpanderContainer:
    """A panel for settings that a newcomer need not know; open if a link has set one of them."""
    title = say("training", f"fold-{name}")
    return panels.fold_settings(f"{PAGE}_{name}_open", title, (f"{PAGE}_{each}" for each in names))


def start_row(plan: TrainingPlan | None) -> None:
    """Draw the buttons, and the cost of this plan unless it is the latest experiment already."""
    _draw_shape(plan)
    experiment_buttons.draw_buttons(PAGE, plan, create_experiment, scrolls_to="training_buttons")
    experiment = session_experiments().get(PAGE)
    if plan is None:
        return
    is_there = experiment is not None and experiment.inputs == plan.inputs
    if experiment_buttons.was_computed_before(experiment) if is_there and experiment else is_known(plan):
        _offer_another_seed(plan)
    elif not is_there:
        recipe, time = plan.recipe, duration(plan.seconds)
        batch = min(recipe.batch_size, len(training_data(recipe).train))
        st.caption(say("training", "cost", time=time, steps=recipe.steps, batch=batch, seed=str(recipe.seed)))


def _offer_another_seed(plan: TrainingPlan) -> None:
    """Draw the button that makes a run to watch; not where a trained network decides on the seed."""
    if not is_trained_network(current_value("weights")):
        st.button(
            say("training", "another-seed"),
            key="training_another_seed",
            icon=":material/casino:",
            on_click=shortcuts.choose_values,
            args=({"seed": (plan.recipe.seed + 1) % 2**31},),
        )


def _regularisers(task: str) -> None:
    """Draw the regularisers' widgets if their panel is open or one is set: other values need no widget to last."""
    chosen = {name: current_value(f"{PAGE}_{name}") for name in STRENGTHS}
    panel = _fold("regularisers", STRENGTHS)
    if panel.open or any(chosen[name] != param.default for name, param in STRENGTHS.items()):
        recipe, norm = without_idle(Recipe(task=task, **chosen)), current_setup().state.asked["norm"]
        with panel:
            for regulariser in REGULARISERS.values():
                _strength(regulariser, reason_without_effect(regulariser, recipe, norm))


def _strength(regulariser: Regulariser, reason: str) -> None:
    """Draw one regulariser's widget; grey, with the reason, if it can change nothing."""
    help_text = say("training", "strength", explanation=regulariser.explanation, where=regulariser.where)
    if reason:
        help_text += " " + say("training", "no-effect", reason=reason)
    label = f"{regulariser.title} · `{regulariser.field}`"
    widgets.draw(f"training_{regulariser.field}", label, help_text=help_text, disabled=bool(reason))
    if regulariser.field == "distill":
        widgets.size(
            "training_temperature",
            _label("temperature"),
            disabled=current_value("training_distill") == 0,
        )


def _draw_shape(plan: TrainingPlan | None) -> None:
    """Say which architecture is trained, and offer the usual one where it is another."""
    if plan is not None:
        small = "yes" if trains_small(current_setup().state.asked) else "no"
        size = describe_size(plan.config, training_data(plan.recipe))
        st.caption(say("training", "architecture", small=small, shape=describe_shape(plan.config), size=size))
    shape = shape_to_train(current_setup().state.asked)
    usual = {name: param.default for name, param in ARCHITECTURE.items()} | SMALL
    if any(shape[name] != value for name, value in usual.items() if name != "dropout"):
        st.button(
            say("training", "usual"), key="training_usual", icon=":material/undo:",
            on_click=shortcuts.choose_values, args=({"weights": "random", **usual},), type="tertiary",
        )  # fmt: skip
