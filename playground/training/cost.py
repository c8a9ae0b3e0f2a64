"""What a training run will cost, before it starts: seconds on this machine, and numbers held in memory."""

import statistics
import time
from dataclasses import dataclass, replace

import torch

from playground.accounting import count_flops, count_parameters
from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.runs.budget import check_budget, check_pair_budget
from playground.training.network import N_EVALUATIONS, Tagger
from playground.training.recipe import Recipe, teacher_config
from playground.training.tasks import TASKS
from playground.training.trainer import cross_entropy

MAX_ACTIVATIONS = 150_000_000
"""Numbers that one step may hold for its backward pass, in fp32: 600 MB."""

_BACKWARD = 3
"""A training step costs three forward passes: its own, and two for the gradients of inputs and of weights."""

_PER_ACTIVATION = 60
"""Operations for each number held for the backward pass: what is no matrix product reads and writes memory."""

_PER_PARAMETER = 40
"""Operations for each parameter, as long as one multiplication takes: Adam reads and writes five numbers for each."""


@dataclass(frozen=True)
class Speed:
    """How fast this machine trains."""

    layer: float
    """Seconds that one layer of a training step takes however small it is."""
    operation: float
    """Seconds for each floating-point operation on top."""

    def slowed(self, factor: float) -> "Speed":
        """Return the speed of a machine that is `factor` times slower."""
        return Speed(self.layer * factor, self.operation * factor)

    def seconds(self, config: ModelConfig, recipe: Recipe) -> float:
        """Return how long a run takes, its teacher's included."""
        teacher = self.seconds(teacher_config(config), replace(recipe, distill=0.0)) if recipe.distill > 0 else 0.0
        size = min(recipe.batch_size, recipe.n_train)
        evaluated = N_EVALUATIONS * (recipe.n_validation + min(recipe.n_train, recipe.n_validation))
        layers = config.n_layers + 2  # the embeddings with the head, and all that is done around the network
        work = (recipe.steps + evaluated / size / _BACKWARD) * _work(config, size, recipe.length)
        own = _n_encoders(recipe) * (recipe.steps * layers * self.layer + work * self.operation)
        return own + teacher


def measure_speed(device: torch.device) -> Speed:
    """Time two networks on this machine, in less than half a second: one almost without work, one as the page's."""
    small = ModelConfig(vocab_size=8, d_model=8, n_heads=1, n_layers=3, d_ff=8, max_len=16, dropout=0.0)
    usual = replace(small, d_model=64, n_heads=4, d_ff=256)
    overhead = _time(small, 4, 4, device)
    busy = max(_time(usual, 64, 16, device) - overhead, 1e-5)
    return Speed(overhead / (small.n_layers + 1), busy / _work(usual, 64, 16))


def check_cost(config: ModelConfig, recipe: Recipe, speed: Speed, *, max_seconds: float, max_parameters: int) -> float:
    """Return how many seconds a run takes; refuse one beyond the server's limits.

    Raises:
        TooLargeError: says what to make smaller.
    """
    largest = teacher_config(config) if recipe.distill > 0 else config
    check_budget(largest, max_parameters)
    if TASKS[recipe.task].has_decoder:
        check_pair_budget(largest, largest.vocab_size, max_parameters)
    numbers = count_activations(largest, recipe)
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


def count_activations(config: ModelConfig, recipe: Recipe) -> int:
    """About how many numbers one training step holds for its backward pass."""
    return round(_n_encoders(recipe) * _activations(config, min(recipe.batch_size, recipe.n_train), recipe.length))


def _activations(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    each = 12 * config.d_model + 3 * config.d_ff + 4 * config.n_heads * n_tokens
    return config.n_layers * n_sequences * n_tokens * each


def _work(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    """What one training step of an encoder computes, in floating-point operations."""
    products = _BACKWARD * count_flops(config, n_tokens, n_sequences).total
    activations = _PER_ACTIVATION * _activations(config, n_sequences, n_tokens)
    return products + activations + _PER_PARAMETER * count_parameters(config).total


def _n_encoders(recipe: Recipe) -> float:
    """How many encoders a network is worth; a decoder's block attends twice."""
    return 2.5 if TASKS[recipe.task].has_decoder else 1.0


def _time(config: ModelConfig, n_sequences: int, n_tokens: int, device: torch.device) -> float:
    """Seconds of one training step, the median of a few; the first, which loads what the optimiser needs, left out."""
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
    return statistics.median(times[1:])
