"""A training that others look at: what it shows while it goes on, and what stays of it."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import torch

from playground.config import ModelConfig
from playground.jobs import Computation, JobStatus, Request
from playground.training.network import History, Measure
from playground.training.recipe import Recipe
from playground.training.tasks import Data
from playground.training.trained_network import TrainedNetwork, from_trainer
from playground.training.trainer import Outcome, Trainer


@dataclass(frozen=True)
class TrainingState:
    """What is to be seen of a run: no weights while it trains, no training set."""

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
    """After the end, the network; None if no step was done."""

    @property
    def n_bytes(self) -> int:
        """Memory that the network, the curves and the attention that was saved take, in bytes."""
        return self.history.n_bytes + (0 if self.trained is None else self.trained.n_bytes)


class Training(Computation[TrainingState]):
    """A trainer that others look at while it trains; after its end, nothing but its last state."""

    def __init__(
        self, config: ModelConfig, recipe: Recipe, device: torch.device | None = None, data: Data | None = None
    ) -> None:
        trainer = Trainer(config, recipe, device, data=data)
        self._trainer: Trainer | None = trainer
        data = trainer.data
        shown = replace(data, train=data.train[torch.arange(0)], validation=data.validation[torch.arange(1)])
        self._state = TrainingState(trainer.config, recipe, shown, trainer.history)

    @property
    def state(self) -> TrainingState:
        """Return what is to be seen by now."""
        trainer = self._trainer
        if trainer is None:
            return self._state
        teacher = trainer.teacher
        return replace(
            self._state,
            history=trainer.history.copy(),
            progress=trainer.progress,
            step=trainer.step,
            teacher_step=None if teacher is None or teacher.outcome else teacher.step,
        )

    def run(self) -> Generator[int]:
        """Train, step by step."""
        if self._trainer is not None:
            yield from self._trainer.run()

    def close(self, status: JobStatus) -> None:
        """Keep what it has reached, with a copy of the network, and free everything else."""
        trainer, last = self._trainer, self.state
        if trainer is None:
            return
        last = replace(last, kept_step=trainer.kept_step, outcome=trainer.outcome, message=trainer.message())
        if status != "failed" and last.step:
            trained = from_trainer(trainer)
            kept = Measure(trained.results.validation_loss, trained.results.validation_accuracy)
            last = replace(last, trained=trained, kept=kept)
        self._state, self._trainer = last, None


@dataclass(frozen=True)
class TrainingRequest(Request[TrainingState]):
    """A training run in words; its `data` are the recipe's."""

    config: ModelConfig
    recipe: Recipe

    def build(self) -> Training:
        """Return the run before its first step; raises as `Trainer`."""
        return Training(self.config, self.recipe, torch.device(self.device), self.data)
