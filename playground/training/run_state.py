"""A training that others look at: what it shows while it goes on, and what stays of it."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus, PortableRequest
from playground.jobs.job import ResumableComputation
from playground.training.network import History, Measure
from playground.training.recipe import Recipe
from playground.training.tasks import Data
from playground.training.trained_network import TrainedNetwork, from_trainer
from playground.training.trainer import Outcome, Trainer


@dataclass
class TrainingState:
    """What is to be seen of a run: no weights while it trains, no training set after its end."""

    config: ModelConfig
    recipe: Recipe
    data: Data
    """Without the training set, and with the first sequence of the validation set alone."""
    history: History
    progress: float = 0.0
    step: int = 0
    """Optimisation steps done."""
    teacher_step: int | None = None
    """Steps of the teacher, while it learns first."""
    outcome: Outcome = ""
    message: str = ""
    """How it ended; empty before."""
    kept_step: int = 0
    """After the end, the step whose weights were kept."""
    kept: Measure | None = None
    """After the end, how these weights do on the validation set."""
    trained: TrainedNetwork | None = None
    """After the end, the network; None where no step was done."""

    @property
    def n_bytes(self) -> int:
        """Memory that the network, the curves and the attention that was saved take, in bytes."""
        return self.history.n_bytes + (0 if self.trained is None else self.trained.n_bytes)


class Training(ResumableComputation[TrainingState]):
    """A trainer that others look at while it trains; after its end, nothing but its last state."""

    def __init__(
        self, config: ModelConfig, recipe: Recipe, device: torch.device | None = None, data: Data | None = None
    ) -> None:
        self._trainer: Trainer | None = Trainer(config, recipe, device, data=data)
        data = self._trainer.data
        shown = replace(data, train=data.train[torch.arange(0)], validation=data.validation[torch.arange(1)])
        self._state = TrainingState(self._trainer.config, recipe, shown, self._trainer.history)

    @property
    def state(self) -> TrainingState:
        """What is to be seen of the run."""
        return self._state

    def run(self) -> Generator[None]:
        """Train, step by step."""
        trainer = self._trainer
        if trainer is not None:
            for _ in trainer.run():
                self._record_progress(trainer)
                yield

    def freeze(self, status: JobStatus) -> TrainingState:
        """What it has reached, with a copy of the network unless the run is paused or has failed."""
        trainer, picture = self._trainer, replace(self._state, history=self._state.history.copy())
        if trainer is None or status == "paused":
            return picture
        frozen = replace(picture, kept_step=trainer.kept_step, outcome=trainer.outcome, message=trainer.message())
        if status != "failed" and frozen.step:
            trained = from_trainer(trainer)
            frozen.trained = trained
            frozen.kept = Measure(trained.results.validation_loss, trained.results.validation_accuracy)
        return frozen

    def checkpoint(self) -> dict[str, Any] | None:
        """All that a run needs to go on elsewhere, between two steps; None after the end."""
        return None if self._trainer is None else self._trainer.checkpoint()

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint instead of from the start."""
        if self._trainer is not None:
            self._trainer.restore(checkpoint)
            self._record_progress(self._trainer)

    def close(self, status: JobStatus) -> None:
        """Keep what it has reached, and free everything else."""
        if self._trainer is not None:
            self._record_progress(self._trainer)
            self._state, self._trainer = self.freeze(status), None

    def _record_progress(self, trainer: Trainer) -> None:
        teacher = trainer.teacher
        self._state.teacher_step = None if teacher is None or teacher.outcome else teacher.step
        self._state.step, self._state.progress = trainer.step, trainer.progress


@dataclass(frozen=True)
class TrainingRequest(PortableRequest[TrainingState]):
    """A training run in words; its `data` are the recipe's."""

    config: ModelConfig
    recipe: Recipe

    def build(self) -> Training:
        """The run before its first step; raises as `Trainer`."""
        return Training(self.config, self.recipe, torch.device(self.device), self.data)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)
