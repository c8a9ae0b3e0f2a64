"""The Training page's run: planned from the settings, trained in the background, described in sentences."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.training.after.trained_network import from_trainer
from playground.training.cost import check_cost
from playground.training.history import Measure
from playground.training.network import count_head, count_network
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import Data
from playground.training.tasks.task_list import TASKS
from playground.training.trainer import Trainer
from playground.web.choices import link, shortcuts
from playground.web.choices.experiment_params import RECIPE, TITLES, TRAINED_SIZES
from playground.web.choices.setup import current_setup, current_value
from playground.web.server.settings import settings
from playground.web.session import caches, trained_slot
from playground.web.session.experiment_inputs import (
    machine_speed,
    training_bytes,
    training_data,
    without_idle,
)
from playground.web.session.experiments import Experiment
from playground.web.session.memory_budget import MemoryReservation
from playground.web.session.trained_slot import TrainedSlot
from playground.web.shared.experiment_status import cancelled_clause, continuing_sentence, pending_sentence

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


def make_plan() -> TrainingPlan:
    """The run that the page's settings and the sidebar's architecture and seed describe.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the run would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    values, sizes = ({name: current_value(f"{PAGE}_{name}") for name in names} for names in (RECIPE, TRAINED_SIZES))
    task, seed = TITLES[current_value("training_task")], current_value("seed")
    recipe = without_idle(Recipe(task=task, seed=seed, **values))
    data = training_data(recipe)
    shape = {**current_setup().values, "norm": shortcuts.unlocked_norm(), **sizes}
    config = architecture(link.model_config(shape, vocab_size=1), recipe, data)
    limits = settings()
    seconds = check_cost(
        config,
        recipe,
        machine_speed(),
        max_seconds=limits.max_training_seconds,
        max_parameters=limits.max_parameters,
    )
    return TrainingPlan(config, recipe, seconds)


class TrainingRun:
    """A trainer while it trains; after its end only what charts need: no weights, no gradients, no training set."""

    def __init__(self, config: ModelConfig, recipe: Recipe) -> None:
        self.recipe, self.data = recipe, training_data(recipe)
        self._trainer: Trainer | None = Trainer(config, recipe, caches.device(), data=self.data)
        self.history = self._trainer.history
        self.step = self.kept_step = 0
        """Optimisation steps done; after the end, the step whose weights were kept."""
        self.kept: Measure | None = None
        """After the end, how these weights do on the validation set."""
        self.teacher_step: int | None = None
        """Steps of the teacher, while it learns first."""
        self.progress = 0.0
        self.outcome = self.message = ""

    def run(self) -> Iterator[None]:
        """Train, step by step."""
        trainer = self._trainer
        if trainer is not None:
            for _ in trainer.run():
                self._record_progress(trainer)
                yield

    def end(self, slot: TrainedSlot, status: JobStatus, reservation: MemoryReservation) -> None:
        """Put the network into the slot, in place of the run's reservation, and free everything else."""
        trainer, self._trainer = self._trainer, None
        if trainer is None:
            return
        self.data = replace(
            self.data, train=self.data.train[torch.arange(0)], validation=self.data.validation[torch.arange(1)]
        )
        self._record_progress(trainer)
        self.kept_step = trainer.kept_step
        self.outcome, self.message = trainer.outcome, trainer.message()
        if status == "failed" or not self.step:
            return
        if not trainer.kept_step and slot.trained is not None:
            self.message += " What was trained before it stays."
        else:
            trained = from_trainer(trainer)
            self.kept = Measure(trained.results.validation_loss, trained.results.validation_accuracy)
            slot.put(trained, replacing=reservation)

    def _record_progress(self, trainer: Trainer) -> None:
        teacher = trainer.teacher
        self.teacher_step = None if teacher is None or teacher.outcome else teacher.step
        self.step, self.progress = trainer.step, trainer.progress


def create_experiment(plan: TrainingPlan) -> Experiment[TrainingRun]:
    """Start a run in the background, from the initial weights of its seed."""
    slot = trained_slot.session_slot()  # now, as the job's thread belongs to no session
    reservation = MemoryReservation(training_bytes(plan.config, plan.recipe, training_data(plan.recipe)))
    return Experiment(
        plan.inputs,
        partial(TrainingRun, plan.config, plan.recipe),
        lambda run, status: run.end(slot, status, reservation),
        reservation,
    )


def status_sentence(experiment: Experiment[TrainingRun]) -> str:
    """The status of a training in one or two sentences."""
    status, run, pending = experiment.job.status, experiment.computation, pending_sentence(experiment)
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


def describe_run(config: ModelConfig, recipe: Recipe, data: Data) -> str:
    """Task, data, architecture, optimiser and seed of a run, in one line."""
    return (
        f"{TASKS[recipe.task].title} · {len(data.train):,} sequences of {recipe.length} · n_layers {config.n_layers}, "
        f"n_heads {config.n_heads}, d_model {config.d_model}, d_ff {config.d_ff} · "
        f"{describe_size(config, data)} · "
        f"{recipe.optimizer}, {recipe.schedule} schedule, lr {recipe.lr:g} · seed {recipe.seed}"
    )
