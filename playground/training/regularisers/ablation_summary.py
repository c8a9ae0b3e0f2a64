"""What an ablation's numbers say, in sentences: what helped, what harmed, what did nothing, and how sure that is."""

import math
from collections.abc import Sequence

from playground.training.history import Evaluation, Measure
from playground.training.regularisers.ablation import AblationResult, lower_first
from playground.training.regularisers.ablation_table import Effect, compare_to_baseline


def difference_noise(share: float, n_answers: int) -> float:
    """Two standard errors of a difference of two shares near `share`, each of n answers that are right or wrong.

    Answers within one sequence depend on each other, and two runs answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


def summarise_ablation(results: Sequence[AblationResult], n_answers: int) -> list[str]:
    """Sentences (markdown) on the runs that have ended by now; `n_answers` is what the validation set asks for."""
    ended = [result for result in results if result.unbatched is not None]
    if not ended or ended[0].unbatched is None or ended[0].evaluation is None:
        return []
    baseline, others = ended[0], ended[1:]
    noise = difference_noise(ended[0].unbatched.accuracy, n_answers)
    sentences = [_describe_baseline(baseline, ended[0].evaluation, noise)]
    if others:
        effects = [effect for result in others if (effect := compare_to_baseline(result, baseline))]
        sentences += _describe_accuracy(effects, noise, n_answers) + _describe_loss(effects, ended[0].unbatched.loss)
        for result in others:
            if result.unbatched is not None and result.evaluation is not None:
                sentences += _describe_missing_mask(result, result.unbatched, result.evaluation, noise)
                if result.outcome == "diverged":
                    away = f"ran away: what is measured are its weights of step {result.evaluation.step}."
                    sentences.append(f"**{result.run.title}** {away}")
        sentences.append("One seed is one draw: with another one, from the sidebar, close ones may change places.")
    return sentences


def _describe_baseline(result: AblationResult, evaluation: Evaluation, noise: float) -> str:
    if result.outcome == "diverged":
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
    same = [lower_first(effect.title) for effect in ordered if abs(effect.accuracy_change) <= noise]
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
    lower = sorted((effect for effect in apart if effect.loss_change < 0), key=lambda effect: effect.loss)
    higher = sorted((effect for effect in apart if effect.loss_change > 0), key=lambda effect: -effect.loss)
    parts = [
        f"{word} {', '.join(f'{_with_title(effect.title)} ({effect.loss:.2f})' for effect in group)}"
        for word, group in (("lower", lower), ("higher", higher))
        if group
    ]
    if not parts:
        return []
    return [
        "Loss also counts how sure the wrong answers are: on the validation set, in use, it is "
        f"{usual:.2f} nats with none of them, {'; '.join(parts)}."
    ]


def _describe_missing_mask(
    result: AblationResult, unbatched: Measure, evaluation: Evaluation, noise: float
) -> list[str]:
    """What measuring in batches hides, where a mask is missing."""
    measured, field = f"{evaluation.validation.accuracy:.1%}", result.run.regulariser and result.run.regulariser.field
    apart = evaluation.validation.accuracy - unbatched.accuracy
    if field == "causal" and apart > noise:
        return [
            f"**Without the causal mask** {measured} of the validation set seems to be right: each next character "
            f"stands in what is read. In use, where nobody knows it yet, {unbatched.accuracy:.1%} is."
        ]
    if field != "mask_padding":
        return []
    compared = "about as much" if abs(apart) <= noise else "less" if apart > 0 else "more"
    return [
        f"**Without the padding mask** a sequence gets other answers beside longer ones: {measured} is right in "
        f"batches as they come, and {compared}, {unbatched.accuracy:.1%}, when every sequence comes alone."
    ]


def _list_effects(effects: list[Effect]) -> str:
    return ", ".join(f"{_with_title(effect.title)} ({_points(effect.accuracy_change, sign='+')})" for effect in effects)


def _with_title(title: str) -> str:
    return f"{'' if title.startswith('without ') else 'with '}**{lower_first(title)}**"


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f} points"
