"""One task, many trainings, one after the other or side by side, each compared with another of the same seed."""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import fmean, stdev
from typing import Any

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus, PortableRequest
from playground.jobs.job import ResumableComputation
from playground.training.network import Evaluation, History, Measure, evaluate_unbatched
from playground.training.recipe import Recipe
from playground.training.tasks import Data, make_data
from playground.training.trainer import Outcome, Trainer

ONE_SEED = "One run each may be luck: three seeds can tell a change from chance."
"""What is said of every comparison with one seed, however far apart its two sides are."""


LEVEL = 0.05
"""How often, at most, chance alone tells any of an ablation's comparisons apart: its family-wise error rate."""


@dataclass(frozen=True)
class AblationTraining:
    """One training of an ablation."""

    name: str
    """What tells it from the others with its seed."""
    title: str
    """What it is called on a page: what it has that others have not, or lacks."""
    recipe: Recipe
    """All of it."""
    config: ModelConfig
    """Its architecture."""


@dataclass(frozen=True, eq=False)
class AblationResult:
    """How a training went: its history so far, how it ended, and what it measures at the end."""

    training: AblationTraining
    history: History
    """As of now or of its end, without attention."""
    outcome: Outcome
    """Empty while it trains."""
    evaluation: Evaluation | None
    """Of the weights that it ended with; while it trains, the last one."""
    unbatched: Measure | None = None
    """The validation set by `evaluate_unbatched`; None while it trains."""

    @property
    def has_ended(self) -> bool:
        """Whether it is done, and measured."""
        return self.unbatched is not None


def count_ended(results: Sequence[AblationResult]) -> int:
    """How many trainings are done."""
    return sum(result.has_ended for result in results)


@dataclass(frozen=True, eq=False)
class AblationState:
    """What is to be seen of an ablation."""

    trainings: tuple[AblationTraining, ...]
    """All that were asked for."""
    results: tuple[AblationResult, ...]
    """Of every training that has begun, in the order of `trainings`."""
    n_answers: int
    """How many answers the validation set asks for, of the first seed."""
    progress: float
    """The share of all trainings that is done; 1 at the end."""
    baseline: float
    """The share of these answers that the task's simple rule gets right, of the first seed."""

    @classmethod
    def planned(cls, trainings: tuple[AblationTraining, ...]) -> "AblationState":
        """That of trainings which have not begun."""
        return cls(trainings, (), n_answers=0, progress=0.0, baseline=0.0)

    @property
    def n_ended(self) -> int:
        """How many trainings are done."""
        return count_ended(self.results)

    @property
    def n_bytes(self) -> int:
        """Memory that the curves take, in bytes."""
        return sum(result.history.n_bytes for result in self.results)


def trainings_of_one_seed(trainings: Sequence[AblationTraining]) -> list[AblationTraining]:
    """What an ablation compares: the trainings of its first seed."""
    return [training for training in trainings if training.recipe.seed == trainings[0].recipe.seed]


def seeds_of(trainings: Sequence[AblationTraining]) -> list[int]:
    """The seeds of an ablation, in the order in which they are trained with."""
    return list(dict.fromkeys(training.recipe.seed for training in trainings))


class Ablation(ResumableComputation[AblationState]):
    """The trainings, one after the other; a seed's have the same data, initial weights and order of batches.

    Args:
        trainings: what to train: recipes of one task and one amount of data.
        device: where; the CPU by default.
        data: their data by seed, if it is there already.

    Attributes:
        n_answers: how many answers the validation set asks for, of the first seed.
        baseline: the share of them that the task's simple rule gets right.

    Raises:
        RecipeError: as `Trainer`.
    """

    def __init__(
        self,
        trainings: Sequence[AblationTraining],
        device: torch.device | None = None,
        *,
        data: Mapping[int, Data] | None = None,
    ) -> None:
        self.trainings = tuple(trainings)
        self._device = device or torch.device("cpu")
        first = self.trainings[0].recipe
        data = {seed: make_data(replace(first, seed=seed)) for seed in seeds_of(trainings)} if data is None else data
        self._data: Mapping[int, Data] = data
        self.n_answers = self._data[first.seed].validation.n_answers
        self.baseline = self._data[first.seed].baseline
        self._done: list[AblationResult] = []
        self._running: tuple[int, Trainer] | None = None
        self._resumed: dict[str, Any] | None = None

    @property
    def progress(self) -> float:
        """The share of all trainings that is done; 1 at the end."""
        running = self._running
        done = count_ended(self._done)
        share = running[1].progress if running is not None and running[0] == done else 0.0
        return (done + share) / len(self.trainings)

    @property
    def state(self) -> AblationState:
        """What is to be seen of it as of now."""
        return AblationState(self.trainings, tuple(self.results()), self.n_answers, self.progress, self.baseline)

    def checkpoint(self) -> dict[str, Any]:
        """All that an ablation needs to go on elsewhere, between two steps."""
        return {"done": list(self._done), "running": None if self._running is None else self._running[1].checkpoint()}

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint instead of from the start."""
        self._done, self._resumed = list(checkpoint["done"]), checkpoint["running"]

    def close(self, status: JobStatus) -> None:
        """Free the data."""
        self._data = {}

    def run(self) -> Generator[int]:
        """Train all; yields after every step, with the number of the training."""
        try:
            for number, training in list(enumerate(self.trainings))[len(self._done) :]:
                data = self._data[training.recipe.seed]
                trainer = Trainer(training.config, training.recipe, self._device, data=data)
                if self._resumed is not None:
                    trainer.restore(self._resumed)
                    self._resumed = None
                self._running = number, trainer
                for _ in trainer.run():
                    yield number
                unbatched = evaluate_unbatched(trainer.network, data.validation, training.recipe, self._device)
                self._done.append(replace(_result(training, trainer), unbatched=unbatched))
        finally:  # a training that is broken off leaves its numbers, too, and no network
            self._done, self._running = self.results(), None

    def results(self) -> list[AblationResult]:
        """Every training that has begun, as of now; another thread may be training."""
        running = self._running  # before those done: a training that ends in between is then among them
        done = list(self._done)
        if running is not None and running[0] == len(done):
            done.append(_result(self.trainings[len(done)], running[1]))
        return done


def _result(training: AblationTraining, trainer: Trainer) -> AblationResult:
    outcome, history = trainer.outcome, replace(trainer.history.copy(), snapshots=[])
    last = history.evaluations[-1] if history.evaluations else None
    return AblationResult(training, history, outcome, (history.at(trainer.kept_step) or last) if outcome else last)


@dataclass(frozen=True)
class AblationRequest(PortableRequest[AblationState]):
    """An ablation in words; its `data` are the trainings', by seed."""

    trainings: tuple[AblationTraining, ...]

    def build(self) -> Ablation:
        """The ablation before its first step; raises as `Trainer`."""
        return Ablation(self.trainings, torch.device(self.device), data=self.data)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    @property
    def parts(self) -> tuple["AblationRequest", ...]:
        """One for each training: none of them needs another's numbers."""
        return tuple(replace(self, trainings=(training,)) for training in self.trainings)

    def join(self, states: Sequence[AblationState | None]) -> AblationState | None:
        """The state of the whole from that of its parts, which may end in any order.

        It is a state that one after the other could have shown as well: a training is listed once all before it are,
        and counts as ended once those of the same kind with the seeds before it have.
        """
        known = list(takewhile(lambda state: state is not None, states))
        begun = [state for state in known if state is not None and state.results]
        if not begun:
            return None
        results, going_on = list[AblationResult](), set[str]()
        for (result,) in (state.results for state in begun):
            name = result.training.name
            results.append(replace(result, unbatched=None) if name in going_on else result)
            if not result.has_ended:
                going_on.add(name)
        progress = sum(state.progress for state in states if state is not None) / len(self.trainings)
        return AblationState(self.trainings, tuple(results), begun[0].n_answers, progress, begun[0].baseline)


@dataclass(frozen=True)
class Effect:
    """What one kind of training measures once it has ended, and how it differs from the baseline of the same seed.

    Over several seeds, every number is a mean, but for the spreads.
    """

    training: AblationTraining
    """That of the first seed."""
    n_seeds: int
    """How many seeds are compared."""
    diverged: tuple[AblationResult, ...]
    """Those that diverged, and have earlier weights."""
    train: Measure
    """Of sequences that are learnt from, as they are measured while training."""
    validation: Measure
    """Of sequences that never are, as they are measured while training."""
    unbatched: Measure
    """As of `AblationResult`; what the changes are of."""
    accuracy_change: float
    """Right answers more, as a share of all."""
    loss_change: float
    """Nats; below 0 where the loss is lower."""
    accuracy_spread: float
    """The seeds' highest change less their lowest; 0 with one seed."""
    loss_spread: float
    """Of the loss, the seeds' highest change less their lowest, in nats."""
    accuracy_p: float
    """`paired_p` of the seeds' changes of right answers."""
    gap_change: float
    """As of `Evaluation.gap`."""

    @property
    def gap(self) -> float:
        """Training accuracy − validation accuracy: how much was learnt by heart."""
        return self.train.accuracy - self.validation.accuracy


def compare_to_baseline(results: Sequence[AblationResult], baselines: Sequence[AblationResult]) -> Effect | None:
    """One kind of training beside the baseline, seed by seed in the same order; None until both have ended once."""
    pairs = [(own, other) for own, other in zip(results, baselines, strict=False) if own.has_ended and other.has_ended]
    if not pairs:
        return None
    own, other = ([pair[i] for pair in pairs] for i in (0, 1))
    unbatched, usual = ([each.unbatched for each in results if each.unbatched] for results in (own, other))
    accuracy = [a.accuracy - b.accuracy for a, b in zip(unbatched, usual, strict=True)]
    loss = [a.loss - b.loss for a, b in zip(unbatched, usual, strict=True)]
    (train, validation), (usual_train, usual_validation) = mean_evaluation(own), mean_evaluation(other)
    gap, usual_gap = train.accuracy - validation.accuracy, usual_train.accuracy - usual_validation.accuracy
    return Effect(
        training=own[0].training,
        n_seeds=len(pairs),
        diverged=tuple(result for result in own if result.outcome == "diverged"),
        train=train,
        validation=validation,
        unbatched=_mean_measure(unbatched),
        accuracy_change=fmean(accuracy),
        loss_change=fmean(loss),
        accuracy_spread=max(accuracy) - min(accuracy),
        loss_spread=max(loss) - min(loss),
        accuracy_p=paired_p(accuracy),
        gap_change=gap - usual_gap,
    )


def paired_p(changes: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's paired t-test: how often normal noise around 0 has so large a |t|.

    t = mean / (s / √n) with s the unbiased standard deviation of the n changes, and n − 1 degrees of freedom; the
    distribution is Abramowitz & Stegun 1964, 26.7.3 and 26.7.4. Return 1 for fewer than three changes.
    """
    df = len(changes) - 1
    if df < 2:
        return 1.0
    angle = math.atan2(abs(fmean(changes)) * math.sqrt(df + 1), stdev(changes) * math.sqrt(df))  # tan = |t| / √df
    odd, term, total = df % 2, math.cos(angle) ** (df % 2), 0.0
    for k in range(odd + 1, df, 2):
        total, term = total + term, term * math.cos(angle) ** 2 * k / (k + 1)
    inside = math.sin(angle) * total
    return 1 - (2 / math.pi * (angle + inside) if odd else inside)


def is_told_apart(p: float, n_compared: int) -> bool:
    """Return whether a comparison with this p-value, one of `n_compared`, is told apart from chance at `LEVEL`.

    p ≤ LEVEL / n_compared (Bonferroni; Dunn 1961): then chance alone tells any apart at most that often, even if the
    comparisons depend on each other.
    """
    return p <= LEVEL / n_compared


def mean_evaluation(results: Sequence[AblationResult]) -> tuple[Measure, Measure]:
    """The mean over the results of what was measured on the training and on the validation set."""
    evaluations = [result.evaluation for result in results if result.evaluation is not None]
    return (
        _mean_measure([each.train for each in evaluations]),
        _mean_measure([each.validation for each in evaluations]),
    )


def _mean_measure(measures: Sequence[Measure]) -> Measure:
    return Measure(fmean(each.loss for each in measures), fmean(each.accuracy for each in measures))


def group_by_name(results: Iterable[AblationResult]) -> dict[str, list[AblationResult]]:
    """Each kind of training's results, in the order of the seeds, by the training's name."""
    kinds: dict[str, list[AblationResult]] = {}
    for result in results:
        kinds.setdefault(result.training.name, []).append(result)
    return kinds


def difference_noise(share: float, n_answers: int) -> float:
    """Two standard errors of a difference of two shares near `share`, each of n answers that are right or wrong.

    Answers within one sequence depend on each other, and two trainings answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)
