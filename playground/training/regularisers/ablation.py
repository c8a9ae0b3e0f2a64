"""One task, many trainings: a baseline, and beside it one training for each chosen regulariser, with that switched.

A network gets so little to learn from that it learns by heart, or plenty. All of it may be run with several seeds.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile
from typing import Any, Literal

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus, PortableRequest
from playground.jobs.job import ResumableComputation
from playground.text.wording import lower_first
from playground.training.evaluation import Evaluation, History, Measure, evaluate_unbatched
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, without_regularisers
from playground.training.tasks import TASKS, Data, make_data
from playground.training.trainer import Outcome, Trainer


@dataclass(frozen=True)
class AblationTraining:
    """One training of an ablation."""

    name: str
    """The regulariser's field, or `none` for the baseline, or `all` for the training with all of them."""
    title: str
    """What it has that the baseline has not, or lacks."""
    recipe: Recipe
    """All of it."""
    config: ModelConfig | None = None
    """Its architecture, where that is not the others'."""


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

    @property
    def n_ended(self) -> int:
        """How many trainings are done."""
        return sum(result.unbatched is not None for result in self.results)

    @property
    def n_bytes(self) -> int:
        """Memory that the curves take, in bytes: three floats of Python's a step, and the lists' pointers to them."""
        return 3 * 32 * sum(len(result.history.loss) for result in self.results)


Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many trainings while one waits, large enough to learn a hundred
sequences by heart."""

PLENTY = 4096
"""Sequences to learn from, where they are not to be few."""


def ablation_recipe(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The training that is varied, with these strengths of the regularisers, by the recipe's fields.

    The amounts differ in the number of sequences to learn from alone: with a `small` one, the validation set falls far
    behind the training set. RecipeError where a strength is out of range.
    """
    return Recipe(
        task=task,
        n_train=TASKS[task].ablation_small if amount == "small" else PLENTY,
        n_validation=512,
        seed=seed,
        steps=500,
        batch_size=32,
        optimizer="adamw",
        lr=2e-3,
        warmup=50,
        **TASKS[task].ablation_sizes,
        **strengths,
    )


def ablation_trainings(recipe: Recipe, chosen: Sequence[str], n_seeds: int = 1) -> tuple[AblationTraining, ...]:
    """The trainings that tell what each chosen regulariser does, each at the recipe's strength, or at its usual one.

    The baseline has none but what a transformer has by nature. Of those, masks and norms, choosing one takes it away.
    Where several can be added, one more has them all. All come with the recipe's seed, then with the next one, ….

    Args:
        recipe: the task, the strengths, and the first seed.
        chosen: fields of regularisers, in any order; KeyError where there is no such regulariser.
        n_seeds: how often each is done.
    """
    baseline = without_regularisers(recipe)
    wanted = [REGULARISERS[field] for field in chosen]
    turned = [regulariser for regulariser in REGULARISERS.values() if regulariser in wanted]

    def turn(recipe_so_far: Recipe, regulariser: Regulariser) -> Recipe:
        strength = regulariser.strength_in(recipe) or regulariser.usual
        change: dict[str, Any] = {regulariser.field: not regulariser.on_by_default and strength}
        return replace(recipe_so_far, **change)

    trainings = [AblationTraining("none", "none of them", baseline)]
    for regulariser in turned:
        title = lower_first(regulariser.choice) if regulariser.on_by_default else regulariser.title
        trainings.append(AblationTraining(regulariser.field, title, turn(baseline, regulariser)))
    added = [regulariser for regulariser in turned if not regulariser.on_by_default]
    if len(added) > 1:
        title = "all of these" if added == turned else "all that can be added"
        trainings.append(AblationTraining("all", title, reduce(turn, added, baseline)))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(
        replace(training, recipe=replace(training.recipe, seed=seed)) for seed in seeds for training in trainings
    )


def trainings_of_one_seed(trainings: Sequence[AblationTraining]) -> list[AblationTraining]:
    """What an ablation compares: the trainings of its first seed."""
    return [training for training in trainings if training.recipe.seed == trainings[0].recipe.seed]


def seeds_of(trainings: Sequence[AblationTraining]) -> list[int]:
    """The seeds of an ablation, in the order in which they are trained with."""
    return list(dict.fromkeys(training.recipe.seed for training in trainings))


class Ablation(ResumableComputation[AblationState]):
    """The trainings, one after the other; a seed's have the same data, initial weights and order of batches.

    Args:
        config: the architecture of them all.
        trainings: what to train, as `ablation_trainings` returns it: recipes of one task and one amount of data.
        device: where; the CPU by default.
        data: their data by seed, if it is there already.

    Attributes:
        n_answers: how many answers the validation set asks for, of the first seed.

    Raises:
        RecipeError: as `Trainer`.
    """

    def __init__(
        self,
        config: ModelConfig,
        trainings: Sequence[AblationTraining],
        device: torch.device | None = None,
        *,
        data: Mapping[int, Data] | None = None,
    ) -> None:
        self.trainings = tuple(trainings)
        self._config, self._device = config, device or torch.device("cpu")
        first = self.trainings[0].recipe
        data = {seed: make_data(replace(first, seed=seed)) for seed in seeds_of(trainings)} if data is None else data
        self._data: Mapping[int, Data] = data
        self.n_answers = self._data[first.seed].validation.n_answers
        self._done: list[AblationResult] = []
        self._running: tuple[int, Trainer] | None = None
        self._resumed: dict[str, Any] | None = None

    @property
    def progress(self) -> float:
        """The share of all trainings that is done; 1 at the end."""
        running = self._running
        done = sum(result.unbatched is not None for result in self._done)
        share = running[1].progress if running is not None and running[0] == done else 0.0
        return (done + share) / len(self.trainings)

    @property
    def state(self) -> AblationState:
        """What is to be seen of it as of now."""
        return AblationState(self.trainings, tuple(self.results()), self.n_answers, self.progress)

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
                config = training.config or self._config
                trainer = Trainer(config, training.recipe, self._device, data=data)
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

    config: ModelConfig
    trainings: tuple[AblationTraining, ...]

    def build(self) -> Ablation:
        """The ablation before its first step; raises as `Trainer`."""
        return Ablation(self.config, self.trainings, torch.device(self.device), data=self.data)

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
            if result.unbatched is None:
                going_on.add(name)
        progress = sum(state.progress for state in states if state is not None) / len(self.trainings)
        return AblationState(self.trainings, tuple(results), begun[0].n_answers, progress)
