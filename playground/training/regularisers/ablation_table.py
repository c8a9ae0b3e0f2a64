"""An ablation's numbers: its runs one below the other, and each against the baseline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from playground.training.history import Evaluation
from playground.training.regularisers.ablation import AblationResult

COLUMNS = {
    "training": "training, %",
    "validation": "validation, %",
    "gap": "gap, points",
    "accuracy": "in use, %",
    "accuracy_change": "± points",
    "loss": "loss in use, nats",
    "loss_change": "± nats",
    "ending": "how it ended",
}
"""Short names and titles of the table's columns."""


@dataclass(frozen=True)
class Effect:
    """What a run that has ended differs by from the baseline, each sequence on its own: `evaluate_unbatched`.

    Attributes:
        title: the run's.
        accuracy_change: right answers more, as a share of all.
        loss: nats; also `loss_change`, which is below 0 where the loss is lower.
    """

    title: str
    accuracy_change: float
    loss: float
    loss_change: float


def compare_to_baseline(result: AblationResult, baseline: AblationResult) -> Effect | None:
    """Compare a run with the baseline; None until both have ended."""
    own, other = result.unbatched, baseline.unbatched
    if own is None or other is None:
        return None
    return Effect(result.run.title, own.accuracy - other.accuracy, own.loss, own.loss - other.loss)


def ablation_table(results: Sequence[AblationResult], titles: Sequence[str]) -> pd.DataFrame:
    """A row for each title, runs to come included; numbers of the weights that a run ended with, or has by now.

    The results are those of the runs that have begun, the baseline first.
    """
    rows = [_row(result, results[0]) for result in results]
    rows += [{"ending": "still to come"}] * (len(titles) - len(results))
    named = [{title: row.get(short, math.nan) for short, title in COLUMNS.items()} for row in rows]
    return pd.DataFrame(named, index=pd.Index(list(titles), name="run"), columns=list(COLUMNS.values()))


def _row(result: AblationResult, baseline: AblationResult) -> dict[str, object]:
    evaluation, effect = result.evaluation, compare_to_baseline(result, baseline)
    if evaluation is None:
        return {"ending": "has just begun"}
    row: dict[str, object] = {"ending": _ending(result, evaluation), "gap": 100 * evaluation.gap}
    row |= {"training": 100 * evaluation.train.accuracy, "validation": 100 * evaluation.validation.accuracy}
    if result.unbatched is not None:
        row |= {"accuracy": 100 * result.unbatched.accuracy, "loss": result.unbatched.loss}
    if effect is not None:
        row |= {"accuracy_change": 100 * effect.accuracy_change, "loss_change": effect.loss_change}
    return row


def _ending(result: AblationResult, evaluation: Evaluation) -> str:
    step = len(result.history.loss)
    if not result.outcome:
        return f"at step {step}"
    if result.outcome == "finished" and evaluation.step == step:
        return f"after {step} steps"
    word = {"stopped early": "stopped", "diverged": "ran away"}.get(result.outcome, "ended")
    return f"{word} at {step}, kept {evaluation.step}"
