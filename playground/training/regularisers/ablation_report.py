"""An ablation's numbers, as a table and in sentences: what helped, what harmed, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from playground.training.history import Evaluation, Measure
from playground.training.regularisers.ablation import AblationResult, AblationRun, lower_first
from playground.training.trainer import Outcome

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
    """What a run that has ended measures, and what it differs by from the baseline, each sequence on its own."""

    run: AblationRun
    outcome: Outcome
    evaluation: Evaluation
    """As of `AblationResult`."""
    unbatched: Measure
    """As of `AblationResult`; what the changes are of."""
    accuracy_change: float
    """Right answers more, as a share of all."""
    loss_change: float
    """Nats; below 0 where the loss is lower."""
    gap_change: float
    """As of `Evaluation.gap`, in the sets as they are measured while training."""


def compare_to_baseline(result: AblationResult, baseline: AblationResult) -> Effect | None:
    """Compare a run with the baseline; None until both have ended."""
    own, other, evaluation, usual = result.unbatched, baseline.unbatched, result.evaluation, baseline.evaluation
    if own is None or other is None or evaluation is None or usual is None:
        return None
    changes = own.accuracy - other.accuracy, own.loss - other.loss, evaluation.gap - usual.gap
    return Effect(result.run, result.outcome, evaluation, own, *changes)


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
    if effect is not None:
        row |= {"accuracy": 100 * effect.unbatched.accuracy, "accuracy_change": 100 * effect.accuracy_change}
        row |= {"loss": effect.unbatched.loss, "loss_change": effect.loss_change}
    return row


def _ending(result: AblationResult, evaluation: Evaluation) -> str:
    step = len(result.history.loss)
    if not result.outcome:
        return f"at step {step}"
    if result.outcome == "finished" and evaluation.step == step:
        return f"after {step} steps"
    word = {"stopped early": "stopped", "diverged": "ran away"}.get(result.outcome, "ended")
    return f"{word} at {step}, kept {evaluation.step}"


def difference_noise(share: float, n_answers: int) -> float:
    """Two standard errors of a difference of two shares near `share`, each of n answers that are right or wrong.

    Answers within one sequence depend on each other, and two runs answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


def summarise_ablation(results: Sequence[AblationResult], n_answers: int) -> list[str]:
    """Sentences (markdown) on the runs that have ended by now; `n_answers` is what the validation set asks for."""
    effects = [effect for result in results if (effect := compare_to_baseline(result, results[0]))]
    if not effects:
        return []
    baseline, *others = effects
    noise = difference_noise(baseline.unbatched.accuracy, n_answers)
    sentences = [_describe_baseline(baseline, noise)]
    if others:
        sentences += _describe_accuracy(others, noise, n_answers) + _describe_loss(others, baseline.unbatched.loss)
        for effect in others:
            sentences += _describe_missing_mask(effect, noise)
            if effect.outcome == "diverged":
                away = f"ran away: what is measured are its weights of step {effect.evaluation.step}."
                sentences.append(f"**{effect.run.title}** {away}")
        sentences.append("One seed is one draw: with another one, from the sidebar, close ones may change places.")
    return sentences


def _describe_baseline(baseline: Effect, noise: float) -> str:
    evaluation = baseline.evaluation
    if baseline.outcome == "diverged":
        return (
            f"The run with **none of them** ran away, and what is measured are its weights of step {evaluation.step}."
        )
    known = (
        f"**None of them** gets {evaluation.train.accuracy:.1%} right of what it learns from, and "
        f"{evaluation.validation.accuracy:.1%} of what it never sees"
    )
    if evaluation.gap > noise:
        return f"{known}: the gap of {_points(evaluation.gap)} is learnt by heart."
    return f"{known}: nothing is learnt by heart, so that there is little for a regulariser to mend."


def _describe_accuracy(effects: list[Effect], noise: float, n_answers: int) -> list[str]:
    """Who gets more right, who less, and of whom that can't be told."""
    ordered = sorted(effects, key=lambda effect: -effect.accuracy_change)
    more = [effect for effect in ordered if effect.accuracy_change > noise]
    less = [effect for effect in reversed(ordered) if effect.accuracy_change < -noise]
    same = [lower_first(effect.run.title) for effect in ordered if abs(effect.accuracy_change) <= noise]
    sentences = [
        f"In use, {word} of the validation set is right {_list_effects(group)}."
        for word, group in (("more", more), ("less", less))
        if group
    ]
    if same:
        sentences.append(
            f"About as much is right with {', '.join(same)}: within ±{_points(noise)}, {n_answers:,} answers can't "
            "tell two runs apart."
        )
    return sentences


def _describe_loss(effects: list[Effect], usual: float) -> list[str]:
    """Whose loss lies apart from the baseline's: accuracy may be the same all the while."""
    apart = [effect for effect in effects if abs(effect.loss_change) > max(0.1 * usual, 0.05)]
    lower = sorted((effect for effect in apart if effect.loss_change < 0), key=lambda effect: effect.unbatched.loss)
    higher = sorted((effect for effect in apart if effect.loss_change > 0), key=lambda effect: -effect.unbatched.loss)
    parts = [
        f"{word} {', '.join(f'{_with_title(effect.run.title)} ({effect.unbatched.loss:.2f})' for effect in group)}"
        for word, group in (("lower", lower), ("higher", higher))
        if group
    ]
    if not parts:
        return []
    return [
        "Loss also counts how sure the wrong answers are: on the validation set, in use, it is "
        f"{usual:.2f} nats with none of them, {'; '.join(parts)}."
    ]


def _describe_missing_mask(effect: Effect, noise: float) -> list[str]:
    """What measuring in batches hides, where a mask is missing."""
    in_batches, alone = effect.evaluation.validation.accuracy, effect.unbatched.accuracy
    measured, apart = f"{in_batches:.1%}", in_batches - alone
    if effect.run.name == "causal" and apart > noise:
        return [
            f"**Without the causal mask** {measured} of the validation set seems to be right: each next character "
            f"stands in what is read. In use, where nobody knows it yet, {alone:.1%} is."
        ]
    if effect.run.name != "mask_padding":
        return []
    compared = "about as much" if abs(apart) <= noise else "less" if apart > 0 else "more"
    return [
        f"**Without the padding mask** a sequence gets other answers beside longer ones: {measured} is right in "
        f"batches as they come, and {compared}, {alone:.1%}, when every sequence comes alone."
    ]


def _list_effects(effects: list[Effect]) -> str:
    return ", ".join(
        f"{_with_title(effect.run.title)} ({_points(effect.accuracy_change, sign='+')})" for effect in effects
    )


def _with_title(title: str) -> str:
    return f"{'' if title.startswith('without ') else 'with '}**{lower_first(title)}**"


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f} points"
