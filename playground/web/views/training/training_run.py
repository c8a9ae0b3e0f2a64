"""The Training page's run: planned from the settings, trained in the background, described in sentences."""

from dataclasses import dataclass, replace
from functools import partial

from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.link import query
from playground.link.params import RECIPE, TASK_TITLES, TRAINED_SIZES
from playground.training.after.run_state import TrainingRequest, TrainingState
from playground.training.cost import check_cost
from playground.training.network import count_head, count_network
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import TASKS, Data
from playground.training.tasks.task import Examples
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import caches, trained_slot
from playground.web.session.experiments import (
    Experiment,
    machine_speed,
    session_experiments,
    training_bytes,
    training_data,
    without_idle,
)
from playground.web.session.memory_budget import MemoryReservation
from playground.web.session.services import services
from playground.web.session.trained_slot import TrainedSlot
from playground.web.shared.experiment_buttons import cancelled_clause, continuing_sentence, pending_sentence

PAGE = "training"


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
    values, sizes = ({name: current_value(f"{PAGE}_{name}") for name in names} for names in (RECIPE, TRAINED_SIZES))
    task, seed = TASK_TITLES[current_value("training_task")], current_value("seed")
    recipe = without_idle(Recipe(task=task, seed=seed, **values))
    data = training_data(recipe)
    shape = {**current_setup().values, "norm": shortcuts.unlocked_norm(), **sizes}
    config = architecture(query.model_config(shape, vocab_size=1), recipe, data)
    limits = services().settings
    seconds = check_cost(
        config,
        recipe,
        machine_speed(),
        max_seconds=limits.max_training_seconds,
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
            plan.config, plan.recipe, device=str(caches.device()), threads=services().settings.threads, data=data
        ),
        partial(keep_network, slot),
        MemoryReservation(training_bytes(plan.config, plan.recipe, data)),
        key=plan.key,
        seconds=plan.seconds,
        keep=not plan.recipe.text,  # what a visitor typed is nobody else's
        kept=lambda state: state.trained,
    )


def show_training_again() -> None:
    """After a reload, show the run of the network that came back, if the server still has what the run has shown."""
    slot = trained_slot.session_slot()
    if slot.trained is None or not slot.came_back or session_experiments().get(PAGE) is not None:
        return
    plan = TrainingPlan(slot.trained.config, slot.trained.recipe, seconds=0.0)
    if services().runs.has_result(plan.key):
        session_experiments().start(PAGE, partial(create_experiment, plan))


def keep_network(slot: TrainedSlot, state: TrainingState, _status: JobStatus) -> str:
    """Put a run's network into a session's slot, unless it learnt nothing and there is another; says which stays."""
    if state.trained is None:
        return ""
    if not state.kept_step and slot.trained is not None:
        return "What was trained before it stays."
    if state.trained is not slot.trained:
        slot.put(state.trained)
    return ""


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
        return f"{cancelled_clause(experiment)} {end}"
    if run.outcome == "diverged":
        return f"Ended at step {run.step:,} of {run.recipe.steps:,}."
    if status == "finished":
        return run.message
    at = f"step {run.step:,} of {run.recipe.steps:,}"
    if run.teacher_step is not None:
        at = f"its teacher, twice as wide, learns first: step {run.teacher_step:,} of {run.recipe.steps:,}"
    return continuing_sentence(experiment, at)


def describe_size(config: ModelConfig, data: Data) -> str:
    """The parameters of the network that is trained, and how many of them the Parameters page leaves out."""
    part = "decoder" if data.task.has_decoder else "output head"
    total, head = (count(config, data.task, len(data.labels)) for count in (count_network, count_head))
    return f"{total:,} parameters, its {part}'s {head:,} among them"


def describe_lengths(examples: Examples) -> str:
    """How many sequences there are, and how long they are in tokens."""
    lengths = examples.mask.sum(1)
    shortest, longest = int(lengths.min()), int(lengths.max())
    mean = f" ({lengths.double().mean():.3g} on average)"
    return (
        f"{len(lengths):,} sequences of {longest} tokens"
        if shortest == longest
        else f"{len(lengths):,} sequences of {shortest} to {longest} tokens{mean}"
    )


def describe_training(config: ModelConfig, recipe: Recipe, data: Data) -> str:
    """Task, data, architecture, optimiser and seed of a run, in one line."""
    return (
        f"{TASKS[recipe.task].title} · {describe_lengths(data.train)} · n_layers {config.n_layers}, "
        f"n_heads {config.n_heads}, d_model {config.d_model}, d_ff {config.d_ff} · "
        f"{describe_size(config, data)} · "
        f"{recipe.optimizer}, {recipe.schedule} schedule, lr {recipe.lr:g} · seed {recipe.seed}"
    )
