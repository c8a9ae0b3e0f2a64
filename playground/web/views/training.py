"""The live page Training: settings, a run that is followed, and its network."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.accounting.readable import duration
from playground.charts.chart import Panel, Paragraph
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.link import params, query
from playground.link.params import RECIPE, STRENGTHS, TASK_TITLES, write_all
from playground.training.network import Sample, Tagger, answer_examples, next_token_probabilities, right_answer
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import TASKS
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import TrainedNetwork, describe_origin, load, save
from playground.training.trainer import check_cost
from playground.training.variants import REGULARISERS, Training, TrainingState
from playground.views import training as view
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import experiments, own_models
from playground.web.session.experiments import Experiment
from playground.web.session.own_models import OwnModels
from playground.web.session.services import cache_in_session, services
from playground.web.shared import experiment_buttons, panels, saving
from playground.web.shared.renderer import read_options, render
from playground.words import say

PAGE = "training"

Plan = tuple[ModelConfig, Recipe]
"""The architecture as the task has it, and what to do."""

N_SAMPLES = 8
"""Validation sequences whose answers are shown."""

FOLDS = {
    "data": ("length", "n_symbols", "n_train"),
    "optimiser": ("optimizer", "schedule", "lr", "warmup", "batch_size"),
    "regularisers": tuple(STRENGTHS),
}
"""Fields of the recipe, by panel."""


# --- the run, in the background


def make_plan() -> Plan:
    """Return the run that the page and the sidebar describe; PlaygroundError if it can't be."""
    values = {name: current_value(f"{PAGE}_{name}") for name in RECIPE}
    recipe = experiments.without_idle(Recipe(task=_task(), seed=current_value("seed"), **values))
    shape = query.shape_to_train(current_setup().state.asked)
    config = architecture(params.model_config(shape, vocab_size=1), recipe, experiments.training_data(recipe))
    limits, speed = services().settings, experiments.machine_speed()
    check_cost(config, recipe, speed, max_seconds=experiments.most_seconds(), max_parameters=limits.max_parameters)
    return config, recipe


def inputs_of(config: ModelConfig, recipe: Recipe) -> Plan:
    """Return all that a run's numbers depend on."""
    return replace(config, dropout=0.0), recipe


def create_experiment(plan: Plan) -> Experiment[TrainingState]:
    """Take part in a run; start it if nobody has yet."""
    slot, (config, recipe) = own_models.session_models(), plan  # the job's thread belongs to no session
    data = experiments.training_data(recipe)
    return experiments.join_experiment(
        inputs_of(*plan),
        experiments.request(Training, plan, data),
        partial(keep_network, slot),
        n_bytes=experiments.training_bytes(config, recipe, data),
        key=plan,
        keep=not recipe.text,  # what a visitor typed is nobody else's
    )


def keep_network(slot: OwnModels, state: TrainingState, _status: JobStatus) -> None:
    """Keep a run's network, unless it learnt nothing and another stays."""
    trained = state.trained
    if trained is None or trained is slot.trained or not (trained.results.kept_step or slot.trained is None):
        return
    slot.put(trained)
    own_models.store(trained)


# --- its settings


def _task() -> str:
    return TASK_TITLES[current_value("training_task")]


def draw_task() -> Plan | None:
    """Draw the task, what the network reads and answers, and its cost; return the plan, if there is one."""
    widgets.menu("training_task", say("training", "task"), on_change=shortcuts.use_task_defaults)
    task = TASKS[_task()]
    st.markdown(say("training", f"question-{task.name}"))
    if task.reads_text:
        placeholder = say("training", "text.placeholder")
        widgets.text("training_text", say("training", "text"), height=90, placeholder=placeholder)
    plan = experiment_buttons.plan_or_error(make_plan)
    if plan is not None:
        config, recipe = plan
        data, time = experiments.training_data(recipe), duration(experiments.machine_speed().seconds(config, recipe))
        right = task.join(right_answer(data, data.validation.targets[0]))
        st.code(f"reads   {task.show_blanks(data.example)}\nanswer  {right}", language=None, wrap_lines=True)
        small = "yes" if query.trains_small(current_setup().state.asked) else "no"
        shape, size = view.describe_shape(config), view.describe_size(config, data)
        st.caption(say("training", "architecture", small=small, shape=shape, size=size))
    experiment_buttons.draw_buttons(PAGE, plan, create_experiment)
    if plan is not None:
        batch = min(recipe.batch_size, len(data.train))
        st.caption(say("training", "cost", time=time, steps=recipe.steps, batch=batch, seed=str(recipe.seed)))
    return plan


def draw_settings(plan: Plan | None) -> None:
    """Draw the settings of a run; those without effect are left out."""
    task, now = TASKS[_task()], {name: current_value(f"{PAGE}_{name}") for name in RECIPE}
    if plan is not None:
        data = experiments.training_data(plan[1])
        sizes = {"train": len(data.train), "validation": len(data.validation)}
        st.caption(say("training", "data", **sizes, rule=say("training", f"rule-{task.name}"), right=data.baseline))
    _draw_setting("steps")
    idle = experiments.idle_fields(Recipe(task=task.name, schedule=now["schedule"], distill=now["distill"]))
    idle |= {"layer_norm"} if current_setup().state.asked["norm"] == "none" else set()
    for fold, names in FOLDS.items():
        keys = [f"{PAGE}_{name}" for name in names]
        panel = panels.fold_settings(f"{PAGE}_{fold}_open", say("training", f"fold-{fold}"), keys)
        if panel.open or any(now[name] != RECIPE[name].default for name in names):
            with panel:  # other values need no widget to last
                for name in names:
                    if name not in idle:
                        _draw_setting(name)


def _draw_setting(name: str) -> None:
    regulariser = REGULARISERS.get(name)
    title = regulariser.title if regulariser else say("training", f"set-{name}")
    help_text = say("regularisers", f"does-{name}") if regulariser else None
    widgets.draw(f"{PAGE}_{name}", f"{title} · `{name}`", help_text=help_text)


# --- while it goes on


def draw_answer(plan: Plan | None) -> None:
    """Draw what the network does, or what there is to do."""

    def answer(run: Plan, step: int, right: float, rule: float) -> Paragraph:
        untrained = experiment_buttons.untrained_sentence(run, None if plan is None else inputs_of(*plan))
        return view.show_answer(run[1], step, right, rule, untrained)

    def follow_answer(experiment: Experiment[TrainingState]) -> None:
        state = experiment.state
        if state is None or state.latest is None:
            render([Paragraph(say("training", "answer-soon"), "answer")])
        else:
            step, _, right = state.latest
            render([answer(experiment.inputs, step, right, state.data.baseline)])

    trained = own_models.session_models().trained
    if own_models.session_experiments().get(PAGE) is not None:
        experiment_buttons.follow(follow_answer, PAGE)
    elif trained is None:
        render([Paragraph(say("training", "answer-new", task=current_value("training_task")), "answer")])
    else:
        results, run = trained.results, inputs_of(trained.config, trained.recipe)
        render([answer(run, results.kept_step, results.validation_accuracy, results.baseline)])


def follow_curves(experiment: Experiment[TrainingState]) -> None:
    """Draw the progress bar, the curves so far, and how each step went."""
    experiment_buttons.show_progress(experiment, status_sentence(experiment))
    if experiment.status == "failed":
        st.error(experiment.error)
    if experiment.state is not None:
        scene = Scene(experiment.state)
        panel = Panel("", say("training", "details"), tuple(view.show_details(scene)), ":material/monitoring:")
        render([*view.show_curves(scene), panel], scene)


def follow_attention(experiment: Experiment[TrainingState]) -> None:
    """Draw one head's attention while it is learnt."""
    if experiment.state is not None:
        scene = Scene(experiment.state)
        render(view.show_attention(scene, read_options(PAGE)), scene)


def status_sentence(experiment: Experiment[TrainingState]) -> str:
    """Return the status of a training."""
    status, run, pending = experiment.status, experiment.state, experiment_buttons.pending_sentence(experiment)
    if pending or run is None or status == "failed":
        return pending
    steps = run.recipe.steps
    if status == "cancelled":
        return say("training", "stopped", step=run.step, kept="yes" if run.trained else "no")
    if status == "finished":
        return run.message
    at = say("training", "at", step=run.step, steps=steps)
    if run.teacher_step is not None:
        at = say("training", "at-teacher", step=run.teacher_step, steps=steps)
    return experiment_buttons.running_sentence(experiment, at)


# --- after it


def offer_network(trained: TrainedNetwork) -> None:
    """Draw what can be done with a network."""
    st.caption(describe_origin(trained, current_value("run")))
    name = f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors"
    look: Any = {"key": "training_look", "icon": ":material/visibility:", "type": "primary"}
    take: Any = {"key": "training_download", "mime": "application/octet-stream", "on_click": "ignore"}
    data = services().turns.defer(lambda: save(trained))
    with st.container(horizontal=True):
        label, help_text = say("training", "look"), say("training", "look.help")
        st.button(label, on_click=shortcuts.choose_run, args=(trained,), help=help_text, **look)
        st.download_button(say("training", "download"), data, name, icon=":material/download:", **take)
    st.caption(say("training", "keep-link") if own_models.is_shared(trained) else say("training", "keep-file"))


def draw_others(runs: Sequence[TrainedNetwork]) -> None:
    """Draw a button for each earlier network, which opens it."""
    with st.container(horizontal=True):
        for each in runs:
            label = say("training", "open", task=each.task.title, right=each.results.validation_accuracy)
            st.button(label, key=f"training_open_{each.run_key}", on_click=_open_run, args=(each,), type="tertiary")


def _open_run(trained: TrainedNetwork) -> None:
    """Show a network on every page; on this one with its settings and answers."""
    own, recipe = own_models.session_experiments(), trained.recipe
    own_models.session_models().put(trained)
    if own.active_page() is None:
        own.discard(PAGE)
    values = {f"training_{name}": query.read(f"training_{name}", write_all(vars(recipe)[name]))[0] for name in RECIPE}
    st.session_state.update({"training_task": trained.task.title, **values})
    shortcuts.choose_run(trained)


def draw_upload() -> None:
    """Draw an uploader that brings a network back."""
    with st.expander(say("training", "upload"), icon=":material/upload:"):
        help_text = say("training", "upload.help")
        saving.draw_uploader(say("training", "upload.label"), "training_file", _open_file, help=help_text)


def _open_file(file: UploadedFile) -> None:
    with services().turns.hold_long_place(), services().turns.take():
        network = load(file.getvalue(), max_parameters=services().settings.max_parameters)
    own_models.session_models().put(replace(network, origin="opened"))


def draw_answers(trained: TrainedNetwork) -> None:
    """Draw what a network answers; may end the page."""
    with panels.explain_errors():
        scene, samples = Scene(trained), _answer_samples(trained)
        ask, ask_next = partial(_answer_typed, trained), partial(_next_characters, trained)
        render(view.show_answers(scene, read_options(PAGE), samples, ask, ask_next), scene)


@cache_in_session
def _answer_samples(trained: TrainedNetwork) -> list[Sample]:
    data = experiments.validation_data(trained.recipe)
    with services().turns.take():
        return answer_examples(trained.network, data, data.validation[slice(0, N_SAMPLES)], trained.recipe)


@cache_in_session
def _answer_typed(trained: TrainedNetwork, typed: str) -> Sample:
    recipe, data = trained.recipe, experiments.validation_data(trained.recipe)
    if not isinstance(trained.task, MadeUpTask):
        raise TypeError("a task of text reads no symbols")
    examples = trained.task.read(typed, recipe)
    with services().turns.take():
        return answer_examples(trained.network, data, examples, recipe)[0]


@cache_in_session
def _next_characters(trained: TrainedNetwork, prompt: str) -> dict[str, float]:
    """Return probabilities of what comes next, the likeliest first."""
    if not isinstance(trained.network, Tagger):
        raise TypeError("a network with a decoder reads no beginning")
    ids: list[int] = trained.tokenizer.encode_batch([prompt]).ids[0].tolist()
    with services().turns.take():
        tokens, shares = next_token_probabilities(trained.network, ids[-trained.recipe.length :])
    return {trained.labels[i]: share for i, share in zip(tokens.tolist(), shares.tolist(), strict=True)}
