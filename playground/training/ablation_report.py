"""An ablation's numbers and sentences: each kind of training beside the baseline, what helped, and how sure that is.

Each kind of training stands beside the baseline, over one seed or several.
"""

import math
import re
from collections.abc import Sequence

import pandas as pd

from playground.text.wording import join_words, lower_first
from playground.training.ablation import (
    LEVEL,
    ONE_SEED,
    AblationResult,
    AblationTraining,
    Effect,
    compare_to_baseline,
    count_ended,
    difference_noise,
    group_by_name,
    is_told_apart,
    mean_evaluation,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.network import History

COLUMNS = {
    "training": "training %",
    "validation": "validation %",
    "gap": "gap",
    "accuracy": "in use %",
    "accuracy_change": "± points",
    "loss": "loss",
    "loss_change": "± nats",
    "ending": "how it ended",
}
"""Short names and titles of the table's columns."""


SPREAD_COLUMNS = {"accuracy_spread": "spread, points", "loss_spread": "spread, nats"}
"""Short names and titles of the columns that several seeds add: the seeds' highest change less their lowest."""


def measure_effects(results: Sequence[AblationResult]) -> dict[str, Effect]:
    """By name, the baseline first: each kind that has ended, over the seeds with which all kinds have ended.

    While the first seed's trainings go on, over that one.
    """
    kinds = group_by_name(results)
    baselines = kinds.get("none", [])
    n_ended = [count_ended(of_kind) for of_kind in kinds.values()]
    n_seeds = max(1, min(n_ended, default=1))
    compared = {name: compare_to_baseline(of_kind[:n_seeds], baselines) for name, of_kind in kinds.items()}
    return {name: effect for name, effect in compared.items() if effect is not None}


def ablation_table(results: Sequence[AblationResult], trainings: Sequence[AblationTraining]) -> pd.DataFrame:
    """A row for each kind of training, those to come included; of the weights that it ended with, or has by now.

    Args:
        results: of the trainings that have begun, the baseline first.
        trainings: all of the ablation's; with several seeds, numbers are means, and there are `SPREAD_COLUMNS`.
    """
    kinds, effects, n_seeds = group_by_name(results), measure_effects(results), len(seeds_of(trainings))
    columns = dict(COLUMNS)
    if n_seeds > 1:
        ending = columns.pop("ending")
        columns |= {**SPREAD_COLUMNS, "ending": ending}
    rows = [
        _row(kinds.get(training.name, []), effects.get(training.name), n_seeds)
        for training in trainings_of_one_seed(trainings)
    ]
    titles = [training.title for training in trainings_of_one_seed(trainings)]
    named = [{title: row.get(short, math.nan) for short, title in columns.items()} for row in rows]
    return pd.DataFrame(named, index=pd.Index(titles, name="run"), columns=list(columns.values()))


def _row(results: Sequence[AblationResult], effect: Effect | None, n_seeds: int) -> dict[str, object]:
    if not results:
        return {"ending": "still to come"}
    n_ended = count_ended(results)
    compared = list(results[: effect.n_seeds if effect else 1])
    if all(result.evaluation is None for result in compared):
        return {"ending": "has just begun"}
    train, validation = (measure.accuracy for measure in mean_evaluation(compared))
    row: dict[str, object] = {"training": 100 * train, "validation": 100 * validation}
    row |= {"gap": 100 * (train - validation), "ending": _ending(results[-1])}
    if n_seeds > 1:
        endings = list(dict.fromkeys(_ending(result) for result in results))
        row["ending"] = "; ".join(endings) if n_ended == n_seeds else f"{n_ended} of {n_seeds} seeds, {endings[-1]}"
    if effect is not None:
        row |= {"accuracy": 100 * effect.unbatched.accuracy, "accuracy_change": 100 * effect.accuracy_change}
        row |= {"loss": effect.unbatched.loss, "loss_change": effect.loss_change}
        row |= {"accuracy_spread": 100 * effect.accuracy_spread, "loss_spread": effect.loss_spread}
    return row


def _ending(result: AblationResult) -> str:
    step, evaluation = len(result.history.loss), result.evaluation
    if evaluation is None:
        return "has just begun"
    if not result.outcome:
        return f"at step {step}"
    if result.outcome == "finished" and evaluation.step == step:
        return f"after {step} steps"
    word = {"stopped early": "stopped", "finished": "ended"}.get(result.outcome, result.outcome)
    return f"{word} at {step}, kept {evaluation.step}"


def summarise_ablation(results: Sequence[AblationResult], n_answers: int) -> list[str]:
    """Sentences (markdown) on the trainings that have ended by now; `n_answers` is what the validation set asks for.

    Over several seeds, a mean change of right answers counts if `is_told_apart` says so of all that are compared.
    """
    effects = list(measure_effects(results).values())
    if not effects:
        return []
    baseline, *others = effects
    noise = difference_noise(baseline.unbatched.accuracy, n_answers * baseline.n_seeds)
    sentences = [_describe_baseline(baseline, noise)]
    if others:
        sentences += _describe_accuracy(others, noise, n_answers) + _describe_loss(others, baseline.unbatched.loss)
        for effect in others:
            sentences += _describe_missing_mask(effect, noise)
            if effect.diverged:
                run = f"The run {_with_title(effect.training.title)}"
                sentences.append(f"{run} {_describe_divergence(effect)}. {_describe_kept(effect)}.")
        sentences.append(_describe_seeds(results, baseline.n_seeds))
    return sentences


def answer_ablation(results: Sequence[AblationResult], n_answers: int) -> str:
    """What the regulariser that changed most has changed, in two numbers (markdown); empty until a run has ended.

    `n_answers` is what the validation set asks for.
    """
    effects = list(measure_effects(results).values())
    if not effects:
        return ""
    baseline, *others = effects
    usual = baseline.unbatched
    if not others:
        return f"The **plain run** gives {usual.accuracy:.1%} right answers to sequences that it never saw."
    most = max(others, key=lambda effect: abs(effect.accuracy_change))
    title, is_taken_away = _with_title(most.training.title), most.training.title.startswith("without ")
    without = "with none of them" if most.training.name == "all" else "with it" if is_taken_away else "without it"
    noise = difference_noise(usual.accuracy, n_answers * baseline.n_seeds)
    compared = f"Of {len(others)} comparisons this changed most: " if len(others) > 1 else ""
    verdict = "It helped." if most.accuracy_change > 0 else "It did harm."
    if 1 < most.n_seeds < 3:
        verdict = f"So far, this is what {most.n_seeds} seeds say."
    elif abs(most.accuracy_change) <= noise or (most.n_seeds > 1 and not is_told_apart(most.accuracy_p, len(others))):
        verdict = "That is no more than chance may do."
        if _has_other_loss(most, usual.loss):
            verdict += (
                f" The loss, which also counts how sure wrong answers are, is {most.unbatched.loss:.2f} instead of "
                f"{usual.loss:.2f}."
            )
    elif most.n_seeds == 1:
        verdict = ONE_SEED
    elif is_taken_away:
        verdict = "Going without it helped." if most.accuracy_change > 0 else "Going without it did harm."
    sentences = [
        f"{compared}{title if compared else _first_upper(title)}, **{most.unbatched.accuracy:.1%}** of the answers to "
        f"sequences that it never saw are right; {without}, **{usual.accuracy:.1%}**{_of_seeds(most)}.",
        verdict,
        *(_describe_end(without, baseline) for _ in baseline.diverged[:1]),
        *(_describe_end(title, most) for _ in most.diverged[:1]),
    ]
    return " ".join(sentences)


def _first_upper(sentence: str) -> str:
    return re.sub("[a-z]", lambda letter: letter[0].upper(), sentence, count=1)  # behind the marks of bold letters


def _of_seeds(effect: Effect) -> str:
    return f" (means of {effect.n_seeds} seeds)" if effect.n_seeds > 1 else ""


def _describe_end(which: str, effect: Effect) -> str:
    """When a kind of training diverged, and why it ended."""
    return f"{_first_upper(which)} the training {_describe_divergence(effect)}."


def _has_other_loss(effect: Effect, usual: float) -> bool:
    """Whether the loss lies apart from the baseline's, `usual`."""
    return abs(effect.loss_change) > max(0.1 * usual, 0.05, effect.loss_spread)


def _describe_baseline(baseline: Effect, noise: float) -> str:
    if baseline.diverged:
        return f"The **plain run** {_describe_divergence(baseline)}. {_describe_kept(baseline)}."
    known = (
        f"The **plain run** gets {baseline.train.accuracy:.1%} right of what it learns from, and "
        f"{baseline.validation.accuracy:.1%} of what it never sees"
    )
    if baseline.gap > noise:
        return f"{known}: the gap of {_points(baseline.gap)} is learnt by heart."
    return f"{known}: nothing is learnt by heart, so that there is little for a regulariser to mend."


def _describe_divergence(effect: Effect) -> str:
    """At which step a training was ended, and why."""
    steps = join_words([str(len(result.history.loss)) for result in effect.diverged])
    if effect.n_seeds == 1:
        return f"diverged at step {steps}: {_describe_cause(effect.diverged[0].history)}"
    return (
        f"diverged with {len(effect.diverged)} of {effect.n_seeds} seeds, at step {steps}: its loss got far worse "
        "than guessing, or was no number any more"
    )


def _describe_cause(history: History) -> str:
    """What ended a training that diverged."""
    if not math.isfinite(history.loss[-1]):
        return "its loss was no finite number any more"
    if not all(map(math.isfinite, history.grad_norm)):
        return "its gradient was no finite number any more"
    return f"its loss rose to {max(history.loss):,.3g} nats, far above that of guessing"


def _describe_kept(effect: Effect) -> str:
    steps = [str(result.evaluation.step) for result in effect.diverged if result.evaluation is not None]
    return f"What is measured of it are its weights of step {join_words(steps)}"


def _describe_seeds(results: Sequence[AblationResult], n_seeds: int) -> str:
    if n_seeds == 1:
        return ONE_SEED
    seeds = [str(seed) for seed in dict.fromkeys(result.training.recipe.seed for result in results)][:n_seeds]
    return (
        f"All numbers are means over the seeds {join_words(seeds)}. Each has sequences, initial weights and an order "
        "of its own, the same for all of its runs."
    )


def _describe_accuracy(effects: list[Effect], noise: float, n_answers: int) -> list[str]:
    """Who gets more right, who less, and of whom that can't be told."""
    ordered = sorted(effects, key=lambda effect: -effect.accuracy_change)
    told = [
        effect
        for effect in ordered
        if abs(effect.accuracy_change) > noise
        and (effect.n_seeds == 1 or is_told_apart(effect.accuracy_p, len(effects)))
    ]
    more = [effect for effect in told if effect.accuracy_change > 0]
    less = [effect for effect in reversed(told) if effect.accuracy_change < 0]
    same = [effect for effect in ordered if effect not in told]
    sentences = [
        f"In use, {word} of the validation set is right {_list_effects(group)}."
        for word, group in (("more", more), ("less", less))
        if group
    ]
    if same and same[0].n_seeds > 1:
        sentences.append(
            f"Not told apart from chance by these {same[0].n_seeds} seeds: {_list_effects(same)}. Compared: "
            f"{len(effects)}. Chance alone tells any of them apart at most once in {1 / LEVEL:.0f} times (t-test, "
            "Bonferroni)."
        )
    elif same:
        titles = ", ".join(_with_title(effect.training.title) for effect in same)
        sentences.append(
            f"About as much is right {titles}: within ±{_points(noise)}, {n_answers:,} answers can't tell two "
            "runs apart."
        )
    return sentences


def _describe_loss(effects: list[Effect], usual: float) -> list[str]:
    """Whose loss lies apart from the baseline's: accuracy may be the same all the while."""
    apart = [effect for effect in effects if _has_other_loss(effect, usual)]
    lower = sorted((effect for effect in apart if effect.loss_change < 0), key=lambda effect: effect.unbatched.loss)
    higher = sorted((effect for effect in apart if effect.loss_change > 0), key=lambda effect: -effect.unbatched.loss)
    parts = [
        f"{word} {', '.join(f'{_with_title(effect.training.title)} ({effect.unbatched.loss:.2f})' for effect in group)}"
        for word, group in (("lower", lower), ("higher", higher))
        if group
    ]
    if not parts:
        return []
    return [
        "Loss also counts how sure the wrong answers are: on the validation set, in use, it is "
        f"{usual:.2f} nats in the plain run, {'; '.join(parts)}."
    ]


def _describe_missing_mask(effect: Effect, noise: float) -> list[str]:
    """What measuring in batches hides, where a mask is missing."""
    in_batches, alone = effect.validation.accuracy, effect.unbatched.accuracy
    measured, apart = f"{in_batches:.1%}", in_batches - alone
    if effect.training.name == "causal" and apart > noise:
        return [
            f"**Without the causal mask** {measured} of the validation set seems to be right: each next character "
            f"stands in what is read. In use, where nobody knows it yet, {alone:.1%} is."
        ]
    if effect.training.name != "mask_padding":
        return []
    compared = "about as much" if abs(apart) <= noise else "less" if apart > 0 else "more"
    return [
        f"**Without the padding mask** a sequence gets other answers beside longer ones: {measured} is right in "
        f"batches as they come, and {compared}, {alone:.1%}, when every sequence comes alone."
    ]


def _list_effects(effects: list[Effect]) -> str:
    return ", ".join(
        f"{_with_title(effect.training.title)} ({_points(effect.accuracy_change, sign='+')})" for effect in effects
    )


def _with_title(title: str) -> str:
    return f"{'' if title.startswith('without ') else 'with '}**{lower_first(title)}**"


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f} points"
