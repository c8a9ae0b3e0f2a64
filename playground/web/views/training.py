"""What only the live page Training has: a run in the background that is followed, its network, and what that writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from playground.charts.chart import Paragraph
from playground.charts.markdown import quote_token
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.link import query
from playground.link.params import RECIPE, TASK_TITLES, write_all
from playground.model import causal_mask
from playground.training.answers import Sample, answer_examples, answer_samples, generate, next_token_probabilities
from playground.training.cost import check_cost
from playground.training.kept_run import KeptRun, describe_origin, keep_history, list_changed_settings
from playground.training.network import History, Snapshot, Tagger
from playground.training.recipe import Recipe, architecture
from playground.training.run_state import TrainingRequest, TrainingState
from playground.training.tasks import Data
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.tasks.task import generator
from playground.training.trained_network import TrainedNetwork, load, save
from playground.views.training import (
    NO_ANSWER_YET,
    AskedNetwork,
    describe_training,
    most_changed_head,
    name_attention,
    show_answers,
    show_attention,
    show_curves,
    show_details,
    show_next_characters,
    show_nothing_yet,
    show_numbers,
    show_progress,
    show_results,
    show_runs,
    watch,
)
from playground.web.choices import shortcuts, widgets
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
from playground.web.session.memory_budget import MemoryReservation
from playground.web.session.services import services
from playground.web.session.trained_slot import TrainedSlot
from playground.web.session.weights_cache import cache_in_session
from playground.web.shared import experiment_buttons, panels, uploads
from playground.web.shared.experiment_buttons import (
    cancelled_clause,
    continuing_sentence,
    pending_sentence,
    untrained_sentence,
)
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import ON_CHANGE, WIDGETS, read_options, render

PAGE = "training"

UPLOADER = "training_file"
"""Name of the uploader."""

PROBLEM = "_training_problem"
"""Session key of the sentence that says why the last file was not opened."""

WRITTEN = "_training_written"
"""Session key of (the request, the ids of the prompt and of the generated text)."""

LENGTH = 300
"""Characters that are generated."""

CHUNK = 5
"""Characters that are computed in one turn, and shown together."""

N_BARS = 10
"""Characters in the chart of what may come next."""

_RESTART = " Start begins again at step 0, with the seed's first weights; Pause keeps your place."
"""What comes after a cancelled run that does not go on for others."""

_OPENED = "_training_head_opened"
"""Session key of the layer and head that the page has opened by itself; None once the visitor has chosen by hand."""


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
    shape = query.shape_to_train(current_setup().asked)
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
        MemoryReservation(training_bytes(plan.config, plan.recipe, data)),
        key=plan.key,
        seconds=plan.seconds,
        keep=not plan.recipe.text,  # what a visitor typed is nobody else's
        kept=lambda state: state.trained,
    )


def is_known(plan: TrainingPlan) -> bool:
    """Whether the server still has what this run has shown to somebody."""
    return services().runs.has_result(plan.key)


def show_training_again() -> None:
    """Show the run of a network that a link has brought, if the server still has what the run has shown."""
    slot = trained_slot.session_slot()
    if slot.newest is None or slot.newest.origin != "stored" or session_experiments().get(PAGE) is not None:
        return
    _join_known(slot.newest.network)


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
        return "What was trained before it stays."
    if state.trained is not slot.trained:
        run = keep_history(state.trained, state.history)
        slot.put(run)
        trained_slot.store(run)
    return ""


# --- while it goes on


def draw_answer(plan: TrainingPlan | None) -> None:
    """Draw what the network does now: that of the run, or else one that was trained before; or what there is to do.

    `plan` is what the page's settings describe, None where they describe nothing to start.
    """

    def name_untrained(config: ModelConfig, recipe: Recipe, *, is_active: bool = False) -> str:
        before = replace(config, dropout=0.0), recipe
        if plan is None:
            return ""
        return untrained_sentence(list_changed_settings(before, plan.inputs), is_active=is_active)

    def follow_answer(experiment: Experiment[TrainingState]) -> None:
        """Draw what the network does now."""
        if experiment.state is None:
            render([Paragraph(NO_ANSWER_YET, "answer")])
        else:
            scene = Scene(watch(experiment.state, experiment.job.seconds, grows=experiment.in_progress))
            render(show_progress(scene, name_untrained(*experiment.inputs, is_active=experiment.active)), scene)

    if session_experiments().get(PAGE) is None:
        trained = trained_slot.session_slot().trained
        if trained is None:
            render(show_nothing_yet(current_value("training_task"), is_known=plan is not None and is_known(plan)))
        else:
            scene = Scene(trained)
            render(show_results(scene, name_untrained(trained.config, trained.recipe)), scene)
    experiment_buttons.follow(follow_answer, PAGE)


def show_run() -> None:
    """Draw the session's experiment, if there is one."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    experiment_buttons.follow(follow_curves, PAGE)
    panel = st.expander(
        "More of this run: speed, learning rate, gradient, all numbers",
        icon=":material/monitoring:",
        key=f"{PAGE}_details_open",
        on_change="rerun",
    )
    if panel.open:
        with panel:
            config, recipe = experiment.inputs
            st.caption(f"**This run:** {describe_training(config, recipe, training_data(recipe))}.")
            experiment_buttons.follow(follow_details, PAGE)
            show_tables()


def follow_curves(experiment: Experiment[TrainingState]) -> None:
    """Draw the progress bar and the curves so far."""
    state = experiment.state
    diverged = state is not None and state.outcome == "diverged"
    share = state.step / state.recipe.steps if state is not None and diverged else experiment.progress
    experiment_buttons.show_progress(experiment, share, status_sentence(experiment))
    if experiment.job.status == "failed":
        st.error(experiment.job.error)
    if state is not None:
        if diverged and experiment.job.status != "failed":
            st.warning(" ".join(filter(None, (state.message, experiment.job.note))))
        scene = Scene(watch(state, experiment.job.seconds, grows=experiment.in_progress))
        render(show_curves(scene), scene)


def follow_details(experiment: Experiment[TrainingState]) -> None:
    """Draw the latest numbers, and the curves of each step so far."""
    if experiment.state is not None:
        scene = Scene(watch(experiment.state, experiment.job.seconds, grows=experiment.in_progress))
        render(show_details(scene), scene)


def status_sentence(experiment: Experiment[TrainingState]) -> str:
    """The status of a training in one or two sentences."""
    status, run, pending = experiment.job.status, experiment.state, pending_sentence(experiment)
    if pending:
        return pending
    if run is None or status == "failed":
        return "It failed."
    if status == "cancelled":
        end = "before its own first step; it has no weights to keep."
        if run.step:
            end = f"after step {run.step:,}; the weights of that step are kept."
        return f"{cancelled_clause(experiment)} {end}{'' if experiment.job.left else _RESTART}"
    if run.outcome == "diverged":
        return f"Ended at step {run.step:,} of {run.recipe.steps:,}."
    if status == "finished":
        return run.message
    at = f"step {run.step:,} of {run.recipe.steps:,}"
    if run.teacher_step is not None:
        at = f"its teacher, twice as wide, learns first: step {run.teacher_step:,} of {run.recipe.steps:,}"
    return continuing_sentence(experiment, at)


@fragment
def show_tables() -> None:
    """Draw the numbers of all four charts, as of the moment when their table is opened."""
    experiment = session_experiments().get(PAGE)
    if experiment is not None:
        scene = Scene(experiment.state.history.copy() if experiment.state else History())
        render(show_numbers(scene), scene)


def follow_attention(experiment: Experiment[TrainingState]) -> None:
    """Draw one head's attention while it is learnt."""
    if experiment.state is not None:
        run = watch(experiment.state, experiment.job.seconds, grows=experiment.in_progress)
        if not run.grows:
            _open_most_changed_head(run.state.history.snapshots)
        scene = Scene(run)
        render(show_attention(scene, read_options(PAGE)), scene)


def _open_most_changed_head(snapshots: Sequence[Snapshot]) -> None:
    """Choose the head whose attention changed most, unless a link or the visitor has chosen one."""
    options = read_options(PAGE)
    is_own = (options["training_layer"], options["training_head"]) == st.session_state.get(_OPENED, (0, 0))
    if not snapshots or not is_own:
        return
    most = most_changed_head(snapshots, name_attention(snapshots[0].patterns, options))
    if most is not None:
        _choose_head(*most)


def _choose_head(layer: int, head: int) -> None:
    st.session_state["training_layer"], st.session_state["training_head"] = st.session_state[_OPENED] = layer, head


def _offer_most_changed_head(most: tuple[int, int] | None) -> None:
    """Draw the button that shows this head."""
    st.button(
        "Show the head that changed most",
        key="training_most_changed",
        on_click=_choose_head,
        args=most,
        disabled=most is None,
    )


def _note_choice() -> None:
    st.session_state[_OPENED] = None


def _pick_attention(names: list[str]) -> None:
    if current_value("training_attention") not in names:
        st.session_state["training_attention"] = names[0]
    st.segmented_control(
        "Which attention", names, default=names[0], required=True, key="training_attention", bind="query-params"
    )


ON_CHANGE |= dict.fromkeys(("training_layer", "training_head"), _note_choice)
WIDGETS |= {"training_attention": _pick_attention, "training_most_changed": _offer_most_changed_head}


# --- after it


def after_training(offer: DeltaGenerator, answers: DeltaGenerator) -> None:
    """Draw the session's trained network, if there is one, its heads, and an uploader that brings a network back.

    `offer` and `answers` are the containers of what can be done with the network, and of what it answers.
    """
    slot = trained_slot.session_slot()
    run, trained = slot.newest, slot.trained
    if slot.problem:
        st.warning(f"What was trained last is not kept. {slot.problem}")
    experiment_buttons.follow(follow_attention, PAGE, every=2.5)
    experiment = session_experiments().get(PAGE)
    is_earlier = trained is not None and not (experiment and _has_left(experiment, trained))
    is_running = experiment is not None and experiment.in_progress
    if run is not None and trained is not None:
        with answers if is_running else offer:  # below the curves while they are what there is to see
            if is_earlier:
                st.caption(f"The network to take along is the one trained before: “{trained.task.title}”.")
            elif experiment is not None and not is_running:
                slot.note_seconds(experiment.job.seconds)
            st.caption(describe_origin(run, current_value("run")))
            _offer_network(run, is_first_choice=not is_earlier)
        with answers:
            runs: Scene[Sequence[KeptRun]] = Scene(slot.runs)
            render(show_runs(runs), runs)
    _upload()
    if trained is not None and not is_running:
        with answers:  # last, as it may end the page
            scene = Scene(AskedNetwork(trained, partial(_ask, trained), partial(_answer_typed, trained), is_earlier))
            render(show_answers(scene, read_options(PAGE)), scene)
            if trained.task.predicts_next:
                write_text()


def _has_left(experiment: Experiment[TrainingState], trained: TrainedNetwork) -> bool:
    """Whether a network is what this run has left."""
    left = experiment.state.trained if experiment.state else None
    return left is not None and left.key == trained.key


def _offer_network(run: KeptRun, *, is_first_choice: bool) -> None:
    """Draw what can be done with a network: other pages show it, in the theme's colour on request; a file keeps it."""
    trained = run.network
    with st.container(horizontal=True):
        st.button(
            "Look into it on every page",
            key="training_look",
            icon=":material/visibility:",
            type="primary" if is_first_choice else "secondary",
            on_click=shortcuts.choose_run,
            args=(run,),
            help="Every page then runs these weights; if they know less than half of your text, it becomes an example "
            "of the task. The sidebar has a switch to the same network before training.",
        )
        st.download_button(
            "Download (safetensors)",
            in_turn(lambda: save(trained)),
            file_name=f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors",
            mime="application/octet-stream",
            key="training_download",
            icon=":material/download:",
            on_click="ignore",
        )
    kept = "The link brings it back, to others too." if trained_slot.is_shared(run) else "A reload loses it."
    st.caption(f"{kept} A file keeps it.")
    if current_value("weights") == "trained here":
        listed = ["attention", "what-if", "norms", "parameters", "step-by-step", "positions"]
        if trained.task.has_decoder:
            listed.append("encoder-decoder")
        with st.container(horizontal=True):
            for page in map(page_named, listed):
                st.page_link(page, label=page.title, icon=":material/arrow_forward:")


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
        for name, act, help_text in (
            ("Open", _open_run, "Every page then runs these weights."),
            ("Pin", shortcuts.pin_run, "The pages then show this network beside what the sidebar has."),
        ):
            key = f"training_{name.lower()}_{run.key}"
            st.button(name, key=key, on_click=act, args=(run,), help=help_text, type="tertiary")


WIDGETS |= {"training_run": _draw_run}


def _upload() -> None:
    with st.expander("Open a network that was trained and downloaded here before", icon=":material/upload:"):
        st.file_uploader(
            "A file from the download button",
            key=uploads.uploader_key(UPLOADER),
            on_change=_open_file,
            help="It stays with this tab of your browser, and is shown to nobody else.",
        )
        if PROBLEM in st.session_state:
            st.error(st.session_state[PROBLEM])


def _open_file() -> None:
    file = uploads.take_file(UPLOADER)
    if file is not None:
        with uploads.explain_failure(PROBLEM, "this file"), services().turns.hold_long_place(), services().turns.take():
            network = load(file.getvalue(), max_parameters=services().settings.max_parameters)
            trained_slot.session_slot().put(KeptRun(network, "opened"))


def _ask(trained: TrainedNetwork) -> list[Sample]:
    with panels.explain_errors():
        return _answer_samples(trained)


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


# --- a network that has learnt the task “Next character” writes


@dataclass(frozen=True)
class GenerationRequest:
    """All that a generated text depends on."""

    network: str
    prompt: str
    temperature: float
    top_k: int
    seed: int


@fragment
def write_text() -> None:
    """Draw the prompt, the generated text, and the probabilities of the next character."""
    trained = trained_slot.session_slot().trained
    if trained is None or not trained.task.predicts_next:
        return
    st.header("What does it write?")
    request, data = _ask_for_request(trained), validation_data(trained.recipe)
    ids = _tokenize_prompt(trained, request.prompt)
    if not trained.recipe.causal:
        st.caption("It has learnt with the next character in sight, and never had to guess: do not expect much.")
    pressed = st.button("Write", key="training_write", icon=":material/edit:")
    page = st.empty()
    with panels.explain_errors():
        if pressed:
            st.session_state[WRITTEN] = (request, _generate(trained, data, ids, request, page))
        written, ids = st.session_state.get(WRITTEN, (None, []))
        if written is not None and written.network == request.network:
            page.code(data.text(ids), language=None, wrap_lines=True)
            if written != request:
                st.caption(
                    f"It was written at temperature {written.temperature:g}, top-k {written.top_k}, seed "
                    f"{written.seed}, after {quote_token(written.prompt)}. **Write** uses the present settings."
                )
            _next_character(trained, data, ids, request)


def _ask_for_request(trained: TrainedNetwork) -> GenerationRequest:
    prompt = widgets.text("training_prompt", "How it begins")
    with st.container(horizontal=True):
        temperature = widgets.size("training_heat", "temperature: 0 takes the likeliest, 1 draws what it believes")
        top_k = widgets.whole("training_top_k", "top-k: draw from the k likeliest, 0 is from all", high=20)
    return GenerationRequest(trained.key, prompt, temperature, top_k, current_value("seed"))


def _tokenize_prompt(trained: TrainedNetwork, prompt: str) -> list[int]:
    """The prompt's ids; a caption names the characters that the network does not know."""
    batch = trained.tokenizer.encode_batch([prompt])
    places = zip(batch.offsets[0], batch.unknown[0], strict=True)
    unknown = dict.fromkeys(prompt[begin:end] for (begin, end), is_unknown in places if is_unknown)
    if unknown:
        names = ", ".join(quote_token(character) for character in unknown)
        st.caption(f"In the text that it has learnt from there was no {names}: it reads [UNK] instead.")
    ids: list[int] = batch.ids[0].tolist()
    return ids


def _network(trained: TrainedNetwork) -> Tagger:
    if not isinstance(trained.network, Tagger):
        raise TypeError("a decoder generates in another way")
    return trained.network


def _generate(
    trained: TrainedNetwork, data: Data, ids: list[int], request: GenerationRequest, page: DeltaGenerator
) -> list[int]:
    """The ids with the generated ones, shown on the way; every few take a turn, so that other visitors get theirs."""
    characters = generate(
        _network(trained),
        ids,
        LENGTH,
        temperature=request.temperature,
        top_k=request.top_k,
        generator=generator(request.seed, "writing"),
        window=trained.recipe.length,
    )
    for _ in range(0, LENGTH, CHUNK):
        with services().turns.take():
            ids = [*ids, *islice(characters, CHUNK)]
        page.code(data.text(ids), language=None, wrap_lines=True)
    return ids


def _next_character(trained: TrainedNetwork, data: Data, ids: list[int], request: GenerationRequest) -> None:
    """Draw the probabilities of the next character."""
    window = torch.tensor([ids[-trained.recipe.length :]])
    with services().turns.take(), torch.inference_mode():
        logits = _network(trained)(window, causal_mask(window.shape[1], window.device))[0, -1]
    tokens, probabilities = next_token_probabilities(logits, request.temperature, request.top_k)
    likeliest = zip(tokens[:N_BARS].tolist(), probabilities[:N_BARS].tolist(), strict=True)
    shares: Mapping[str, float] = {data.labels[i]: probability for i, probability in likeliest}
    scene = Scene(shares)
    render(show_next_characters(scene, len(tokens)), scene)
