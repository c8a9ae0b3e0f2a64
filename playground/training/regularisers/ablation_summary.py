"""An ablation in sentences: what helped, what harmed, and how sure that is."""

import math
from collections.abc import Sequence

from playground.text.wording import join_words, lower_first
from playground.training.regularisers.ablation_report import Effect, measure_effects
from playground.training.regularisers.ablation_state import AblationResult


def difference_noise(share: float, n_answers: int) -> float:
    """Two standard errors of a difference of two shares near `share`, each of n answers that are right or wrong.

    Answers within one sequence depend on each other, and two runs answer the same questions: it is a rough guide.
    """
    share = (share * n_answers + 2) / (n_answers + 4)  # nobody is sure to be always right (Agresti & Coull 1998)
    return 2 * math.sqrt(2 * share * (1 - share) / n_answers)


def summarise_ablation(results: Sequence[AblationResult], n_answers: int) -> list[str]:
    """Sentences (markdown) on the runs that have ended by now; `n_answers` is what the validation set asks for.

    Over several seeds, a mean change counts where it is larger than its spread. Of three draws of nothing but normal
    noise, one in twelve is.
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
                sentences.append(f"**{effect.run.title}** {_describe_divergence(effect)}.")
        sentences.append(_describe_seeds(results, baseline.n_seeds))
    return sentences


def _describe_baseline(baseline: Effect, noise: float) -> str:
    if baseline.diverged:
        return f"The run with **none of them** {_describe_divergence(baseline)}."
    known = (
        f"The run with **none of them** gets {baseline.train.accuracy:.1%} right of what it learns from, and "
        f"{baseline.validation.accuracy:.1%} of what it never sees"
    )
    if baseline.gap > noise:
        return f"{known}: the gap of {_points(baseline.gap)} is learnt by heart."
    return f"{known}: nothing is learnt by heart, so that there is little for a regulariser to mend."


def _describe_divergence(effect: Effect) -> str:
    steps = [result.evaluation.step for result in effect.diverged if result.evaluation is not None]
    if effect.n_seeds == 1:
        return f"ran away: what is measured are its weights of step {steps[0]}"
    counted = f"with {len(steps)} of {effect.n_seeds} seeds"
    return f"ran away {counted}: what is measured there are weights of step {join_words([str(step) for step in steps])}"


def _describe_seeds(results: Sequence[AblationResult], n_seeds: int) -> str:
    if n_seeds == 1:
        return "One seed is one draw: with another one, close ones may change places. Three seeds show how much."
    seeds = [str(seed) for seed in dict.fromkeys(result.run.recipe.seed for result in results)][:n_seeds]
    return (
        f"All numbers are means over the seeds {join_words(seeds)}. Each has sequences, initial weights and an order "
        "of its own, the same for all of its runs."
    )


def _describe_accuracy(effects: list[Effect], noise: float, n_answers: int) -> list[str]:
    """Who gets more right, who less, and of whom that can't be told."""
    ordered = sorted(effects, key=lambda effect: -effect.accuracy_change)
    told = [effect for effect in ordered if abs(effect.accuracy_change) > max(noise, effect.accuracy_spread)]
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
            f"Not told apart from chance by these {same[0].n_seeds} seeds: {_list_effects(same)}. The change is "
            f"smaller than its spread over the seeds, or within ±{_points(noise)}."
        )
    elif same:
        titles = ", ".join(_with_title(effect.run.title) for effect in same)
        sentences.append(
            f"About as much is right {titles}: within ±{_points(noise)}, {n_answers:,} answers can't tell two "
            "runs apart."
        )
    return sentences


def _describe_loss(effects: list[Effect], usual: float) -> list[str]:
    """Whose loss lies apart from the baseline's: accuracy may be the same all the while."""
    apart = [effect for effect in effects if abs(effect.loss_change) > max(0.1 * usual, 0.05, effect.loss_spread)]
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
    in_batches, alone = effect.validation.accuracy, effect.unbatched.accuracy
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
