"""An ablation's numbers: its runs one below the other, and each against the baseline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from playground.training.history import Evaluation
from playground.training.regularisers.ablation import ArmResult

COLUMNS = {
    "training": "training, %",
    "validation": "validation, %",
    "gap": "gap, points",
    "in use": "in use, %",
    "more": "± points",
    "loss": "loss in use, nats",
    "change": "± nats",
    "ended": "how it ended",
}
"""Short names and titles of the table's columns."""


@dataclass(frozen=True)
class Effect:
    """What a run that has ended differs by from the baseline, in use: as `measure_in_use`.

    Attributes:
        title: the run's.
        more: right answers more, as a share of all.
        loss: nats.
        change: of the loss, in nats; below 0 it is lower.
    """

    title: str
    more: float
    loss: float
    change: float


def effect(result: ArmResult, baseline: ArmResult) -> Effect | None:
    """Compare a run with the baseline; None until both have ended."""
    ours, none = result.in_use, baseline.in_use
    if ours is None or none is None:
        return None
    return Effect(result.arm.title, ours.accuracy - none.accuracy, ours.loss, ours.loss - none.loss)


def table(results: Sequence[ArmResult], titles: Sequence[str]) -> pd.DataFrame:
    """A row for each run, those to come included; numbers of the weights that it ended with, or has by now.

    Args:
        results: of the runs that have begun, the baseline first.
        titles: of all runs.
    """
    rows = [_row(result, results[0]) for result in results]
    rows += [{"ended": "still to come"}] * (len(titles) - len(results))
    named = [{title: row.get(short, math.nan) for short, title in COLUMNS.items()} for row in rows]
    return pd.DataFrame(named, index=pd.Index(list(titles), name="run"), columns=list(COLUMNS.values()))


def _row(result: ArmResult, baseline: ArmResult) -> dict[str, object]:
    kept, apart = result.kept, effect(result, baseline)
    if kept is None:
        return {"ended": "has just begun"}
    row: dict[str, object] = {
        "training": 100 * kept.train.accuracy,
        "validation": 100 * kept.validation.accuracy,
        "gap": 100 * kept.gap,
        "ended": _ending(result, kept),
    }
    if result.in_use is not None:
        row |= {"in use": 100 * result.in_use.accuracy, "loss": result.in_use.loss}
    if apart is not None:
        row |= {"more": 100 * apart.more, "change": apart.change}
    return row


def _ending(result: ArmResult, kept: Evaluation) -> str:
    step = len(result.history.loss)
    if not result.outcome:
        return f"at step {step}"
    if result.outcome == "finished" and kept.step == step:
        return f"after {step} steps"
    word = {"stopped early": "stopped", "diverged": "ran away"}.get(result.outcome, "ended")
    return f"{word} at {step}, kept {kept.step}"
