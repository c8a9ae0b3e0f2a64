"""A training run that others look at: what it shows while it trains, and what stays of it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.training.after.trained_network import TrainedNetwork, from_trainer
from playground.training.evaluation import History, Measure
from playground.training.recipe import Recipe
from playground.training.tasks import Data, make_data
from playground.training.trainer import Outcome, Trainer


@dataclass
class TrainingState:
    """What is to be seen of a run: no weights while it trains, no training set after its end."""

    recipe: Recipe
    data: Data
    """After the end without the training set, and with the first sequence of the validation set alone."""
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

    def picture(self) -> "TrainingState":
        """The same, which does not grow."""
        return replace(self, history=self.history.copy())

    def after(self, last: "TrainingState | None") -> "TrainingState":
        """The same, but for what another has of the history already."""
        return self.picture() if last is None else replace(self, history=self.history.after(last.history))

    def followed_by(self, later: "TrainingState") -> "TrainingState":
        """A later state, with the history of this one before its own; never further back than this one is."""
        self.history.extend(later.history)
        if later.step < self.step and not later.outcome:
            later = replace(later, step=self.step, progress=self.progress, teacher_step=self.teacher_step)
        return replace(later, history=self.history)

    @property
    def n_bytes(self) -> int:
        """Memory that the network, the curves and the attention that was saved take, in bytes."""
        patterns = sum(each.nbytes for snapshot in self.history.snapshots for each in snapshot.patterns.values())
        numbers = 3 * 32 * len(self.history.loss)  # a float of Python's, and the list's pointer to it
        return patterns + numbers + (0 if self.trained is None else self.trained.n_bytes)


class TrainingRun:
    """A trainer that others look at while it trains; after its end, nothing but its last state."""

    def __init__(
        self, config: ModelConfig, recipe: Recipe, device: torch.device | None = None, data: Data | None = None
    ) -> None:
        self._trainer: Trainer | None = Trainer(config, recipe, device, data=data)
        data = self._trainer.data
        self._shown_data = replace(data, train=data.train[torch.arange(0)], validation=data.validation[torch.arange(1)])
        self.state = TrainingState(recipe, data, self._trainer.history)

    @property
    def progress(self) -> float:
        """The share of all steps that is done; 1 at the end."""
        return self.state.progress

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes, in bytes."""
        return self.state.n_bytes

    def run(self) -> Generator[None]:
        """Train, step by step."""
        trainer = self._trainer
        if trainer is not None:
            for _ in trainer.run():
                self._record_progress(trainer)
                yield

    def freeze(self, status: JobStatus) -> TrainingState:
        """What it has reached, with a copy of the network unless the run is paused or has failed."""
        trainer, state = self._trainer, self.state
        if trainer is None or status == "paused":
            return state.picture()
        frozen = replace(
            state.picture(),
            data=self._shown_data,
            kept_step=trainer.kept_step,
            outcome=trainer.outcome,
            message=trainer.message(),
        )
        if status != "failed" and frozen.step:
            trained = from_trainer(trainer)
            frozen.trained = trained
            frozen.kept = Measure(trained.results.validation_loss, trained.results.validation_accuracy)
        return frozen

    def update(self, last: TrainingState | None) -> TrainingState:
        """What is to be seen by somebody elsewhere who has `last` already."""
        return replace(self.state.after(last), data=self._shown_data)

    def checkpoint(self) -> dict[str, Any] | None:
        """All that a run needs to go on elsewhere, between two steps; None after the end."""
        return None if self._trainer is None else self._trainer.checkpoint()

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint instead of from the start."""
        if self._trainer is not None:
            self._trainer.restore(checkpoint)
            self._record_progress(self._trainer)

    def suspend(self) -> None:
        """Nothing: a paused run keeps its memory here."""

    def close(self, status: JobStatus) -> None:
        """Keep what it has reached, and free everything else."""
        if self._trainer is not None:
            self._record_progress(self._trainer)
            self.state, self._trainer = self.freeze(status), None

    def _record_progress(self, trainer: Trainer) -> None:
        teacher = trainer.teacher
        self.state.teacher_step = None if teacher is None or teacher.outcome else teacher.step
        self.state.step, self.state.progress = trainer.step, trainer.progress


@dataclass(frozen=True)
class TrainingRequest:
    """A training run in words."""

    config: ModelConfig
    recipe: Recipe
    device: str = "cpu"
    """As torch names it."""
    threads: int = 1
    """CPU threads, on which the last digits depend."""
    data: Data | None = None
    """The recipe's data, where it is there already; it does not travel."""

    def build(self) -> TrainingRun:
        """The run before its first step; raises as `Trainer`."""
        data = make_data(self.recipe) if self.data is None else self.data
        return TrainingRun(self.config, self.recipe, torch.device(self.device), data)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    def on_device(self, device: str) -> "TrainingRequest":
        """The same on another kind of device."""
        return replace(self, device=device)

    @property
    def parts(self) -> tuple["TrainingRequest", ...]:
        """The request itself: its steps follow from each other."""
        return (self,)

    def join(self, states: Sequence[TrainingState | None]) -> TrainingState | None:
        """The state of the whole from that of its parts."""
        return states[0]

    def __reduce__(self) -> tuple[object, ...]:
        return TrainingRequest, (self.config, self.recipe, self.device, self.threads)
