"""One task, many runs: a baseline, and the same run with one regulariser switched, for each that was chosen.

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
class AblationRun:
    """One run of an ablation."""

    name: str
    """The regulariser's field, or `none` for the baseline, or `all` for the run with all of them."""
    title: str
    """What it has that the baseline has not, or lacks."""
    recipe: Recipe
    """All of it."""


@dataclass(frozen=True, eq=False)
class AblationResult:
    """How a run went: its history so far, how it ended, and what it measures at the end."""

    run: AblationRun
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

    runs: tuple[AblationRun, ...]
    """All that were asked for."""
    results: tuple[AblationResult, ...]
    """Of every run that has begun, in the order of `runs`."""
    n_answers: int
    """How many answers the validation set asks for, of the first seed."""
    progress: float
    """The share of all runs that is done; 1 at the end."""

    @property
    def n_ended(self) -> int:
        """How many runs are done."""
        return sum(result.unbatched is not None for result in self.results)

    @property
    def n_bytes(self) -> int:
        """Memory that the curves take, in bytes: three floats of Python's a step, and the lists' pointers to them."""
        return 3 * 32 * sum(len(result.history.loss) for result in self.results)


Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many runs while one waits, and enough to learn a hundred sequences by heart."""

PLENTY = 4096
"""Sequences to learn from, where they are not to be few."""


def ablation_recipe(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The run that is varied, with these strengths of the regularisers, by the recipe's fields.

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


def ablation_runs(recipe: Recipe, chosen: Sequence[str], n_seeds: int = 1) -> tuple[AblationRun, ...]:
    """The runs that tell what each chosen regulariser does, each at the recipe's strength, or at its usual one.

    The baseline has none but what a transformer has by nature. Of those, masks and norms, choosing one takes it away.
    Where several can be added, one more run has them all. All come with the recipe's seed, then with the next one, ….

    Args:
        recipe: the task, the strengths, and the first seed.
        chosen: fields of regularisers, in any order; KeyError where there is no such regulariser.
        n_seeds: how often each is run.
    """
    baseline = without_regularisers(recipe)
    wanted = [REGULARISERS[field] for field in chosen]
    turned = [regulariser for regulariser in REGULARISERS.values() if regulariser in wanted]

    def turn(recipe_so_far: Recipe, regulariser: Regulariser) -> Recipe:
        strength = getattr(recipe, regulariser.field) or regulariser.usual
        change: dict[str, Any] = {regulariser.field: not regulariser.on_by_default and strength}
        return replace(recipe_so_far, **change)

    runs = [AblationRun("none", "none of them", baseline)]
    for regulariser in turned:
        title = lower_first(regulariser.choice) if regulariser.on_by_default else regulariser.title
        runs.append(AblationRun(regulariser.field, title, turn(baseline, regulariser)))
    added = [regulariser for regulariser in turned if not regulariser.on_by_default]
    if len(added) > 1:
        title = "all of these" if added == turned else "all that can be added"
        runs.append(AblationRun("all", title, reduce(turn, added, baseline)))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(replace(run, recipe=replace(run.recipe, seed=seed)) for seed in seeds for run in runs)


def runs_of_one_seed(runs: Sequence[AblationRun]) -> list[AblationRun]:
    """What an ablation compares: the runs of its first seed."""
    return [run for run in runs if run.recipe.seed == runs[0].recipe.seed]


def seeds_of(runs: Sequence[AblationRun]) -> list[int]:
    """The seeds of an ablation, in the order in which they are run."""
    return list(dict.fromkeys(run.recipe.seed for run in runs))


class Ablation(ResumableComputation[AblationState]):
    """The runs, one after the other; a seed's have the same data, initial weights and order of batches.

    Args:
        config: the architecture of them all.
        runs: what to run, as `ablation_runs` returns it: recipes of one task and one amount of data.
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
        runs: Sequence[AblationRun],
        device: torch.device | None = None,
        *,
        data: Mapping[int, Data] | None = None,
    ) -> None:
        self.runs = tuple(runs)
        self._config, self._device = config, device or torch.device("cpu")
        first = self.runs[0].recipe
        data = {seed: make_data(replace(first, seed=seed)) for seed in seeds_of(runs)} if data is None else data
        self._data: Mapping[int, Data] = data
        self.n_answers = self._data[first.seed].validation.n_answers
        self._done: list[AblationResult] = []
        self._running: tuple[int, Trainer] | None = None
        self._resumed: dict[str, Any] | None = None

    @property
    def progress(self) -> float:
        """The share of all runs that is done; 1 at the end."""
        running = self._running
        done = sum(result.unbatched is not None for result in self._done)
        share = running[1].progress if running is not None and running[0] == done else 0.0
        return (done + share) / len(self.runs)

    @property
    def state(self) -> AblationState:
        """What is to be seen of it as of now."""
        return AblationState(self.runs, tuple(self.results()), self.n_answers, self.progress)

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
        """Train all; yields after every step, with the number of the run."""
        try:
            for number, run in list(enumerate(self.runs))[len(self._done) :]:
                data = self._data[run.recipe.seed]
                trainer = Trainer(self._config, run.recipe, self._device, data=data)
                if self._resumed is not None:
                    trainer.restore(self._resumed)
                    self._resumed = None
                self._running = number, trainer
                for _ in trainer.run():
                    yield number
                unbatched = evaluate_unbatched(trainer.network, data.validation, run.recipe, self._device)
                self._done.append(replace(_result(run, trainer), unbatched=unbatched))
        finally:  # a run that is broken off leaves its numbers, too, and no network
            self._done, self._running = self.results(), None

    def results(self) -> list[AblationResult]:
        """Every run that has begun, as of now; another thread may be training."""
        running = self._running  # before those done: a run that ends in between is then among them
        done = list(self._done)
        if running is not None and running[0] == len(done):
            done.append(_result(self.runs[len(done)], running[1]))
        return done


def _result(run: AblationRun, trainer: Trainer) -> AblationResult:
    outcome, history = trainer.outcome, replace(trainer.history.copy(), snapshots=[])
    last = history.evaluations[-1] if history.evaluations else None
    return AblationResult(run, history, outcome, (history.at(trainer.kept_step) or last) if outcome else last)


@dataclass(frozen=True)
class AblationRequest(PortableRequest[AblationState]):
    """An ablation in words; its `data` are the runs', by seed."""

    config: ModelConfig
    runs: tuple[AblationRun, ...]

    def build(self) -> Ablation:
        """The ablation before its first step; raises as `Trainer`."""
        return Ablation(self.config, self.runs, torch.device(self.device), data=self.data)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    @property
    def parts(self) -> tuple["AblationRequest", ...]:
        """One for each run: none of them needs another's numbers."""
        return tuple(replace(self, runs=(run,)) for run in self.runs)

    def join(self, states: Sequence[AblationState | None]) -> AblationState | None:
        """The state of the whole from that of its parts, which may end in any order.

        It is a state that one run after the other could have shown as well: a run is listed once all before it are, and
        counts as ended once those of the same kind with the seeds before it have.
        """
        known = list(takewhile(lambda state: state is not None, states))
        begun = [state for state in known if state is not None and state.results]
        if not begun:
            return None
        results, going_on = list[AblationResult](), set[str]()
        for (result,) in (state.results for state in begun):
            name = result.run.name
            results.append(replace(result, unbatched=None) if name in going_on else result)
            if result.unbatched is None:
                going_on.add(name)
        progress = sum(state.progress for state in states if state is not None) / len(self.runs)
        return AblationState(self.runs, tuple(results), begun[0].n_answers, progress)
