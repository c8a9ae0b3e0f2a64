"""One training run, step by step, and what it costs. Legend: S scored positions, C classes."""

import math
import time
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import median
from typing import Literal

import torch
from torch import Tensor, nn

from playground.accounting import count_flops
from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.model.init import DROPOUT_POINTS, Embedding, Linear, set_dropout
from playground.runs.budget import check_budget, check_pair_budget
from playground.training.network import (
    N_EVALUATIONS,
    Evaluation,
    History,
    build_network,
    evaluate,
    evaluation_steps,
    keeps_attention,
    scores,
    select_scored,
    take_snapshot,
)
from playground.training.recipe import (
    MASK_ID,
    SPECIALS,
    Data,
    Examples,
    Recipe,
    architecture,
    generator,
    teacher_config,
)
from playground.training.tasks import TASKS, make_data


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """−∑ₖ qₖ log softmax(logits)ₖ, in nats, averaged; q is 1 − ε + ε/C at the target and ε/C elsewhere.

    Logits are (S, C), targets (S,) int64, and ε is `smoothing` (Szegedy et al. 2016, section 7).
    """
    log_p = logits.log_softmax(dim=-1)  # (S, C)
    right = -log_p.gather(-1, targets[:, None]).mean()
    if smoothing == 0:
        return right
    return (1 - smoothing) * right - smoothing * log_p.mean()


def distillation(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """τ² KL(softmax(teacher/τ) ‖ softmax(student/τ)), averaged, of logits (S, C) (Hinton et al. 2015, section 2)."""
    log_p = (student / temperature).log_softmax(dim=-1)
    log_q = (teacher / temperature).log_softmax(dim=-1)
    return temperature**2 * (log_q.exp() * (log_q - log_p)).sum(dim=-1).mean()


def mask_tokens(ids: Tensor, p: float, random: torch.Generator) -> Tensor:
    """Show ordinary tokens as [MASK] with probability p: (B, T) → (B, T)."""
    hidden = torch.rand(*ids.shape, generator=random).to(ids.device) < p
    return ids.masked_fill(hidden & (ids >= len(SPECIALS)), MASK_ID)


def build_optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """Return the recipe's optimiser; only matrices and tables decay."""
    decaying = {id(m.weight) for m in network.modules() if isinstance(m, Linear | Embedding) and recipe.weight_decay}
    groups = []
    for decays, decay in ((True, recipe.weight_decay), (False, 0.0)):
        if parameters := [p for p in network.parameters() if (id(p) in decaying) == decays]:
            groups.append({"params": parameters, "weight_decay": decay})
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(groups, recipe.lr, momentum=0.9, fused=True)
    kind = torch.optim.AdamW if recipe.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, recipe.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)  # Vaswani et al. 2017, section 5.3


def learning_rate(step: int, recipe: Recipe) -> float:
    """The learning rate of a step, from 1; the paper's peak is 1 / √(d_model · warmup) (Vaswani et al. 2017, eq. 3)."""
    if recipe.schedule == "constant":
        return recipe.lr
    return recipe.lr * min(step / recipe.warmup, math.sqrt(recipe.warmup / step))


def clip_gradient(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Return the whole gradient's norm, (), scaled to `max_norm` if above it (Pascanu et al. 2013, algorithm 1)."""
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm or math.inf)


class BestWeights:
    """A copy of the best weights (Prechelt 1998); without patience of the last no worse than untrained or guessing."""

    def __init__(self, network: nn.Module, patience: int, guess_loss: float) -> None:
        self.patience, self._n_not_lower = patience, 0
        self._lowest, self._highest_good = math.inf, guess_loss
        self._copy = 0, deepcopy(network.state_dict())

    def update(self, network: nn.Module, step: int, validation_loss: float) -> None:
        """Copy the weights after a step if they are better or good."""
        if not math.isfinite(validation_loss):
            return
        if step == 0:
            self._highest_good = max(self._highest_good, validation_loss)
        is_lower = validation_loss < self._lowest
        self._lowest = min(self._lowest, validation_loss)
        self._n_not_lower = 0 if is_lower else self._n_not_lower + 1
        if is_lower if self.patience else validation_loss <= self._highest_good:
            self._copy = step, deepcopy(network.state_dict())

    @property
    def out_of_patience(self) -> bool:
        """Whether it is time to stop."""
        return 0 < self.patience <= self._n_not_lower

    def restore(self, network: nn.Module, step: int, *, diverged: bool) -> int:
        """Give a network its final weights; return their step."""
        if self.patience or diverged:
            step, weights = self._copy
            network.load_state_dict(weights)
        return step


Outcome = Literal["", "finished", "stopped early", "diverged"]

DIVERGED, _RECENT = 10, 10
"""Ratio to guessing's loss that ends a run; steps that are averaged for it."""


class Trainer:
    """A recipe applied to an architecture; RecipeError if they don't fit. Without `watch`, it evaluates nothing."""

    def __init__(
        self,
        config: ModelConfig,
        recipe: Recipe,
        device: torch.device | None = None,
        *,
        data: Data | None = None,
        watch: bool = True,
    ) -> None:
        self.recipe, self.device = recipe, device or torch.device("cpu")
        self.data = make_data(recipe) if data is None else data
        self.config = architecture(config, recipe, self.data)
        self.network = build_network(self.config, self.data.task, len(self.data.labels), recipe.seed).to(self.device)
        set_dropout(
            self.network,
            dict.fromkeys(DROPOUT_POINTS, 0.0)
            | {"attention": recipe.dropout_attention, "residual": recipe.dropout_residual},
            {point: generator(recipe.seed, f"dropout {point}", self.device) for point in DROPOUT_POINTS},
        )
        self.optimizer = build_optimizer(self.network, recipe)
        self._parameters = list(self.network.parameters())
        self.teacher: Trainer | None = None
        if recipe.distill > 0:
            self.teacher = Trainer(teacher_config(config), replace(recipe, distill=0.0), device, data=self.data)
        self.step = self.kept_step = 0
        self.history = History()
        self.outcome: Outcome = ""
        self._augmenting = generator(recipe.seed, "augment")
        self._guess_loss = math.log(len(self.data.labels))
        self._best_weights = BestWeights(self.network, recipe.patience, self._guess_loss)
        self._evaluation_steps = evaluation_steps(recipe.steps) if watch or recipe.patience else frozenset()
        self._keeps_attention = keeps_attention(self.config, self.data)

    @property
    def progress(self) -> float:
        """Share of steps done, the teacher's included."""
        own = 1.0 if self.outcome else self.step / self.recipe.steps
        return own if self.teacher is None else (self.teacher.progress + own) / 2

    def run(self) -> Iterator[int]:
        """Train; yields after every step, the teacher's first."""
        if self.teacher is not None:
            yield from self.teacher.run()
        self.network.train()
        self._evaluate()
        for rows in self._batches():
            if not self._learn(self.data.train[rows]):
                return self._end("diverged")
            self._evaluate()
            if self._best_weights.out_of_patience:
                return self._end("stopped early")
            yield self.step
        self._end("finished")

    def message(self) -> str:
        """Return how the run ended; empty before."""
        if not self.outcome:
            return ""
        return f"The run {self.outcome} at step {self.step:,}; the weights of step {self.kept_step:,} are kept."

    def _batches(self) -> Iterator[Tensor]:
        order = generator(self.recipe.seed, "order")
        n, size = len(self.data.train.ids), min(self.recipe.batch_size, len(self.data.train.ids))
        waiting = torch.empty(0, dtype=torch.int64)
        for _ in range(self.recipe.steps):
            if len(waiting) < size:
                waiting = torch.cat([waiting, torch.randperm(n, generator=order)])
            rows, waiting = waiting[:size], waiting[size:]
            yield rows

    def _learn(self, batch: Examples) -> bool:
        """Take a step; False if the loss has run away."""
        seen = replace(batch, ids=mask_tokens(batch.ids, self.recipe.token_masking, self._augmenting))
        loss = self._loss(seen.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_gradient(self._parameters, self.recipe.clip)
        lr = learning_rate(self.step + 1, self.recipe)
        self.history.loss.append(loss.item())
        self.history.lr.append(lr)
        self.history.grad_norm.append(norm.item())
        self.step += 1
        if self._diverges():
            return False
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.kept_step = self.step
        return True

    def _loss(self, batch: Examples) -> Tensor:
        logits, targets = select_scored(scores(self.network, batch, self.recipe), batch.targets)
        loss = cross_entropy(logits, targets, self.recipe.label_smoothing)
        if self.teacher is None:
            return loss
        with torch.no_grad():
            theirs, _ = select_scored(scores(self.teacher.network, batch, self.recipe), batch.targets)
        share = self.recipe.distill
        return (1 - share) * loss + share * distillation(logits, theirs, self.recipe.temperature)

    def _diverges(self) -> bool:
        recent = self.history.loss[-_RECENT:]
        if not math.isfinite(recent[-1] + self.history.grad_norm[-1]):
            return True
        return sum(recent) / len(recent) > DIVERGED * max(self._guess_loss, self.history.loss[0])

    def _evaluate(self) -> None:
        if self.step not in self._evaluation_steps:
            return
        self.network.eval()
        n = self.recipe.n_validation
        evaluation = Evaluation(
            step=self.step,
            train=evaluate(self.network, self.data.train[slice(0, n)], self.recipe, self.device),
            validation=evaluate(self.network, self.data.validation, self.recipe, self.device),
        )
        if self._keeps_attention:
            self.history.snapshots[self.step] = take_snapshot(self.network, self.data, self.recipe, self.device)
        self.history.evaluations.append(evaluation)
        self._best_weights.update(self.network, self.step, evaluation.validation.loss)
        self.network.train()

    def _end(self, outcome: Outcome) -> None:
        self.kept_step = self._best_weights.restore(self.network, self.step, diverged=outcome == "diverged")
        self.network.eval().requires_grad_(False)
        self.optimizer.state.clear()
        self.outcome = outcome


# --- what it costs

MAX_ACTIVATIONS = 150_000_000
"""Numbers that one step may hold for its backward pass: 600 MB."""

_BACKWARD = 3
"""Forward passes that a step costs."""


@dataclass(frozen=True)
class Speed:
    """How fast this machine trains."""

    layer: float
    """Seconds of one layer of a step, however small."""
    operation: float
    """Seconds for each floating-point operation on top."""

    def seconds(self, config: ModelConfig, recipe: Recipe) -> float:
        """Return about how long a run takes, its teacher's included."""
        teacher = self.seconds(teacher_config(config), replace(recipe, distill=0.0)) if recipe.distill > 0 else 0.0
        size = min(recipe.batch_size, recipe.n_train)
        evaluated = 2 * N_EVALUATIONS * recipe.n_validation / size / _BACKWARD  # in steps
        layers = config.n_layers + 2  # the embeddings with the head, and all that is done around the network
        work = (recipe.steps + evaluated) * _work(config, size, recipe.length)
        return teacher + _n_encoders(recipe) * (recipe.steps * layers * self.layer + work * self.operation)


def measure_speed(device: torch.device) -> Speed:
    """Time two networks: one almost without work, one as the page's; on a CPU, in processor time."""
    small = ModelConfig(vocab_size=8, d_model=8, n_heads=1, n_layers=3, d_ff=8, max_len=16, dropout=0.0)
    usual = replace(small, d_model=64, n_heads=4, d_ff=256)
    overhead = _time(small, Recipe(length=4, n_train=4), device)
    busy = max(_time(usual, Recipe(length=16, n_train=64), device) - overhead, 1e-5)
    return Speed(overhead / (small.n_layers + 1), busy / _work(usual, 64, 16))


def check_cost(config: ModelConfig, recipe: Recipe, speed: Speed, *, max_seconds: float, max_parameters: int) -> None:
    """Raise TooLargeError for a run beyond the server's limits."""
    largest = teacher_config(config) if recipe.distill > 0 else config
    check_budget(largest, max_parameters)
    if TASKS[recipe.task].has_decoder:
        check_pair_budget(largest, largest.vocab_size, max_parameters)
    size = min(recipe.batch_size, recipe.n_train)
    if _n_encoders(recipe) * _activations(largest, size, recipe.length) > MAX_ACTIVATIONS:
        raise TooLargeError(
            f"One step would hold more than {MAX_ACTIVATIONS:,} numbers for its backward pass, the most here: choose a "
            "smaller batch, shorter sequences or fewer layers."
        )
    check_seconds(speed.seconds(config, recipe), max_seconds)


def check_seconds(seconds: float, most: float) -> None:
    """Raise TooLargeError for trainings that take longer than `most`."""
    if seconds > most:
        raise TooLargeError(
            f"This would train for about {duration(seconds)} here, and this server trains for at most "
            f"{duration(most)}: choose fewer steps or runs, or a smaller d_model, length or batch."
        )


def _activations(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    each = 12 * config.d_model + 3 * config.d_ff + 4 * config.n_heads * n_tokens
    return config.n_layers * n_sequences * n_tokens * each


def _work(config: ModelConfig, n_sequences: int, n_tokens: int) -> int:
    return _BACKWARD * count_flops(config, n_tokens, n_sequences).total


def _n_encoders(recipe: Recipe) -> float:
    return 2.5 if TASKS[recipe.task].has_decoder else 1.0  # a decoder's block attends twice


def _time(config: ModelConfig, recipe: Recipe, device: torch.device) -> float:
    clock = time.thread_time if device.type == "cpu" else time.perf_counter
    times = [clock() for _ in islice(Trainer(config, recipe, device, watch=False).run(), 9)]
    return median(after - before for before, after in pairwise(times))
