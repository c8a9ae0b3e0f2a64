"""One task, many runs: a baseline, and the same run with one regulariser switched, for each that was chosen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import torch

from playground.config import ModelConfig
from playground.training.history import Evaluation, History, Measure
from playground.training.losses import IGNORE
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, plain
from playground.training.regularisers.unbatched_evaluation import measure_in_use
from playground.training.tasks.data import Data, make_data
from playground.training.trainer import Outcome, Trainer


@dataclass(frozen=True)
class Arm:
    """One run of an ablation.

    Attributes:
        title: what it has that the baseline has not, or lacks.
        recipe: all of it.
        regulariser: the switch that was turned; None for the baseline, and for the run with all of them.
        has_all: whether it is the run with all of them.
    """

    title: str
    recipe: Recipe
    regulariser: Regulariser | None = None
    has_all: bool = False


@dataclass(frozen=True, eq=False)
class ArmResult:
    """How an arm went: its history so far, how it ended, and what it measures at the end.

    Attributes:
        arm: what was run.
        history: as of now or of its end, without attention.
        outcome: empty while it runs.
        kept: the evaluation of the weights that it ended with; while it runs, the last one.
        in_use: the validation set measured one sequence at a time, as `measure_in_use`; None while it runs.
    """

    arm: Arm
    history: History
    outcome: Outcome
    kept: Evaluation | None
    in_use: Measure | None = None

    @property
    def gap(self) -> float | None:
        """As `Evaluation.gap`, of the weights that were kept."""
        return None if self.kept is None else self.kept.gap


def arms(recipe: Recipe, chosen: Sequence[str]) -> tuple[Arm, ...]:
    """The runs that tell what each chosen regulariser does, each at the recipe's strength, or at its usual one.

    The baseline has none but what a transformer has by nature. Of those, masks and norms, choosing one takes it away.
    Where several can be added, one more run has them all.

    Args:
        recipe: the task, and the strengths.
        chosen: fields of regularisers, in any order.

    Raises:
        KeyError: there is no such regulariser.
    """
    baseline = plain(recipe)
    wanted = [REGULARISERS[field] for field in chosen]
    turned = [regulariser for regulariser in REGULARISERS.values() if regulariser in wanted]

    def turn(recipe_so_far: Recipe, regulariser: Regulariser) -> Recipe:
        strength = regulariser.strength(recipe) or None
        return regulariser.switched(recipe_so_far, not regulariser.by_nature, strength)

    found = [Arm("none of them", baseline)]
    found += [Arm(_title(regulariser), turn(baseline, regulariser), regulariser) for regulariser in turned]
    added = [regulariser for regulariser in turned if not regulariser.by_nature]
    if len(added) > 1:
        title = "all of these" if added == turned else "all that can be added"
        found.append(Arm(title, reduce(turn, added, baseline), has_all=True))
    return tuple(found)


def _title(regulariser: Regulariser) -> str:
    return f"without {within(regulariser.title)}" if regulariser.by_nature else regulariser.title


def within(title: str) -> str:
    """A title as it stands within a sentence: with a small first letter."""
    return title[0].lower() + title[1:]


class Ablation:
    """The runs, one after the other, on the same data, from the same initial weights, with batches in the same order.

    Args:
        config: the architecture of them all.
        runs: what to run, as `arms` returns it: recipes of one task, one amount of data and one seed.
        device: where; the CPU by default.
        data: their data, if it is there already.

    Attributes:
        arms: the runs.
        n_answers: how many answers the validation set asks for.

    Raises:
        RecipeError: as `Trainer`.
    """

    def __init__(
        self, config: ModelConfig, runs: Sequence[Arm], device: torch.device | None = None, *, data: Data | None = None
    ) -> None:
        self.arms = tuple(runs)
        self._config, self._device = config, device or torch.device("cpu")
        self._data = make_data(self.arms[0].recipe) if data is None else data
        self.n_answers = int((self._data.validation.targets != IGNORE).sum())
        self._done: list[ArmResult] = []
        self._running: tuple[int, Trainer] | None = None

    @property
    def progress(self) -> float:
        """The share of all runs that is done; 1 at the end."""
        running = self._running
        done = sum(result.in_use is not None for result in self._done)
        share = running[1].progress if running is not None and running[0] == done else 0.0
        return (done + share) / len(self.arms)

    def run(self) -> Iterator[int]:
        """Train all; yields after every step, with the number of the arm."""
        try:
            for number, arm in enumerate(self.arms):
                trainer = Trainer(self._config, arm.recipe, self._device, data=self._data)
                self._running = number, trainer
                for _ in trainer.run():
                    yield number
                in_use = measure_in_use(trainer.network, self._data.validation, arm.recipe, self._device)
                self._done.append(replace(_result(arm, trainer), in_use=in_use))
        finally:  # a run that is broken off leaves its numbers, too, and no network
            self._done, self._running = self.results(), None

    def results(self) -> list[ArmResult]:
        """Every arm that has begun, as of now; another thread may be training."""
        running = self._running  # before those done: an arm that ends in between is then among them
        done = list(self._done)
        if running is not None and running[0] == len(done):
            done.append(_result(self.arms[len(done)], running[1]))
        return done


def _result(arm: Arm, trainer: Trainer) -> ArmResult:
    outcome, history = trainer.outcome, replace(trainer.history.copy(), snapshots=[])
    last = history.evaluations[-1] if history.evaluations else None
    return ArmResult(arm, history, outcome, (history.at(trainer.kept_step) or last) if outcome else last)
