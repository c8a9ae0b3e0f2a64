"""Trainings that others look at: one run, or variants compared seed by seed."""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch

from playground.config import ModelConfig
from playground.jobs import Computation, JobStatus
from playground.text.wording import lower_first
from playground.training.network import Evaluation, History, Measure, evaluate_in_use
from playground.training.recipe import Data, Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.trained_network import TrainedNetwork, from_trainer
from playground.training.trainer import Outcome, Trainer


@dataclass(frozen=True)
class TrainingState:
    """What is to be seen of a run."""

    config: ModelConfig
    recipe: Recipe
    data: Data
    """With one validation sequence."""
    history: History
    progress: float = 0.0
    teacher_step: int | None = None
    message: str = ""
    trained: TrainedNetwork | None = None
    """After the end; None if no step was done."""

    @property
    def step(self) -> int:
        """Steps done."""
        return len(self.history.loss)

    @property
    def n_bytes(self) -> int:
        """Memory of network, curves and attention."""
        return self.history.n_bytes + (0 if self.trained is None else self.trained.n_bytes)

    @property
    def latest(self) -> tuple[int, float, float] | None:
        """Step, loss and accuracy of the latest validation; after the end, of the final weights."""
        if self.trained is not None:
            results = self.trained.results
            return results.kept_step, results.validation_loss, results.validation_accuracy
        looks = self.history.evaluations
        return (looks[-1].step, looks[-1].validation.loss, looks[-1].validation.accuracy) if looks else None


class Training(Computation[TrainingState]):
    """A trainer; after its end, its last state."""

    def __init__(
        self, config: ModelConfig, recipe: Recipe, device: torch.device | str = "cpu", data: Data | None = None
    ) -> None:
        self._trainer: Trainer | None = Trainer(config, recipe, torch.device(device), data=data)
        shown = self._trainer.data.without_examples(n_validation=1)
        self._state = TrainingState(self._trainer.config, recipe, shown, self._trainer.history)

    @property
    def state(self) -> TrainingState:
        """What is to be seen by now."""
        trainer = self._trainer
        if trainer is None:
            return self._state
        teacher = trainer.teacher
        teacher_step = None if teacher is None or teacher.outcome else teacher.step
        history, progress = trainer.history.copy(), trainer.progress
        return replace(self._state, history=history, progress=progress, teacher_step=teacher_step)

    def run(self) -> Generator[int]:
        """Train; yields after every step."""
        if self._trainer is not None:
            yield from self._trainer.run()

    def close(self, status: JobStatus) -> None:
        """Keep what it has reached."""
        trainer, last = self._trainer, self.state
        if trainer is None:
            return
        trained = from_trainer(trainer) if status != "failed" and last.step else None
        self._state = replace(last, message=trainer.message(), trained=trained)
        self._trainer = None


# --- variants side by side


@dataclass(frozen=True)
class VariantRun:
    """One variant with one seed."""

    name: str
    title: str
    recipe: Recipe
    config: ModelConfig


@dataclass(frozen=True, eq=False)
class VariantResult:
    """How a run went by now."""

    run: VariantRun
    history: History
    outcome: Outcome
    evaluation: Evaluation | None
    """Of the final weights; while it trains, the last one."""
    in_use: Measure | None = None
    """By `evaluate_in_use`, after the end."""

    @property
    def has_ended(self) -> bool:
        """Whether it is measured."""
        return self.in_use is not None


@dataclass(frozen=True, eq=False)
class VariantsState:
    """What is to be seen of all runs."""

    runs: tuple[VariantRun, ...]
    data: Data
    results: tuple[VariantResult, ...] = ()
    """Of those that have begun, in the order of `runs`."""
    progress: float = 0.0

    @property
    def n_ended(self) -> int:
        """Number of runs done."""
        return sum(result.has_ended for result in self.results)

    @property
    def n_seeds(self) -> int:
        """Seeds of each variant."""
        return len(seeds_of(self.runs))

    @property
    def n_bytes(self) -> int:
        """Memory of the curves."""
        return sum(result.history.n_bytes for result in self.results)

    @property
    def by_variant(self) -> dict[str, list[VariantResult]]:
        """Results by variant, in the order of seeds."""
        found: dict[str, list[VariantResult]] = {}
        for result in self.results:
            found.setdefault(result.run.name, []).append(result)
        return found


def first_seed(runs: Sequence[VariantRun]) -> list[VariantRun]:
    """Return a run of each variant."""
    return [run for run in runs if run.recipe.seed == runs[0].recipe.seed]


def seeds_of(runs: Sequence[VariantRun]) -> list[int]:
    """Return the seeds in order."""
    return list(dict.fromkeys(run.recipe.seed for run in runs))


class VariantTraining(Computation[VariantsState]):
    """Runs on one task, one after the other; raises as `Trainer`. `data` is theirs by seed, if at hand."""

    def __init__(
        self, runs: Sequence[VariantRun], device: torch.device | str = "cpu", data: Mapping[int, Data] | None = None
    ) -> None:
        self.runs, self._device = tuple(runs), torch.device(device)
        first = self.runs[0].recipe
        self._data = data or {seed: make_data(replace(first, seed=seed)) for seed in seeds_of(runs)}
        shown = self._data[first.seed]
        self._shown = shown.without_examples(len(shown.validation))
        self._now: tuple[tuple[VariantResult, ...], Trainer | None] = (), None  # one value, of one moment

    @property
    def state(self) -> VariantsState:
        """What is to be seen by now, in any thread."""
        results, trainer = self._now
        done = float(sum(result.has_ended for result in results))
        if trainer is not None:
            done += trainer.progress
            results = (*results, _result(self.runs[len(results)], trainer))
        return VariantsState(self.runs, self._shown, results, done / len(self.runs))

    def run(self) -> Generator[None]:
        """Train all; yields after every step."""
        done: tuple[VariantResult, ...] = ()
        for run in self.runs:
            data = self._data[run.recipe.seed]
            trainer = Trainer(run.config, run.recipe, self._device, data=data)
            self._now = done, trainer
            for _ in trainer.run():
                yield
            in_use = evaluate_in_use(trainer.network, data.validation, run.recipe, self._device)
            done = (*done, replace(_result(run, trainer), in_use=in_use))
            self._now = done, None

    def close(self, status: JobStatus) -> None:
        """Keep the numbers, free data and network."""
        self._now, self._data = (self.state.results, None), {}


def _result(run: VariantRun, trainer: Trainer) -> VariantResult:
    outcome, history = trainer.outcome, replace(trainer.history.copy(), snapshots={})
    last = history.evaluations[-1] if history.evaluations else None
    return VariantResult(run, history, outcome, (history.at(trainer.kept_step) or last) if outcome else last)


@dataclass(frozen=True)
class Effect:
    """A variant beside the plain run: means over the seeds."""

    run: VariantRun
    n_seeds: int
    training: float
    validation: float
    accuracy: float
    """Of `VariantResult.in_use`, as loss and changes."""
    accuracy_change: float
    accuracy_spread: float
    """The seeds' highest change less their lowest."""
    loss: float
    loss_change: float


def measure_effects(state: VariantsState) -> dict[str, Effect]:
    """Return effects by variant over the seeds that all of those that have ended have."""
    ended = {name: [each for each in results if each.has_ended] for name, results in state.by_variant.items()}
    n_seeds = min(map(len, filter(None, ended.values())), default=0)
    baseline = next(iter(ended.values()), [])[:n_seeds]
    return {name: _compare(results[:n_seeds], baseline) for name, results in ended.items() if results}


def _compare(results: Sequence[VariantResult], baseline: Sequence[VariantResult]) -> Effect:
    own, other = ([each.in_use for each in some if each.in_use] for some in (results, baseline))
    changes = [a.accuracy - b.accuracy for a, b in zip(own, other, strict=True)]
    evaluations = [result.evaluation for result in results if result.evaluation is not None]
    return Effect(
        run=results[0].run,
        n_seeds=len(own),
        training=fmean(each.train.accuracy for each in evaluations),
        validation=fmean(each.validation.accuracy for each in evaluations),
        accuracy=fmean(each.accuracy for each in own),
        accuracy_change=fmean(changes),
        accuracy_spread=max(changes) - min(changes),
        loss=fmean(each.loss for each in own),
        loss_change=fmean(a.loss - b.loss for a, b in zip(own, other, strict=True)),
    )


def difference_noise(share: float, n_answers: int) -> float:
    """Return two standard errors of a difference of two shares of n answers: a rough guide."""
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


# --- the ten regularisers


@dataclass(frozen=True)
class Regulariser:
    """One of the ten."""

    field: str
    """The recipe's field of its strength."""
    title: str
    usual: Any
    """A strength that shows in a small run; True for what is on by default."""

    @property
    def on_by_default(self) -> bool:
        """Whether a transformer has it."""
        return self.usual is True

    @property
    def choice(self) -> str:
        """Its name in a comparison."""
        return f"Without {lower_first(self.title)}" if self.on_by_default else self.title

    def has_effect(self, recipe: Recipe, norm: str) -> bool:
        """Whether it can change something."""
        if self.field == "layer_norm":
            return norm != "none"
        return self.field not in TASKS[recipe.task].unused_fields


_TEN = (
    Regulariser("dropout_attention", "Dropout on attention weights", 0.1),
    Regulariser("causal", "Causal mask", True),
    Regulariser("weight_decay", "Weight decay", 0.3),
    Regulariser("layer_norm", "Layer normalisation", True),
    Regulariser("label_smoothing", "Label smoothing", 0.1),
    Regulariser("patience", "Early stopping", 5),
    Regulariser("token_masking", "Token masking", 0.1),
    Regulariser("clip", "Gradient clipping", 1.0),
    Regulariser("distill", "Knowledge distillation", 0.5),
    Regulariser("dropout_residual", "Dropout at residual connections", 0.1),
)

REGULARISERS: Mapping[str, Regulariser] = {regulariser.field: regulariser for regulariser in _TEN}
"""By field, in Tutorial C's order."""

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of runs on the page."""


def comparison_recipe(task: str, amount: str, seed: int, strengths: Mapping[str, Any]) -> Recipe:
    """Return the recipe that is varied; a `small` amount is memorised."""
    return Recipe(
        task=task,
        n_train=TASKS[task].ablation_small if amount == "small" else 4_096,
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


def regulariser_runs(
    config: ModelConfig, recipe: Recipe, chosen: Iterable[str], n_seeds: int = 1
) -> tuple[VariantRun, ...]:
    """Return a plain run and one for each chosen field, with the recipe's strength or the usual one, by seed."""
    defaults, chosen = vars(Recipe()), set(chosen)
    plain = replace(recipe, **{field: defaults[field] for field in REGULARISERS})
    variants = [VariantRun("none", "plain run", plain, config)]
    for each in (regulariser for field, regulariser in REGULARISERS.items() if field in chosen):
        strength: Any = not each.on_by_default and (vars(recipe)[each.field] or each.usual)
        changed = replace(plain, **{each.field: strength})
        variants.append(VariantRun(each.field, lower_first(each.choice), changed, config))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(replace(each, recipe=replace(each.recipe, seed=seed)) for seed in seeds for each in variants)
