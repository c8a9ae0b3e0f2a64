"""A training run as a job that others look at, and what it will cost before it starts."""

import statistics
import time
from collections.abc import Generator
from dataclasses import dataclass, replace

import torch

from playground.accounting import count_flops, count_parameters
from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.jobs import Computation, JobStatus, Request
from playground.runs.budget import check_budget, check_pair_budget
from playground.training.network import N_EVALUATIONS, History, Tagger
from playground.training.recipe import Recipe, teacher_config
from playground.training.tasks import TASKS, Data
from playground.training.trained_network import TrainedNetwork, from_trainer
from playground.training.trainer import Outcome, Trainer, cross_entropy


@dataclass(frozen=True)
class TrainingState:
    """What is to be seen of a run: no weights while it trains, no training set."""

    config: ModelConfig
    recipe: Recipe
    data: Data
    """Of the training set nothing, of the validation set the first sequence."""
    history: History
    progress: float = 0.0
    step: int = 0
    teacher_step: int | None = None
    """While the teacher learns first."""
    outcome: Outcome = ""
    message: str = ""
    """How it ended."""
    trained: TrainedNetwork | None = None
    """After the end; None if no step was done."""

    @property
    def n_bytes(self) -> int:
        """Memory of network, curves and attention."""
        return self.history.n_bytes + (0 if self.trained is None else self.trained.n_bytes)


class Training(Computation[TrainingState]):
    """A trainer that others look at; after its end, its last state alone."""

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
        """What is to be seen by now."""
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
        """Keep what it has reached, and free everything else."""
        trainer, last = self._trainer, self.state
        if trainer is None:
            return
        trained = from_trainer(trainer) if status != "failed" and last.step else None
        self._state = replace(last, outcome=trainer.outcome, message=trainer.message(), trained=trained)
        self._trainer = None


@dataclass(frozen=True)
class TrainingRequest(Request[TrainingState]):
    """A training run in words."""

    config: ModelConfig
    recipe: Recipe

    def build(self) -> Training:
        """Return the run before its first step."""
        return Training(self.config, self.recipe, torch.device(self.device), self.data)


# --- its cost

MAX_ACTIVATIONS = 150_000_000
"""Numbers that one step may hold for its backward pass: 600 MB."""

_BACKWARD = 3
"""Forward passes that a step costs: its own, and gradients of inputs and of weights."""

_PER_ACTIVATION, _PER_PARAMETER = 60, 40
"""Operations for each number that is held, and for each that Adam updates."""


@dataclass(frozen=True)
class Speed:
    """How fast this machine trains."""

    layer: float
    """Seconds of one layer of a step, however small."""
    operation: float
    """Seconds for each floating-point operation on top."""

    def seconds(self, config: ModelConfig, recipe: Recipe) -> float:
        """Return how long a run takes, its teacher's included."""
        teacher = self.seconds(teacher_config(config), replace(recipe, distill=0.0)) if recipe.distill > 0 else 0.0
        size = min(recipe.batch_size, recipe.n_train)
        evaluated = N_EVALUATIONS * (recipe.n_validation + min(recipe.n_train, recipe.n_validation))
        layers = config.n_layers + 2  # the embeddings with the head, and all that is done around the network
        work = (recipe.steps + evaluated / size / _BACKWARD) * _work(config, size, recipe.length)
        return teacher + _n_encoders(recipe) * (recipe.steps * layers * self.layer + work * self.operation)


def measure_speed(device: torch.device) -> Speed:
    """Time two networks, in less than half a second: one almost without work, one as the page's."""
    small = ModelConfig(vocab_size=8, d_model=8, n_heads=1, n_layers=3, d_ff=8, max_len=16, dropout=0.0)
    usual = replace(small, d_model=64, n_heads=4, d_ff=256)
    overhead = _time(small, 4, 4, device)
    busy = max(_time(usual, 64, 16, device) - overhead, 1e-5)
    return Speed(overhead / (small.n_layers + 1), busy / _work(usual, 64, 16))


def check_cost(config: ModelConfig, recipe: Recipe, speed: Speed, *, max_seconds: float, max_parameters: int) -> float:
    """Return how many seconds a run takes; raise TooLargeError for one beyond the server's limits."""
    largest = teacher_config(config) if recipe.distill > 0 else config
    check_budget(largest, max_parameters)
    if TASKS[recipe.task].has_decoder:
        check_pair_budget(largest, largest.vocab_size, max_parameters)
    n_sequences = min(recipe.batch_size, recipe.n_train)
    numbers = round(_n_encoders(recipe) * _activations(largest, n_sequences, recipe.length))
    if numbers > MAX_ACTIVATIONS:
        raise TooLargeError(
            f"One step would hold {numbers:,} numbers for its backward pass, and this server holds at most "
            f"{MAX_ACTIVATIONS:,}: choose a smaller batch, shorter sequences or fewer layers."
        )
    seconds = speed.seconds(config, recipe)
    if seconds > max_seconds:
        raise TooLargeError(
            f"This would train for about {duration(seconds)} here, and this server trains for at most "
            f"{duration(max_seconds)}: choose fewer steps, or a smaller d_model, length or batch."
        )
    return seconds


def _activations(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    each = 12 * config.d_model + 3 * config.d_ff + 4 * config.n_heads * n_tokens
    return config.n_layers * n_sequences * n_tokens * each


def _work(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    products = _BACKWARD * count_flops(config, n_tokens, n_sequences).total
    activations = _PER_ACTIVATION * _activations(config, n_sequences, n_tokens)
    return products + activations + _PER_PARAMETER * count_parameters(config).total


def _n_encoders(recipe: Recipe) -> float:
    return 2.5 if TASKS[recipe.task].has_decoder else 1.0  # a decoder's block attends twice


def _time(config: ModelConfig, n_sequences: int, n_tokens: int, device: torch.device) -> float:
    network = Tagger(config, config.vocab_size).to(device).train()
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    ids = torch.arange(n_sequences * n_tokens, device=device).view(n_sequences, n_tokens) % config.vocab_size
    times = []
    for _ in range(8):
        started = time.perf_counter()
        optimizer.zero_grad()
        cross_entropy(network(ids).flatten(0, 1), ids.flatten()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])  # the first loads what the optimiser needs
