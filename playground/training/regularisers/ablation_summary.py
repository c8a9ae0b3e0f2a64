"""What an ablation's numbers say, in sentences: what helped, what harmed, what did nothing, and how sure that is."""

import math
from collections.abc import Sequence

from playground.training.history import Evaluation, Measure
from playground.training.regularisers.ablation import ArmResult, within
from playground.training.regularisers.ablation_table import Effect, effect


def noise(share: float, n_answers: int) -> float:
    """Two standard errors of a difference of two shares near `share`, each of n answers that are right or wrong.

    Answers within one sequence depend on each other, and two runs answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


def describe(results: Sequence[ArmResult], n_answers: int) -> list[str]:
    """Sentences (markdown) on the runs that have ended by now.

    Args:
        results: as of `Ablation.results`.
        n_answers: what the validation set asks for.
    """
    ended = [result for result in results if result.in_use is not None]
    if not ended or ended[0].in_use is None or ended[0].kept is None:
        return []
    baseline, others = ended[0], ended[1:]
    doubt = noise(ended[0].in_use.accuracy, n_answers)
    said = [_of_the_baseline(baseline, ended[0].kept, doubt)]
    if others:
        effects = [found for result in others if (found := effect(result, baseline))]
        said += _of_accuracy(effects, doubt, n_answers) + _of_loss(effects, ended[0].in_use.loss)
        for result in others:
            if result.in_use is not None and result.kept is not None:
                said += _of_a_missing_mask(result, result.in_use, result.kept, doubt)
                said += _of_a_runaway(result, result.kept)
        said.append("One seed is one draw: with another one, from the sidebar, close ones may change places.")
    return said


def _of_the_baseline(result: ArmResult, kept: Evaluation, doubt: float) -> str:
    if result.outcome == "diverged":
        return f"The run with **none of them** ran away, and what is measured are its weights of step {kept.step}."
    known = (
        f"**None of them** gets {kept.train.accuracy:.1%} right of what it learns from, and "
        f"{kept.validation.accuracy:.1%} of what it never sees"
    )
    if kept.gap > doubt:
        return f"{known}: the gap of {_points(kept.gap)} is learnt by heart."
    return f"{known}: nothing is learnt by heart, so that there is little for a regulariser to mend."


def _of_accuracy(effects: list[Effect], doubt: float, n_answers: int) -> list[str]:
    """Who gets more right, who less, and of whom that can't be told."""
    ordered = sorted(effects, key=lambda found: -found.more)
    more = [found for found in ordered if found.more > doubt]
    less = [found for found in reversed(ordered) if found.more < -doubt]
    same = [within(found.title) for found in ordered if abs(found.more) <= doubt]
    said = []
    if more:
        said.append(f"In use, more of the validation set is right {_listed(more)}.")
    if less:
        said.append(f"In use, less of the validation set is right {_listed(less)}.")
    if same:
        said.append(
            f"About as much is right with {', '.join(same)}: within ±{_points(doubt)}, {n_answers:,} answers can't "
            "tell two runs apart."
        )
    return said


def _of_loss(effects: list[Effect], usual: float) -> list[str]:
    """Whose loss lies apart from the baseline's: accuracy may be the same all the while."""
    apart = [found for found in effects if abs(found.change) > max(0.1 * usual, 0.05)]
    lower = sorted((found for found in apart if found.change < 0), key=lambda found: found.loss)
    higher = sorted((found for found in apart if found.change > 0), key=lambda found: -found.loss)
    parts = [
        f"{word} {', '.join(f'{_with(found.title)} ({found.loss:.2f})' for found in group)}"
        for word, group in (("lower", lower), ("higher", higher))
        if group
    ]
    if not parts:
        return []
    return [
        "Loss also counts how sure the wrong answers are: on the validation set, in use, it is "
        f"{usual:.2f} nats with none of them, {'; '.join(parts)}."
    ]


def _of_a_missing_mask(result: ArmResult, in_use: Measure, kept: Evaluation, doubt: float) -> list[str]:
    """What measuring in batches hides, where a mask is missing."""
    measured, field = f"{kept.validation.accuracy:.1%}", result.arm.regulariser and result.arm.regulariser.field
    apart = kept.validation.accuracy - in_use.accuracy
    if field == "causal" and apart > doubt:
        return [
            f"**Without the causal mask** {measured} of the validation set seems to be right: each next character "
            f"stands in what is read. In use, where nobody knows it yet, {in_use.accuracy:.1%} is."
        ]
    if field != "mask_padding":
        return []
    compared = "about as much" if abs(apart) <= doubt else "less" if apart > 0 else "more"
    return [
        f"**Without the padding mask** a sequence gets other answers beside longer ones: {measured} is right in "
        f"batches as they come, and {compared}, {in_use.accuracy:.1%}, when every sequence comes alone."
    ]


def _of_a_runaway(result: ArmResult, kept: Evaluation) -> list[str]:
    if result.outcome != "diverged":
        return []
    return [f"**{result.arm.title}** ran away: what is measured are its weights of step {kept.step}."]


def _listed(effects: list[Effect]) -> str:
    return ", ".join(f"{_with(found.title)} ({_points(found.more, sign='+')})" for found in effects)


def _with(title: str) -> str:
    return f"{'' if title.startswith('without ') else 'with '}**{within(title)}**"


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f} points"
