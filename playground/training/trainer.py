"""One training run, step by step: whoever iterates decides when the next step is taken."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.model.dropout import DROPOUT_POINTS, set_dropout
from playground.training.augment import add_noise, augment
from playground.training.best_weights import BestWeights
from playground.training.evaluation import (
    evaluate,
    evaluation_steps,
    scores,
    select_scored,
    snapshot_steps,
    take_snapshot,
)
from playground.training.history import Evaluation, History
from playground.training.learning_state import copy_learning, copy_to_cpu, restore_learning
from playground.training.losses import cross_entropy, distillation
from playground.training.network import build_network
from playground.training.optimiser import build_optimizer, clip_gradient, learning_rate
from playground.training.recipe import Recipe, architecture, teacher_config
from playground.training.seeding import generator
from playground.training.tasks import Data, Examples, make_data

Outcome = Literal["", "finished", "stopped early", "diverged"]

DIVERGED = 10
"""A run is given up when its loss is this many times that of guessing, or of the untrained network if that is worse."""

_RECENT = 10
"""Steps whose average loss decides that."""


_NUMBERS = ("step", "kept_step", "outcome", "_seconds", "_tokens")
"""Attributes of a trainer that change while it trains."""


class Trainer:
    """A recipe applied to an architecture.

    Args:
        config: the architecture; its `vocab_size` becomes the task's, its `dropout` gives way to the recipe's four.
        recipe: what to do.
        device: where; the CPU by default.
        data: the recipe's data, if it is there already.
        watch: whether to evaluate and to save attention on the way; the weights come out the same.

    Attributes:
        config: the architecture that is trained.
        network: in train mode while it is learning and in eval mode afterwards.
        teacher: the run that trains the teacher first, where the recipe distils.
        step: optimisation steps done.
        outcome: how it ended; empty before.
        kept_step: the step after which the network had the weights that it has: at the end, perhaps an earlier one.

    Raises:
        RecipeError: the recipe does not fit its task or the architecture.
    """

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
        add_noise(self.network.encoder, recipe.noise, generator(recipe.seed, "noise", self.device))
        set_dropout(
            self.network,
            {
                "positions": recipe.dropout_positions,
                "attention": recipe.dropout_attention,
                "feed-forward": recipe.dropout_feedforward,
                "residual": recipe.dropout_residual,
            },
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
        self._augmenting, self._shuffling = (generator(recipe.seed, purpose) for purpose in ("augment", "shuffle"))
        self._guess_loss = math.log(len(self.data.labels))
        self._best_weights = BestWeights(self.network, recipe.patience, self._guess_loss)
        self._evaluation_steps = evaluation_steps(recipe.steps) if watch or recipe.patience else frozenset()
        self._snapshot_steps = snapshot_steps(self.config, recipe.steps, self.data)
        self._seconds, self._tokens = 0.0, 0

    @property
    def progress(self) -> float:
        """The share of all steps that is done, the teacher's included; 1 at the end."""
        own = 1.0 if self.outcome else self.step / self.recipe.steps
        return own if self.teacher is None else (self.teacher.progress + own) / 2

    def run(self) -> Iterator[int]:
        """Train; yields after every step of the teacher, then of the network. One iterator for the whole run."""
        if self.teacher is not None and not self.teacher.outcome:
            yield from self.teacher.run()
        self.network.train()
        if not self.step:
            self._evaluate()
        for rows in islice(self._batches(), self.step, None):
            if not self._learn(self.data.train[rows]):
                return self._end("diverged")
            self._evaluate()
            if self._best_weights.out_of_patience:
                return self._end("stopped early")
            yield self.step
        self._end("finished")

    def message(self) -> str:
        """One sentence on how the run ended, and one on its teacher's end if that was a bad one; empty before."""
        if not self.outcome:
            return ""
        if self.outcome == "diverged":
            end = (
                f"The loss ran away at step {self.step:,} with a learning rate of {self.recipe.lr:g}; the weights of "
                f"step {self.kept_step:,} are kept. A smaller learning rate, a longer warm-up or clipping would help."
            )
        elif self.outcome == "stopped early":
            end = (
                f"The validation loss had not fallen for {self.recipe.patience} evaluations at step {self.step:,}; "
                f"the weights of step {self.kept_step:,}, the best, are back."
            )
        else:
            kept = f" The best weights, of step {self.kept_step:,}, are back." if self.kept_step != self.step else ""
            end = f"All {self.step:,} steps are done.{kept}"
        if self.teacher is None or self.teacher.outcome != "diverged":
            return end
        return (
            f"{end} The loss of its teacher had run away at step {self.teacher.step:,}: it taught with the weights of "
            f"step {self.teacher.kept_step:,}."
        )

    def checkpoint(self) -> dict[str, Any]:
        """All that a run needs to go on elsewhere, between two steps; `restore` gives it to an equal trainer."""
        return {
            "numbers": {name: vars(self)[name] for name in _NUMBERS},
            "history": self.history.copy(),
            "learning": copy_learning(self.network, self.optimizer, (self._augmenting, self._shuffling)),
            "best weights": copy_to_cpu(vars(self._best_weights)),
            "teacher": None if self.teacher is None else self.teacher.checkpoint(),
        }

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint instead of from the start: every later number is as if nothing had happened."""
        vars(self).update(checkpoint["numbers"])
        vars(self.history).update(vars(checkpoint["history"].copy()))
        restore_learning(checkpoint["learning"], self.network, self.optimizer, (self._augmenting, self._shuffling))
        vars(self._best_weights).update(checkpoint["best weights"])
        if self.teacher is not None:
            self.teacher.restore(checkpoint["teacher"])
        if self.outcome:
            self.network.eval().requires_grad_(False)

    def _batches(self) -> Iterator[Tensor]:
        """The rows of each step's batch: the training set, shuffled anew whenever it is used up."""
        order = generator(self.recipe.seed, "order")
        n, size = len(self.data.train.ids), min(self.recipe.batch_size, len(self.data.train.ids))
        waiting = torch.empty(0, dtype=torch.int64)
        for _ in range(self.recipe.steps):
            if len(waiting) < size:
                waiting = torch.cat([waiting, torch.randperm(n, generator=order)])
            rows, waiting = waiting[:size], waiting[size:]
            yield rows

    def _learn(self, batch: Examples) -> bool:
        """Take one step downhill; False, and no step, where the loss has run away."""
        started = time.perf_counter()
        seen = replace(batch, ids=augment(batch.ids, self.recipe, self._augmenting, self._shuffling))
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
        self._seconds += time.perf_counter() - started
        self._tokens += int(batch.mask.sum())
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
        """Evaluate, save attention, and update the best weights, after the steps that are for that."""
        if self.step not in self._evaluation_steps:
            return
        self.network.eval()
        n = self.recipe.n_validation
        evaluation = Evaluation(
            step=self.step,
            train=evaluate(self.network, self.data.train[slice(0, n)], self.recipe, self.device),
            validation=evaluate(self.network, self.data.validation, self.recipe, self.device),
            tokens_per_second=self._tokens / self._seconds if self._seconds else 0.0,
        )
        self._seconds, self._tokens = 0.0, 0
        if self.step in self._snapshot_steps:
            self.history.snapshots.append(take_snapshot(self.network, self.data, self.recipe, self.step, self.device))
        self.history.evaluations.append(evaluation)
        self._best_weights.update(self.network, self.step, evaluation.validation.loss)
        self.network.train()

    def _end(self, outcome: Outcome) -> None:
        """Put the weights to keep into the network: the last, unless the loss ran away or the best are wanted."""
        self.kept_step = self._best_weights.restore(self.network, self.step, diverged=outcome == "diverged")
        self.network.eval().requires_grad_(False)
        self.optimizer.state.clear()
        self.outcome = outcome
