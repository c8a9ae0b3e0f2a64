"""What is to be seen of an ablation: its runs, and how far each is."""

from dataclasses import dataclass

from playground.training.history import Evaluation, History, Measure
from playground.training.recipe import Recipe
from playground.training.trainer import Outcome


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

    def picture(self) -> "AblationState":
        """The same, as it never grows."""
        return self

    def followed_by(self, later: "AblationState") -> "AblationState":
        """A later state, unless that is further back: of a run that was taken up again from a checkpoint."""
        return self if later.progress < self.progress else later

    @property
    def n_bytes(self) -> int:
        """Memory that the curves take, in bytes: three floats of Python's a step, and the lists' pointers to them."""
        return 3 * 32 * sum(len(result.history.loss) for result in self.results)
