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
    """Both sets, measured in eval mode with plain cross-entropy, whatever the training loss adds.

    Attributes:
        step: optimisation steps done before it.
        train: of sequences that are learnt from, as many as there are for validation.
        validation: of sequences that never are.
        tokens_per_second: tokens learnt from since the evaluation before, for each second of learning; 0 at the start.
    """

    step: int
    train: Measure
    validation: Measure
    tokens_per_second: float

    @property
    def gap(self) -> float:
        """Training accuracy − validation accuracy: how much was learnt by heart."""
        return self.train.accuracy - self.validation.accuracy


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Attention on the first validation sequence after some steps.

    Attributes:
        step: optimisation steps done before it.
        patterns: (n_layers, H, Tq, Tk) by name: `self`, or `encoder self`, `decoder self` and `cross`; read-only.
    """

    step: int
    patterns: Mapping[str, Array]


@dataclass
class History:
    """Grows while training goes on: lists are appended to, never changed, so that another thread may copy them.

    Attributes:
        loss: of every step's batch, with everything that the recipe adds to it; nats.
        lr: the learning rate of every step.
        grad_norm: of every step's whole gradient, before it is clipped.
        evaluations: at evenly spaced steps, the first before any.
        snapshots: at the same steps, at fewer where attention is large, or at none where two would be too large.
    """

    loss: list[float] = field(default_factory=list)
    lr: list[float] = field(default_factory=list)
    grad_norm: list[float] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)

    def at(self, step: int) -> Evaluation | None:
        """The evaluation after a step, if there was one."""
        return next((evaluation for evaluation in self.evaluations if evaluation.step == step), None)

    def series(self, measured: Measured) -> tuple[list[int], list[float], list[float]]:
        """Steps of all evaluations, and what was measured there on the training and on the validation set."""
        evaluations = list(self.evaluations)
        return (
            [evaluation.step for evaluation in evaluations],
            [getattr(evaluation.train, measured) for evaluation in evaluations],
            [getattr(evaluation.validation, measured) for evaluation in evaluations],
        )

    def copy(self) -> "History":
        """All of it as of now."""
        n = len(self.grad_norm)  # the last that a step appends to
        return History(self.loss[:n], self.lr[:n], self.grad_norm[:n], list(self.evaluations), list(self.snapshots))
