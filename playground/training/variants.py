"""Train variants of one network, each with the same seeds, and compare every one with the first, seed by seed.

At the end stand those of the page Regularisers: Tutorial C's ten.
"""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import fmean
from typing import Any

import torch

from playground.config import ModelConfig
from playground.jobs import Computation, JobStatus, Request
from playground.text.wording import lower_first
from playground.training.network import Evaluation, History, Measure, evaluate_unbatched
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data, make_data
from playground.training.trainer import Outcome, Trainer


@dataclass(frozen=True)
class VariantRun:
    """One variant with one seed."""

    name: str
    """What tells the variant from the others."""
    title: str
    """What it is called on a page."""
    recipe: Recipe
    config: ModelConfig


@dataclass(frozen=True, eq=False)
class VariantResult:
    """How a run went by now."""

    run: VariantRun
    history: History
    """Without attention."""
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


@dataclass(frozen=True, eq=False)
class VariantsState:
    """What is to be seen of all runs."""

    runs: tuple[VariantRun, ...]
    """All that were asked for."""
    results: tuple[VariantResult, ...] = ()
    """Of every run that has begun, in the order of `runs`."""
    n_answers: int = 0
    """How many answers the first seed's validation set asks for."""
    progress: float = 0.0
    """The share of all runs that is done; 1 at the end."""

    @property
    def n_ended(self) -> int:
        """Return how many runs are done."""
        return sum(result.has_ended for result in self.results)

    @property
    def n_bytes(self) -> int:
        """Return the memory of the curves, in bytes."""
        return sum(result.history.n_bytes for result in self.results)

    @property
    def by_variant(self) -> dict[str, list[VariantResult]]:
        """Return each variant's results, in the order of the seeds, by its name."""
        found: dict[str, list[VariantResult]] = {}
        for result in self.results:
            found.setdefault(result.run.name, []).append(result)
        return found


def first_seed(runs: Sequence[VariantRun]) -> list[VariantRun]:
    """Return the runs of the first seed: a run of each variant."""
    return [run for run in runs if run.recipe.seed == runs[0].recipe.seed]


def seeds_of(runs: Sequence[VariantRun]) -> list[int]:
    """Return the seeds, in the order in which they are trained with."""
    return list(dict.fromkeys(run.recipe.seed for run in runs))


class VariantTraining(Computation[VariantsState]):
    """The runs, one after the other; a seed's have the same data, initial weights and order of batches.

    Args:
        runs: recipes of one task and one amount of data.
        device: where; the CPU by default.
        data: their data by seed, if it is there already.

    Raises:
        RecipeError: as `Trainer`.
    """

    def __init__(
        self, runs: Sequence[VariantRun], device: torch.device | None = None, data: Mapping[int, Data] | None = None
    ) -> None:
        self.runs = tuple(runs)
        self._device = device or torch.device("cpu")
        first = self.runs[0].recipe
        self._data = {seed: make_data(replace(first, seed=seed)) for seed in seeds_of(runs)} if data is None else data
        self._n_answers = self._data[first.seed].validation.n_answers
        self._done: tuple[VariantResult, ...] = ()
        self._running: tuple[int, Trainer] | None = None

    @property
    def state(self) -> VariantsState:
        """Return what is to be seen by now; another thread may be training."""
        running, results = self._running, self._done  # in this order: a run that ends now is then among those done
        done = float(sum(result.has_ended for result in results))
        if running is not None and running[0] == len(results):
            done += running[1].progress
            results = (*results, _result(self.runs[len(results)], running[1]))
        return VariantsState(self.runs, results, self._n_answers, done / len(self.runs))

    def run(self) -> Generator[None]:
        """Train all; yields after every step."""
        for number, run in enumerate(self.runs):
            data = self._data[run.recipe.seed]
            trainer = Trainer(run.config, run.recipe, self._device, data=data)
            self._running = number, trainer
            for _ in trainer.run():
                yield
            unbatched = evaluate_unbatched(trainer.network, data.validation, run.recipe, self._device)
            self._done = (*self._done, replace(_result(run, trainer), unbatched=unbatched))

    def close(self, status: JobStatus) -> None:
        """Keep the numbers, also of a run that was broken off, and free data and network."""
        self._done, self._running, self._data = self.state.results, None, {}


def _result(run: VariantRun, trainer: Trainer) -> VariantResult:
    outcome, history = trainer.outcome, replace(trainer.history.copy(), snapshots=[])
    last = history.evaluations[-1] if history.evaluations else None
    return VariantResult(run, history, outcome, (history.at(trainer.kept_step) or last) if outcome else last)


@dataclass(frozen=True)
class VariantsRequest(Request[VariantsState]):
    """Runs to train; `data` is theirs, by seed."""

    runs: tuple[VariantRun, ...]

    def build(self) -> VariantTraining:
        """Return the training before its first step; raises as `Trainer`."""
        return VariantTraining(self.runs, torch.device(self.device), self.data)

    @property
    def parts(self) -> tuple["VariantsRequest", ...]:
        """Return one for each run: none of them needs another's numbers."""
        return tuple(replace(self, runs=(run,)) for run in self.runs)

    def join(self, states: Sequence[VariantsState | None]) -> VariantsState | None:
        """Return the state of the whole from that of its parts, which may end in any order.

        A run is listed once all before it are, and counts as ended once its variant's runs before it have.
        """
        begun = [each for each in takewhile(lambda state: state is not None and state.results, states) if each]
        if not begun:
            return None
        results, going_on = list[VariantResult](), set[str]()
        for (result,) in (state.results for state in begun):
            results.append(replace(result, unbatched=None) if result.run.name in going_on else result)
            if not result.has_ended:
                going_on.add(result.run.name)
        progress = sum(state.progress for state in states if state is not None) / len(self.runs)
        return VariantsState(self.runs, tuple(results), begun[0].n_answers, progress)


@dataclass(frozen=True)
class Effect:
    """What a variant measures at its end, beside the first variant with the same seed: means over the seeds."""

    run: VariantRun
    """That of the first seed."""
    n_seeds: int
    training: float
    """Share of right answers to sequences that are learnt from."""
    validation: float
    """To sequences that never are."""
    accuracy: float
    """To these, as of `VariantResult.unbatched`; what the changes are of."""
    accuracy_change: float
    accuracy_spread: float
    """The seeds' highest change less their lowest."""
    loss: float
    """In nats, also unbatched."""
    loss_change: float


def measure_effects(state: VariantsState) -> dict[str, Effect]:
    """Return the effects by variant, the first included, over the seeds with which all variants have ended.

    While the first seed's runs go on, return those that have ended.
    """
    variants = state.by_variant
    n_ended = [sum(result.has_ended for result in results) for results in variants.values()]
    n_seeds = max(1, min(n_ended, default=1))
    baseline = next(iter(variants.values()), [])[:n_seeds]
    compared = {name: _compare(results[:n_seeds], baseline) for name, results in variants.items()}
    return {name: effect for name, effect in compared.items() if effect is not None}


def _compare(results: Sequence[VariantResult], baseline: Sequence[VariantResult]) -> Effect | None:
    own, other = ([each.unbatched for each in some if each.unbatched] for some in (results, baseline))
    if not own or not other:
        return None
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
    """Return two standard errors of a difference of two shares near `share`, each of n right or wrong answers.

    Answers within one sequence depend on each other, and two runs answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


# --- the ten regularisers


@dataclass(frozen=True)
class Regulariser:
    """One of the ten; the words of the page say what each does."""

    field: str
    """The recipe's field that holds its strength; also its key."""
    title: str
    usual: Any
    """A strength to begin with, which shows in a small run; True for what a transformer has by default."""

    @property
    def on_by_default(self) -> bool:
        """Whether a transformer has it unless it is taken away: the causal mask and the norms."""
        return self.usual is True

    @property
    def choice(self) -> str:
        """Return its name in a comparison: to choose what is on by default is to go without it."""
        return f"Without {lower_first(self.title)}" if self.on_by_default else self.title

    def has_effect(self, recipe: Recipe, norm: str) -> bool:
        """Whether it can change something in a recipe's task and an architecture with these norms."""
        if self.field == "layer_norm":
            return norm != "none"
        return self.field not in TASKS[recipe.task].unused_fields


_ALL = (
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

REGULARISERS: Mapping[str, Regulariser] = {regulariser.field: regulariser for regulariser in _ALL}
"""The ten by the recipe's field, in Tutorial C's order."""

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many runs while one waits, large enough to memorise a hundred sequences."""

PLENTY = 4096
"""Sequences to learn from, if they are not to be few."""


def comparison_recipe(task: str, amount: str, seed: int, strengths: Mapping[str, Any]) -> Recipe:
    """Return the recipe that is varied, with these strengths of the regularisers, by the recipe's fields.

    With a `small` amount to learn from, and not `plenty`, the validation set falls far behind the training set.
    RecipeError if a strength is out of range.
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


def regulariser_runs(
    config: ModelConfig, recipe: Recipe, chosen: Iterable[str], n_seeds: int = 1
) -> tuple[VariantRun, ...]:
    """Return a plain run, `none`, and one for each chosen regulariser, by its field; then the same with the next seed.

    The plain run has what a transformer has by default, the causal mask and norms; choosing one of these takes it away.

    Args:
        config: the architecture of them all.
        recipe: the task, the strengths, and the first seed; a strength of 0 gives the usual one.
        chosen: fields of regularisers, in any order.
        n_seeds: how often each is done.
    """
    defaults, chosen = vars(Recipe()), set(chosen)
    plain = replace(recipe, **{field: defaults[field] for field in REGULARISERS})
    variants = [VariantRun("none", "plain run", plain, config)]
    for each in (regulariser for field, regulariser in REGULARISERS.items() if field in chosen):
        strength: Any = not each.on_by_default and (vars(recipe)[each.field] or each.usual)
        changed = replace(plain, **{each.field: strength})
        variants.append(VariantRun(each.field, lower_first(each.choice), changed, config))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(replace(each, recipe=replace(each.recipe, seed=seed)) for seed in seeds for each in variants)
