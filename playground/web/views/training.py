"""What only the live page Training has: settings, a run in the background that is followed, and its network."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts.chart import Paragraph
from playground.charts.names import quote_token
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.link import params, query
from playground.link.params import RECIPE, STRENGTHS, TASK_TITLES, write_all
from playground.training.answers import Sample, answer_examples, answer_samples, generate, next_tokens
from playground.training.job import TrainingRequest, TrainingState, check_cost
from playground.training.network import Tagger
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import TASKS
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.tasks.task import generator
from playground.training.trained_network import (
    KeptRun,
    TrainedNetwork,
    describe_origin,
    keep_history,
    list_changed_settings,
    load,
    save,
)
from playground.training.variants import REGULARISERS
from playground.views import training as view
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import experiments, own_models
from playground.web.session.experiments import Experiment
from playground.web.session.own_models import OwnModels
from playground.web.session.services import cache_in_session, services
from playground.web.shared import experiment_buttons, panels, saving
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import Live, read_options, render
from playground.words import say

PAGE = "training"

WRITTEN = "_training_written"
"""Session key: (the network's key, the ids of the generated text)."""

LENGTH, CHUNK, N_BARS = 300, 5, 10
"""Characters that are generated, that are computed in one turn, and that may come next in the chart."""

FOLDS = {
    "data": ("length", "n_symbols", "n_train"),
    "optimiser": ("optimizer", "schedule", "lr", "warmup", "batch_size"),
    "regularisers": tuple(STRENGTHS),
}
"""The recipe's fields whose widgets stand in a panel, which a newcomer need not open."""


# --- the run, in the background


def make_plan() -> TrainingRequest:
    """Return the run that the page and the sidebar describe; PlaygroundError if it can't be."""
    values = {name: current_value(f"{PAGE}_{name}") for name in RECIPE}
    recipe = experiments.without_idle(Recipe(task=_task(), seed=current_value("seed"), **values))
    shape = query.shape_to_train(current_setup().state.asked)
    config = architecture(params.model_config(shape, vocab_size=1), recipe, experiments.training_data(recipe))
    limits, speed = services().settings, experiments.machine_speed()
    check_cost(config, recipe, speed, max_seconds=experiments.most_seconds(), max_parameters=limits.max_parameters)
    return TrainingRequest(config, recipe)


def inputs_of(run: TrainingRequest | TrainedNetwork) -> tuple[ModelConfig, Recipe]:
    """Return all that a run's numbers depend on, so not the architecture's dropout."""
    return replace(run.config, dropout=0.0), run.recipe


def create_experiment(plan: TrainingRequest) -> Experiment[TrainingState]:
    """Take part in a run; start it if nobody has yet."""
    slot = own_models.session_models()  # now, as the job's thread belongs to no session
    data = experiments.training_data(plan.recipe)
    return experiments.join_experiment(
        inputs_of(plan),
        replace(plan, device=str(services().device), threads=services().settings.threads, data=data),
        partial(keep_network, slot),
        n_bytes=experiments.training_bytes(plan.config, plan.recipe, data),
        key=plan,
        keep=not plan.recipe.text,  # what a visitor typed is nobody else's
    )


def show_training_again() -> None:
    """Show the run of a network that a link has brought, if the server still has it."""
    run = own_models.session_models().newest
    if run is not None and run.origin == "stored" and experiments.session_experiments().get(PAGE) is None:
        _join_known(run.network)


def _join_known(trained: TrainedNetwork) -> None:
    plan = TrainingRequest(trained.config, trained.recipe)
    if services().pool.has_result(plan):
        experiments.session_experiments().start(PAGE, partial(create_experiment, plan))


def keep_network(slot: OwnModels, state: TrainingState, _status: JobStatus) -> None:
    """Put a run's network into a session's slot, unless it learnt nothing and another stays."""
    trained = state.trained
    if trained is None or trained is slot.trained or not (trained.results.kept_step or slot.trained is None):
        return
    run = keep_history(trained, state.history)
    slot.put(run)
    own_models.store(run)


# --- its settings


def _task() -> str:
    return TASK_TITLES[current_value("training_task")]


def draw_settings(plan: TrainingRequest | None) -> None:
    """Draw the widgets of all that a run depends on but its task; those without effect are left out."""
    task, now = TASKS[_task()], {name: current_value(f"{PAGE}_{name}") for name in RECIPE}
    if plan is not None:
        data = experiments.training_data(plan.recipe)
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


def _scene(experiment: Experiment[TrainingState]) -> Scene[view.WatchedRun] | None:
    if experiment.state is None:
        return None
    return Scene(view.watch(experiment.state, experiment.seconds, grows=not experiment.ended))


def draw_answer(plan: TrainingRequest | None) -> None:
    """Draw what the run's network does now, or one that was trained before; or what there is to do."""

    def answer(before: tuple[ModelConfig, Recipe], step: int, right: float, rule: float) -> Paragraph:
        changed = [] if plan is None else list_changed_settings(before, inputs_of(plan))
        return view.show_answer(before[1], step, right, rule, experiment_buttons.untrained_sentence(changed))

    def follow_answer(experiment: Experiment[TrainingState]) -> None:
        scene = _scene(experiment)
        if scene is None or scene.now.latest is None:
            render([Paragraph(say("training", "answer-soon"), "answer")])
        else:
            step, _, right = scene.now.latest
            render([answer(experiment.inputs, step, right, scene.now.state.data.baseline)])

    trained = own_models.session_models().trained
    if experiments.session_experiments().get(PAGE) is not None:
        experiment_buttons.follow(follow_answer, PAGE)
    elif trained is None:
        render([Paragraph(say("training", "answer-new", task=current_value("training_task")), "answer")])
    else:
        results = trained.results
        render([answer(inputs_of(trained), results.kept_step, results.validation_accuracy, results.baseline)])


def follow_curves(experiment: Experiment[TrainingState]) -> None:
    """Draw the progress bar and the curves so far."""
    experiment_buttons.show_progress(experiment, status_sentence(experiment))
    if experiment.status == "failed":
        st.error(experiment.error)
    if (scene := _scene(experiment)) is not None:
        render(view.show_curves(scene), scene)


def follow_details(experiment: Experiment[TrainingState]) -> None:
    """Draw the latest numbers, and how each step went."""
    if (scene := _scene(experiment)) is not None:
        render(view.show_details(scene), scene)


def follow_attention(experiment: Experiment[TrainingState]) -> None:
    """Draw one head's attention while it is learnt."""
    if (scene := _scene(experiment)) is not None:
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


def offer_network(run: KeptRun) -> None:
    """Draw what can be done with a network: other pages show it; a file keeps it."""
    trained = run.network
    st.caption(describe_origin(run, current_value("run")))
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
            services().turns.defer(lambda: save(trained)),
            file_name=f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors",
            mime="application/octet-stream",
            key="training_download",
            icon=":material/download:",
            on_click="ignore",
        )
    st.caption(say("training", "keep-link") if own_models.is_shared(run) else say("training", "keep-file"))


def draw_runs(runs: Sequence[KeptRun]) -> None:
    """Draw what the session has trained, side by side."""
    scene = Scene(runs)
    render(view.show_runs(scene), scene, Live(widgets={"training_run": _draw_run}))


def _draw_run(run: KeptRun, told: str) -> None:
    label, help_text, key = say("training", "open-run"), say("training", "open-run.help"), f"training_open_{run.key}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(told, width="content")
        st.button(label, key=key, on_click=_open_run, args=(run,), help=help_text, type="tertiary")


def _open_run(run: KeptRun) -> None:
    """Show a run on every page; on this one with settings, answers and, if they are still there, curves."""
    own, recipe = experiments.session_experiments(), run.network.recipe
    own_models.session_models().put(run)
    if own.active_page() is None:
        own.discard(PAGE)
        _join_known(run.network)
    values = {f"training_{name}": query.read(f"training_{name}", write_all(vars(recipe)[name]))[0] for name in RECIPE}
    st.session_state.update({"training_task": run.network.task.title, **values})
    shortcuts.choose_run(run)


def draw_upload() -> None:
    """Draw an uploader that brings a network back."""
    with st.expander(say("training", "upload"), icon=":material/upload:"):
        help_text = say("training", "upload.help")
        saving.draw_uploader(say("training", "upload.label"), "training_file", _open_file, help=help_text)


def _open_file(file: UploadedFile) -> None:
    with services().turns.hold_long_place(), services().turns.take():
        network = load(file.getvalue(), max_parameters=services().settings.max_parameters)
    own_models.session_models().put(KeptRun(network, "opened"))


def draw_answers(trained: TrainedNetwork) -> None:
    """Draw what a network answers and writes; may end the page."""
    with panels.explain_errors():
        scene, samples = Scene(trained), _answer_samples(trained)
        render(view.show_answers(scene, read_options(PAGE), samples, partial(_answer_typed, trained)), scene)
        write_text()


@cache_in_session
def _answer_samples(trained: TrainedNetwork) -> list[Sample]:
    with services().turns.take():
        return answer_samples(trained.network, experiments.validation_data(trained.recipe), trained.recipe)


@cache_in_session
def _answer_typed(trained: TrainedNetwork, typed: str) -> Sample:
    recipe, data = trained.recipe, experiments.validation_data(trained.recipe)
    if not isinstance(trained.task, MadeUpTask):
        raise TypeError("a task of text reads no symbols")
    examples = trained.task.read(typed, recipe)
    with services().turns.take():
        return answer_examples(trained.network, data, examples, recipe)[0]


@fragment
def write_text() -> None:
    """Draw the prompt, the generated text, and what may come next, if the network writes."""
    trained = own_models.session_models().trained
    if trained is None or not trained.task.predicts_next or not isinstance(trained.network, Tagger):
        return
    st.header(say("training", "writes"))
    prompt = widgets.text("training_prompt", say("training", "writes.prompt"))
    with st.container(horizontal=True):
        temperature = widgets.size("training_heat", say("training", "writes.heat"))
        top_k = widgets.whole("training_top_k", say("training", "writes.top-k"), high=20)
    ids = _tokenize_prompt(trained, prompt)
    pressed = st.button(say("training", "writes.button"), key="training_write", icon=":material/edit:")
    page, data, length = st.empty(), experiments.validation_data(trained.recipe), trained.recipe.length
    with panels.explain_errors():
        if pressed:
            drawn = generate(
                trained.network, ids, temperature, top_k, generator(current_value("seed"), "writing"), length
            )
            for _ in range(0, LENGTH, CHUNK):
                with services().turns.take():  # every few, so that other visitors get theirs
                    ids = [*ids, *islice(drawn, CHUNK)]
                page.code(data.text(ids), language=None, wrap_lines=True)
            st.session_state[WRITTEN] = (trained.key, ids)
        key, written = st.session_state.get(WRITTEN, ("", []))
        if key == trained.key:
            page.code(data.text(written), language=None, wrap_lines=True)
            with services().turns.take():
                tokens, probabilities = next_tokens(trained.network, written[-length:], temperature, top_k)
            likeliest = zip(tokens[:N_BARS].tolist(), probabilities[:N_BARS].tolist(), strict=True)
            shares: Scene[Mapping[str, float]] = Scene({data.labels[i]: share for i, share in likeliest})
            render(view.show_next_characters(shares, len(tokens)), shares)


def _tokenize_prompt(trained: TrainedNetwork, prompt: str) -> list[int]:
    """Return the prompt's ids; a caption names unknown characters."""
    batch = trained.tokenizer.encode_batch([prompt])
    places = zip(batch.offsets[0], batch.unknown[0], strict=True)
    unknown = dict.fromkeys(prompt[begin:end] for (begin, end), is_unknown in places if is_unknown)
    if unknown:
        st.caption(say("training", "unknown", characters=", ".join(map(quote_token, unknown))))
    ids: list[int] = batch.ids[0].tolist()
    return ids
