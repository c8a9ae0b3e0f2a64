"""What only the live page Training has: a run in the background that is followed, and its network."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.charts.chart import Paragraph
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.link import query
from playground.link.params import RECIPE, TASK_TITLES, write_all
from playground.training.answers import Sample, answer_examples, answer_samples
from playground.training.cost import check_cost
from playground.training.kept_run import KeptRun, describe_origin, keep_history, list_changed_settings
from playground.training.network import History
from playground.training.recipe import Recipe, architecture
from playground.training.run_state import TrainingRequest, TrainingState
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import TrainedNetwork, load, save
from playground.views import training as view
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import trained_slot
from playground.web.session.downloads import in_turn
from playground.web.session.experiments import (
    Experiment,
    machine_speed,
    most_seconds,
    session_experiments,
    training_bytes,
    training_data,
    validation_data,
    without_idle,
)
from playground.web.session.services import services
from playground.web.session.trained_slot import TrainedSlot
from playground.web.session.weights_cache import cache_in_session
from playground.web.shared import experiment_buttons, panels, saving
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import WIDGETS, read_options, render
from playground.web.views.training_writing import write_text
from playground.words import say

PAGE = "training"

UPLOADER = "training_file"
"""Name of the uploader."""

PROBLEM = "_training_problem"
"""Session key of the sentence that says why the last file was not opened."""


# --- the run, in the background


@dataclass(frozen=True)
class TrainingPlan:
    """A training run that can be started."""

    config: ModelConfig
    """With the task's vocabulary."""
    recipe: Recipe
    """Settings that change nothing in its task are at their defaults."""
    seconds: float
    """How long the run is likely to take here."""

    @property
    def inputs(self) -> tuple[ModelConfig, Recipe]:
        """All that the run's numbers depend on: the recipe's four dropouts count, the architecture's one does not."""
        return replace(self.config, dropout=0.0), self.recipe

    @property
    def key(self) -> tuple[str, ModelConfig, Recipe]:
        """What visitors share a run by."""
        return PAGE, self.config, self.recipe


def make_plan() -> TrainingPlan:
    """The run that the page's settings and the sidebar's architecture and seed describe.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the run would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    values = {name: current_value(f"{PAGE}_{name}") for name in RECIPE}
    task, seed = TASK_TITLES[current_value("training_task")], current_value("seed")
    recipe = without_idle(Recipe(task=task, seed=seed, **values))
    data = training_data(recipe)
    shape = query.shape_to_train(current_setup().state.asked)
    config = architecture(query.model_config(shape, vocab_size=1), recipe, data)
    limits = services().settings
    seconds = check_cost(
        config,
        recipe,
        machine_speed(),
        max_seconds=most_seconds(),
        max_parameters=limits.max_parameters,
    )
    return TrainingPlan(config, recipe, seconds)


def create_experiment(plan: TrainingPlan) -> Experiment[TrainingState]:
    """Take part in a run from the initial weights of its seed; start it in the background if nobody has yet."""
    slot = trained_slot.session_slot()  # now, as the job's thread belongs to no session
    data = training_data(plan.recipe)
    return Experiment(
        plan.inputs,
        TrainingRequest(
            plan.config, plan.recipe, device=str(services().device), threads=services().settings.threads, data=data
        ),
        partial(keep_network, slot),
        n_bytes=training_bytes(plan.config, plan.recipe, data),
        key=plan.key,
        keep=not plan.recipe.text,  # what a visitor typed is nobody else's
        kept=lambda state: state.trained,
    )


def is_known(plan: TrainingPlan) -> bool:
    """Whether the server still has what this run has shown to somebody."""
    return services().pool.has_result(plan.key)


def show_training_again() -> None:
    """Show the run of a network that a link has brought, if the server still has what the run has shown."""
    run = trained_slot.session_slot().newest
    if run is not None and run.origin == "stored" and session_experiments().get(PAGE) is None:
        _join_known(run.network)


def _join_known(trained: TrainedNetwork) -> None:
    """Take part in a network's run, if the server still has what the run has shown."""
    plan = TrainingPlan(trained.config, trained.recipe, seconds=0.0)
    if is_known(plan):
        session_experiments().start(PAGE, partial(create_experiment, plan))


def keep_network(slot: TrainedSlot, state: TrainingState, _status: JobStatus) -> str:
    """Put a run's network into a session's slot, unless it learnt nothing and there is another; says which stays."""
    if state.trained is None:
        return ""
    if not state.kept_step and slot.trained is not None:
        return say("training", "stays")
    if state.trained is not slot.trained:
        run = keep_history(state.trained, state.history)
        slot.put(run)
        trained_slot.store(run)
    return ""


# --- while it goes on


def _scene(experiment: Experiment[TrainingState]) -> Scene[view.WatchedRun] | None:
    """What is to be seen of a run, if there is anything yet."""
    if experiment.state is None:
        return None
    return Scene(view.watch(experiment.state, experiment.job.seconds, grows=experiment.in_progress))


def draw_answer(plan: TrainingPlan | None) -> None:
    """Draw what the network of the run does now, or else one that was trained before; or what there is to do.

    `plan` is what the page's settings describe, None if they describe nothing to start.
    """

    def name_untrained(config: ModelConfig, recipe: Recipe) -> str:
        before = replace(config, dropout=0.0), recipe
        return "" if plan is None else experiment_buttons.untrained_sentence(list_changed_settings(before, plan.inputs))

    def follow_answer(experiment: Experiment[TrainingState]) -> None:
        scene = _scene(experiment)
        if scene is None:
            render([Paragraph(say("training", "answer-soon"), "answer")])
        else:
            render(view.show_progress(scene, name_untrained(*experiment.inputs)), scene)

    trained = trained_slot.session_slot().trained
    if session_experiments().get(PAGE) is not None:
        experiment_buttons.follow(follow_answer, PAGE)
    elif trained is None:
        render([Paragraph(say("training", "answer-new", task=current_value("training_task")), "answer")])
    else:
        results = Scene(trained)
        render(view.show_results(results, name_untrained(trained.config, trained.recipe)), results)


def show_run() -> None:
    """Draw the session's experiment, if there is one."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    experiment_buttons.follow(follow_curves, PAGE)
    title, key = say("training", "details"), f"{PAGE}_details_open"
    panel = st.expander(title, icon=":material/monitoring:", key=key, on_change="rerun")
    if panel.open:
        with panel:
            config, recipe = experiment.inputs
            st.caption(view.describe_training(config, recipe, training_data(recipe)))
            experiment_buttons.follow(follow_details, PAGE)
            show_tables()


def follow_curves(experiment: Experiment[TrainingState]) -> None:
    """Draw the progress bar and the curves so far."""
    scene, share = _scene(experiment), experiment.job.progress
    if scene is not None and scene.now.state.outcome == "diverged":
        share = scene.now.state.step / scene.now.state.recipe.steps
    experiment_buttons.show_progress(experiment, share, status_sentence(experiment))
    if experiment.job.status == "failed":
        st.error(experiment.job.error)
    if scene is not None:
        if scene.now.state.outcome == "diverged":
            st.warning(" ".join(filter(None, (scene.now.state.message, experiment.job.note))))
        render(view.show_curves(scene), scene)


def follow_details(experiment: Experiment[TrainingState]) -> None:
    """Draw the latest numbers, and the curves of each step so far."""
    if (scene := _scene(experiment)) is not None:
        render(view.show_details(scene), scene)


def status_sentence(experiment: Experiment[TrainingState]) -> str:
    """Return the status of a training in one or two sentences."""
    status, run, pending = experiment.job.status, experiment.state, experiment_buttons.pending_sentence(experiment)
    if pending or run is None or status == "failed":
        return pending
    if status == "cancelled":
        return say("training", "stopped", step=run.step, kept="yes" if run.trained else "no")
    steps = run.recipe.steps
    if run.outcome == "diverged":
        return say("training", "diverged", step=run.step, steps=steps)
    if status == "finished":
        return run.message
    at = say("training", "at", step=run.step, steps=steps)
    if run.teacher_step is not None:
        at = say("training", "at-teacher", step=run.teacher_step, steps=steps)
    return experiment_buttons.running_sentence(experiment, at)


@fragment
def show_tables() -> None:
    """Draw the numbers of all four charts, as of the moment when their table is opened."""
    experiment = session_experiments().get(PAGE)
    if experiment is not None:
        scene = Scene(experiment.state.history.copy() if experiment.state else History())
        render(view.show_numbers(scene), scene)


def follow_attention(experiment: Experiment[TrainingState]) -> None:
    """Draw one head's attention while it is learnt."""
    if (scene := _scene(experiment)) is not None:
        render(view.show_attention(scene, read_options(PAGE)), scene)


def _choose_head(layer: int, head: int) -> None:
    st.session_state["training_layer"], st.session_state["training_head"] = layer, head


def _offer_most_changed_head(most: tuple[int, int] | None) -> None:
    """Draw the button that shows this head."""
    st.button(
        say("training", "most-changed"),
        key="training_most_changed",
        on_click=_choose_head,
        args=most,
        disabled=most is None,
    )


def _pick_attention(names: list[str]) -> None:
    label, key = say("training", "which-attention"), "training_attention"
    if current_value(key) not in names:
        st.session_state[key] = names[0]
    st.segmented_control(label, names, default=names[0], required=True, key=key, bind="query-params")


WIDGETS |= {"training_attention": _pick_attention, "training_most_changed": _offer_most_changed_head}


# --- after it


def after_training(offer: DeltaGenerator, answers: DeltaGenerator) -> None:
    """Draw the session's trained network, if there is one, its heads, and an uploader that brings a network back.

    `offer` and `answers` are the containers of what can be done with the network, and of what it answers.
    """
    slot = trained_slot.session_slot()
    run, trained = slot.newest, slot.trained
    if slot.problem:
        st.warning(say("training", "not-kept", problem=slot.problem))
    experiment_buttons.follow(follow_attention, PAGE, every=2.5)
    experiment = session_experiments().get(PAGE)
    is_running = experiment is not None and experiment.in_progress
    if run is not None:
        with answers if is_running else offer:  # below the curves while they are what there is to see
            st.caption(describe_origin(run, current_value("run")))
            _offer_network(run)
        with answers:
            runs: Scene[Sequence[KeptRun]] = Scene(slot.runs)
            render(view.show_runs(runs), runs)
    _upload()
    if trained is not None and not is_running:
        with answers, panels.explain_errors():  # last, as it may end the page
            asked = view.AskedNetwork(trained, partial(_answer_samples, trained), partial(_answer_typed, trained))
            scene = Scene(asked)
            render(view.show_answers(scene, read_options(PAGE)), scene)
            write_text()


def _offer_network(run: KeptRun) -> None:
    """Draw what can be done with a network: other pages show it; a file keeps it."""
    trained = run.network
    with st.container(horizontal=True):
        st.button(
            say("training", "look"),
            key="training_look",
            icon=":material/visibility:",
            type="primary",
            on_click=shortcuts.choose_run,
            args=(run,),
            help=say("training", "look.help"),
        )
        st.download_button(
            say("training", "download"),
            in_turn(lambda: save(trained)),
            file_name=f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors",
            mime="application/octet-stream",
            key="training_download",
            icon=":material/download:",
            on_click="ignore",
        )
    st.caption(say("training", "keep-link") if trained_slot.is_shared(run) else say("training", "keep-file"))


def _open_run(run: KeptRun) -> None:
    """Show a run on every page, on this one with its settings, its answers and, if they are still there, its curves."""
    experiments, recipe = session_experiments(), run.network.recipe
    trained_slot.session_slot().put(run)
    if experiments.active_page() is None:
        experiments.discard(PAGE)
        _join_known(run.network)
    values = {f"training_{name}": query.read(f"training_{name}", write_all(vars(recipe)[name]))[0] for name in RECIPE}
    st.session_state.update({"training_task": run.network.task.title, **values})
    shortcuts.choose_run(run)


def _draw_run(run: KeptRun, told: str) -> None:
    """Draw one of several runs, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(told, width="content")
        for name, act, label, help_text in (
            ("open", _open_run, say("training", "open-run"), say("training", "open-run.help")),
            ("pin", shortcuts.pin_run, say("training", "pin-run"), say("training", "pin-run.help")),
        ):
            key = f"training_{name}_{run.key}"
            st.button(label, key=key, on_click=act, args=(run,), help=help_text, type="tertiary")


WIDGETS |= {"training_run": _draw_run}


def _upload() -> None:
    with st.expander(say("training", "upload"), icon=":material/upload:"):
        st.file_uploader(
            say("training", "upload.label"),
            key=saving.uploader_key(UPLOADER),
            on_change=_open_file,
            help=say("training", "upload.help"),
        )
        if PROBLEM in st.session_state:
            st.error(st.session_state[PROBLEM])


def _open_file() -> None:
    file = saving.take_file(UPLOADER)
    if file is not None:
        with saving.explain_failure(PROBLEM, "this file"), services().turns.hold_long_place(), services().turns.take():
            network = load(file.getvalue(), max_parameters=services().settings.max_parameters)
            trained_slot.session_slot().put(KeptRun(network, "opened"))


@cache_in_session(max_entries=1)
def _answer_samples(trained: TrainedNetwork) -> list[Sample]:
    with services().turns.take():
        return answer_samples(trained.network, validation_data(trained.recipe), trained.recipe)


@cache_in_session(max_entries=1)
def _answer_typed(trained: TrainedNetwork, typed: str) -> Sample:
    """The answer to a visitor's own sequence; raises as `MadeUpTask.read`, or BusyError."""
    recipe, data = trained.recipe, validation_data(trained.recipe)
    if not isinstance(trained.task, MadeUpTask):
        raise TypeError("a task of text reads no symbols")
    examples = trained.task.read(typed, recipe)
    with services().turns.take():
        return answer_examples(trained.network, data, examples, recipe)[0]
