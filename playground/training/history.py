"""What a training run has shown so far: numbers for each step, for each evaluation, and attention at saved steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from playground.runs.arrays import Array

Measured = Literal["accuracy", "loss"]


@dataclass(frozen=True)
class Measure:
    """Loss in nats and share of right answers, over the same positions."""

    loss: float
    accuracy: float


@dataclass(frozen=True)
class Evaluation:
    """Both sets, measured in eval mode with plain cross-entropy, whatever the training loss adds."""

    step: int
    """Optimisation steps done before it."""
    train: Measure
    """Of sequences that are learnt from, as many as there are for validation."""
    validation: Measure
    """Of sequences that never are."""
    tokens_per_second: float
    """Tokens learnt from since the evaluation before, for each second of learning; 0 at the start."""

    @property
    def gap(self) -> float:
        """Training accuracy − validation accuracy: how much was learnt by heart."""
        return self.train.accuracy - self.validation.accuracy


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Attention on the first validation sequence after some steps."""

    step: int
    """Optimisation steps done before it."""
    patterns: Mapping[str, Array]
    """(n_layers, H, Tq, Tk) by name: `self`, or `encoder self`, `decoder self` and `cross`; read-only."""


@dataclass
class History:
    """Grows while training goes on: lists are appended to, never changed, so that another thread may copy them."""

    loss: list[float] = field(default_factory=list)
    """Of every step's batch, with everything that the recipe adds to it; nats."""
    lr: list[float] = field(default_factory=list)
    """The learning rate of every step."""
    grad_norm: list[float] = field(default_factory=list)
    """Of every step's whole gradient, before it is clipped."""
    evaluations: list[Evaluation] = field(default_factory=list)
    """At evenly spaced steps, the first before any."""
    snapshots: list[Snapshot] = field(default_factory=list)
    """At the same steps, at fewer where attention is large, or at none where two would be too large."""

    def at(self, step: int) -> Evaluation | None:
        """The evaluation after a step, if there was one."""
        return next((evaluation for evaluation in self.evaluations if evaluation.step == step), None)

    def series(self, measured: Measured) -> tuple[list[int], list[float], list[float]]:
        """Steps of all evaluations, and what was measured there on the training and on the validation set."""
        evaluations = list(self.evaluations)
        return (
            [evaluation.step for evaluation in evaluations],
            [vars(evaluation.train)[measured] for evaluation in evaluations],
            [vars(evaluation.validation)[measured] for evaluation in evaluations],
        )

    def copy(self) -> "History":
        """All of it as of now."""
        n = len(self.grad_norm)  # the last that a step appends to
        return History(self.loss[:n], self.lr[:n], self.grad_norm[:n], list(self.evaluations), list(self.snapshots))

    def after(self, last: "History") -> "History":
        """What has come since another's last step, last evaluation and last snapshot."""
        n, own = len(last.grad_norm), self.copy()
        evaluated, saved = (each[-1].step if each else -1 for each in (last.evaluations, last.snapshots))
        return History(
            own.loss[n:],
            own.lr[n:],
            own.grad_norm[n:],
            [each for each in own.evaluations if each.step > evaluated],
            [each for each in own.snapshots if each.step > saved],
        )

    def extend(self, later: "History") -> None:
        """Append what has come since."""
        self.snapshots += later.snapshots
        self.evaluations += later.evaluations
        self.loss += later.loss
        self.lr += later.lr
        self.grad_norm += later.grad_norm
