"""One task, many runs: a baseline, and the same run with one regulariser switched, for each that was chosen.

A network gets so little to learn from that it learns by heart, or plenty. All of it may be run with several seeds.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

import torch

from playground.config import ModelConfig
from playground.jobs import JobStatus
from playground.text.wording import lower_first
from playground.training.evaluation import evaluate_unbatched
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation_state import AblationResult, AblationRun, AblationState
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, without_regularisers
from playground.training.tasks import TASKS, Data, make_data
from playground.training.trainer import Trainer

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


class Ablation:
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

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes, in bytes."""
        return self.state.n_bytes

    def freeze(self, _status: JobStatus) -> AblationState:
        """What it has reached; nobody keeps a network of it."""
        return self.state

    def update(self, _last: AblationState | None) -> AblationState:
        """What is to be seen by somebody elsewhere."""
        return self.state

    def checkpoint(self) -> dict[str, Any]:
        """All that an ablation needs to go on elsewhere, between two steps."""
        return {"done": list(self._done), "running": None if self._running is None else self._running[1].checkpoint()}

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint instead of from the start."""
        self._done, self._resumed = list(checkpoint["done"]), checkpoint["running"]

    def suspend(self) -> None:
        """Nothing: a paused ablation keeps its memory here."""

    def close(self, _status: JobStatus) -> None:
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
