"""Numbers of made-up runs, and the rows and sentences that they have to give."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from playground.training.ablation import (
    LEVEL,
    ONE_SEED,
    AblationResult,
    AblationTraining,
    compare_to_baseline,
    difference_noise,
    is_told_apart,
    paired_p,
)
from playground.training.ablation_report import (
    COLUMNS,
    SPREAD_COLUMNS,
    ablation_table,
    answer_ablation,
    measure_effects,
    summarise_ablation,
)
from playground.training.network import Evaluation, History, Measure
from playground.training.recipe import Recipe
from playground.training.regularisers import REGULARISERS
from tests.training.tiny import CONFIG

N = 2_500


def result(
    switch: str | None,
    train: float,
    validation: float,
    loss: float,
    *,
    unbatched: Any = "the same",
    steps: int = 500,
    kept: int = 500,
    outcome: Any = "finished",
    seed: int = 0,
) -> AblationResult:
    """A run that has ended; with `unbatched=None` one that goes on."""
    regulariser = REGULARISERS[switch] if switch else None
    title = "plain run" if regulariser is None else regulariser.title
    if regulariser is not None and regulariser.on_by_default:
        title = f"without {title[0].lower()}{title[1:]}"
    evaluation = Evaluation(kept, Measure(0.1, train), Measure(loss, validation), 1.0)
    used = Measure(loss, validation) if unbatched == "the same" else unbatched
    history = History(loss=[1.0] * steps, evaluations=[evaluation])
    return AblationResult(
        AblationTraining(switch or "none", title, Recipe(seed=seed), CONFIG),
        history,
        outcome if used else "",
        evaluation,
        used,
    )


NONE = result(None, 1.0, 0.4, 3.0)
HELPS = result("dropout_residual", 0.98, 0.5, 2.0)
HARMS = result("clip", 1.0, 0.3, 3.1)
NOTHING = result("weight_decay", 1.0, 0.41, 3.2)
SURE = result("label_smoothing", 1.0, 0.4, 1.5)
STOPPED = result("patience", 0.6, 0.395, 1.8, steps=200, kept=75, outcome="stopped early")


def row(found: pd.DataFrame, title: str) -> dict[str, Any]:
    names = {title: short for short, title in COLUMNS.items()}
    return {names[column]: value for column, value in found.loc[title].items()}  # type: ignore[index]


def test_the_table_has_a_row_for_every_run() -> None:
    going_on = result("clip", 0.7, 0.2, 2.5, unbatched=None, steps=123)
    together = AblationTraining("all", "all of these", Recipe(), CONFIG)
    runs = [*(each.training for each in (NONE, HELPS, STOPPED, going_on)), together]
    found = ablation_table([NONE, HELPS, STOPPED, going_on], runs)
    assert list(found.index) == [run.title for run in runs]
    assert list(found.columns) == list(COLUMNS.values())
    none: dict[str, Any] = {"training": 100, "validation": 40, "gap": 60, "accuracy": 40, "loss": 3}
    none |= {"accuracy_change": 0, "loss_change": 0, "ending": "after 500 steps"}
    helps = none | {"training": 98, "validation": 50, "gap": 48, "accuracy": 50, "loss": 2}
    helps |= {"accuracy_change": 10, "loss_change": -1}
    assert row(found, "plain run") == pytest.approx(none)
    assert row(found, "Dropout at residual connections") == pytest.approx(helps)
    now, to_come = row(found, "Gradient clipping"), row(found, "all of these")
    assert (now["training"], now["validation"]) == (70, 20)
    assert all(math.isnan(now[name]) for name in ("accuracy", "accuracy_change", "loss", "loss_change"))
    assert all(math.isnan(value) for name, value in to_come.items() if name != "ending")


def test_the_last_column_says_how_far_a_run_is_or_how_it_ended() -> None:
    going_on = result("clip", 0.7, 0.2, 2.5, unbatched=None, steps=123)
    ran_away = result(None, 0.1, 0.1, 2.0, steps=12, kept=0, outcome="diverged")
    best_of_all = result("patience", 0.9, 0.4, 2.0, kept=480)
    just_begun = AblationResult(HELPS.training, History(), "", None)
    results = [
        ran_away,
        best_of_all,
        replace(STOPPED, training=HARMS.training),
        replace(going_on, training=SURE.training),
        just_begun,
    ]
    runs = [*(each.training for each in results), AblationTraining("all", "all of these", Recipe(), CONFIG)]
    assert list(ablation_table(results, runs)[COLUMNS["ending"]]) == [
        "diverged at 12, kept 0", "ended at 500, kept 480", "stopped at 200, kept 75", "at step 123", "has just begun",
        "still to come",
    ]  # fmt: skip


def test_an_effect_is_measured_in_use() -> None:
    unmasked = result("causal", 1.0, 0.9, 0.3, unbatched=Measure(6.0, 0.1))
    found = compare_to_baseline([unmasked], [NONE])
    assert found is not None
    assert found.accuracy_change == pytest.approx(-0.3)
    assert (found.unbatched.loss, found.loss_change) == (6.0, 3.0)
    assert compare_to_baseline([result("clip", 1, 1, 1, unbatched=None)], [NONE]) is None


def test_the_sentences_name_what_helped_harmed_and_did_nothing() -> None:
    sentences = summarise_ablation([NONE, HELPS, HARMS, NOTHING, SURE, STOPPED], N)
    doubt = 100 * difference_noise(0.4, N)
    assert 1 < doubt < 3
    assert sentences == [
        "The **plain run** gets 100.0% right of what it learns from, and 40.0% of what it never sees: the "
        "gap of 60.0 points is learnt by heart.",
        "In use, more of the validation set is right with **dropout at residual connections** (+10.0 points).",
        "In use, less of the validation set is right with **gradient clipping** (-10.0 points).",
        "About as much is right with **weight decay**, with **label smoothing**, with **early stopping**: within "
        f"±{doubt:.1f} points, 2,500 answers can't tell two runs apart.",
        "Loss also counts how sure the wrong answers are: on the validation set, in use, it is 3.00 nats in the "
        "plain run, lower with **label smoothing** (1.50), with **early stopping** (1.80), with **dropout at residual "
        "connections** (2.00).",
        ONE_SEED,
    ]


def test_a_loss_is_lower_or_higher_and_not_both() -> None:
    sentences = summarise_ablation([NONE, HELPS, result("clip", 1.0, 0.4, 3.5)], N)
    (loss,) = [sentence for sentence in sentences if sentence.startswith("Loss also")]
    assert [loss.count(each) for each in ("lower with", "residual connections", "higher with", "clipping")] == [1] * 4


@pytest.mark.parametrize(("word", "shares"), [("more", (0.6, 0.7, 0.9)), ("less", (0.3, 0.2, 0.1))])
def test_order_follows_the_numbers(word: str, shares: tuple[float, ...]) -> None:
    """The largest change comes first."""
    others = [result(name, 1, share, 3.0) for name, share in zip(("clip", "distill", "patience"), shares, strict=True)]
    (sentence,) = [s for s in summarise_ablation([NONE, *others], N) if s.startswith(f"In use, {word}")]
    places = [sentence.index(title) for title in ("early stopping", "knowledge distillation", "gradient clipping")]
    assert places == sorted(places)


AWAY: dict[str, Any] = {"steps": 12, "kept": 0, "outcome": "diverged"}


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (result("layer_norm", 1, 0.4, 5.5), ["higher **without layer normalisation** (5.50)."]),
        (result("mask_padding", 1, 0.99, 0.02, unbatched=Measure(1, 0.7)), ["99.0% is right", "less, 70.0%, when"]),
        (result("mask_padding", 1, 0.99, 0.02, unbatched=Measure(1, 0.99)), ["about as much, 99.0%, when"]),
        (result("mask_padding", 1, 0.8, 0.02, unbatched=Measure(1, 1)), ["80.0% is right", "more, 100.0%, when"]),
        (
            result("causal", 1, 0.9, 0.3, unbatched=Measure(6, 0.12)),
            ["is right **without causal mask** (-28.0 points).", "**Without the causal mask** 90.0%", "yet, 12.0% is."],
        ),
        (result("clip", 0.1, 0.1, 2, **AWAY), ["with **gradient clipping** diverged at step 12", "weights of step 0"]),
    ],
)
def test_what_is_special_about_a_run_is_said_and_only_then(run: AblationResult, said: list[str]) -> None:
    sentences = "\n".join(summarise_ablation([NONE, run], N))
    usual = "\n".join(summarise_ablation([NONE, HELPS, HARMS, NOTHING, SURE, STOPPED], N))
    assert all(words in sentences and words not in usual for words in said)


def test_a_baseline_without_a_gap_or_one_that_ran_away_is_named() -> None:
    assert "nothing is learnt by heart" in summarise_ablation([result(None, 0.999, 0.998, 0.01)], N)[0]
    away = summarise_ablation([result(None, 0.1, 0.1, 2, **AWAY)], N)[0]
    assert away.startswith("The **plain run** diverged at step 12: its loss rose to 1 nats")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([NONE], ["The **plain run** gives 40.0%"]),
        (
            [NONE, HELPS],
            ["connections**, **50.0%**", "right; without it, **40.0%**. One run each may be luck", "from chance"],
        ),
        ([NONE, HARMS], ["clipping**, **30.0%**", "from chance"]),
        ([NONE, NOTHING], ["**41.0%**", "no more than chance may do."]),
        ([NONE, SURE], ["no more than chance may do.", "is 1.50 instead of 3.00."]),
        (
            [NONE, result("causal", 1, 0.9, 6, unbatched=Measure(6, 0.12))],
            ["with it, **40.0%**.", "from chance"],
        ),
        (
            [NONE, NOTHING, SURE, HELPS],
            ["Of 3 comparisons this changed most: with **dropout at residual", ONE_SEED],
        ),
        (
            [result(None, 0.1, 0.05, 2, **AWAY), HELPS],
            ["**50.0%**", "Without it the training diverged at step 12", ONE_SEED],
        ),
        (
            [NONE, result("clip", 0.1, 0.1, 2, **AWAY)],
            ["With **gradient clipping** the training diverged at", "from chance"],
        ),
    ],
)
def test_the_answer_compares_what_changed_most_with_nothing(runs: list[AblationResult], said: list[str]) -> None:
    answer = answer_ablation(runs, N)
    assert [words for words in said if words not in answer] == []
    told = ["far above that of guessing" in answer, "The loss" in answer, "chance" in answer]
    assert told == [" diverged" in "".join(said), "instead" in "".join(said), "chance" in "".join(said)]


def test_what_ended_a_training_is_said() -> None:
    away = result("clip", 0.1, 0.1, 2, **AWAY)
    for loss, norm, why in (
        ([2.0, 80.0, 70.0], 1.0, "rose to 80 nats"),
        ([2.0, math.nan], 1.0, "its loss was no finite"),
        ([2.0, 3.0], math.inf, "its gradient was no finite"),
    ):
        history = replace(away.history, loss=loss, grad_norm=[norm] * len(loss))
        assert why in answer_ablation([NONE, replace(away, history=history)], N)


def test_going_without_is_judged_once_there_are_several_seeds() -> None:
    without = result("causal", 1, 0.9, 6, unbatched=Measure(6, 0.12))
    runs = [
        replace(each, training=replace(each.training, recipe=Recipe(seed=seed)))
        for each in (NONE, without)
        for seed in range(3)
    ]
    assert "Going without it did harm." in answer_ablation(runs, N)


def test_the_answer_counts_seeds_and_asks_their_spread() -> None:
    more = [each for each in of_seeds() if each.training.name in ("none", "dropout_residual")]
    spread = [each for each in of_seeds() if each.training.name in ("none", "weight_decay")]
    assert "(means of 3 seeds). It helped." in answer_ablation(more, N)
    assert "no more than chance" in answer_ablation(spread, N)
    assert answer_ablation([], N) == ""


@pytest.mark.parametrize("n_kinds", [1, 17])
def test_of_ablations_without_any_effect_few_have_a_verdict(n_kinds: int) -> None:
    """By the rule before, the largest of 17 had one in 28 %. Three standard errors are allowed."""
    draw, told, switches = np.random.Generator(np.random.PCG64(0)), 0, list(REGULARISERS)[:n_kinds]
    for _ in range(200):
        shares = 0.5 + 0.1 * draw.standard_normal((3, n_kinds + 1))
        runs = [
            result(switch, 1.0, float(share), 3.0, steps=1, seed=seed)
            for seed in range(3)
            for switch, share in zip((None, *switches), shares[seed], strict=True)
        ]
        told += "no more than chance" not in answer_ablation(runs, N)
    assert told / 200 <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / 200) ** 0.5


def find_critical_t(n_compared: int) -> float:
    """The least |t| of three seeds, to 1e-6, that is told apart as one of so many comparisons."""
    low, high = 0.0, 1e4
    while high - low > 1e-6:
        t = (low + high) / 2
        changes = [t / math.sqrt(3) + each for each in (-1.0, 0.0, 1.0)]  # their standard deviation is 1
        low, high = (low, t) if is_told_apart(paired_p(changes), n_compared) else (t, high)
    return high


@pytest.mark.parametrize("n_compared", [1, 2, 10, 17])
def test_the_stated_rate_is_that_of_all_comparisons_together(n_compared: int) -> None:
    """Of 200,000 ablations without any effect, whose kinds share the baseline."""
    losses = np.random.Generator(np.random.PCG64(0)).standard_normal((200_000, n_compared + 1, 3))
    changes = losses[:, 1:] - losses[:, :1]
    t = changes.mean(-1) / changes.std(-1, ddof=1) * math.sqrt(3)
    rate = (np.abs(t) >= find_critical_t(n_compared)).any(1).mean()
    exact_if_alone = n_compared == 1  # then the rate is LEVEL itself: three standard errors about it
    assert 0.02 < rate <= LEVEL + exact_if_alone * 3 * math.sqrt(LEVEL * (1 - LEVEL) / 200_000)


def test_two_seeds_of_three_have_no_verdict() -> None:
    said = answer_ablation([each for each in of_seeds(2) if each.training.name in ("none", "clip")], N)
    assert [words for words in ("helped", "did harm", "chance") if words in said] == []


@pytest.mark.parametrize(
    ("df", "critical"), [(2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (9, 2.2622), (10, 2.2281)]
)
def test_p_values_are_those_of_tables_of_students_t(df: int, critical: float) -> None:
    """At p = 0.05, two-sided: Abramowitz & Stegun 1964, table 26.10."""
    noise = np.random.Generator(np.random.PCG64(df)).standard_normal(df + 1)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    assert paired_p([*noise + critical / math.sqrt(df + 1)]) == pytest.approx(0.05, abs=1e-5)
    assert paired_p([*noise - critical / math.sqrt(df + 1)]) == pytest.approx(0.05, abs=1e-5)


def test_p_of_changes_that_are_all_alike_or_too_few() -> None:
    assert paired_p([0.5, 0.5, 0.5]) == pytest.approx(0)
    assert paired_p([0.0, 0.0, 0.0]) == paired_p([1.0, 1.0]) == paired_p([1.0]) == 1


@pytest.mark.parametrize("used", [0.9, 0.41, 0.4])
def test_a_missing_causal_mask_is_no_cause_where_nothing_is_lost_in_use(used: float) -> None:
    without = result("causal", 1.0, 0.4, 0.3, unbatched=Measure(0.3, used))
    assert "Without the causal mask" not in "\n".join(summarise_ablation([NONE, without], N))


def test_only_what_has_ended_is_read() -> None:
    going_on = result("clip", 1.0, 0.9, 0.1, unbatched=None)
    assert summarise_ablation([], N) == summarise_ablation([result(None, 0.5, 0.5, 1.0, unbatched=None)], N) == []
    alone = summarise_ablation([NONE], N)
    assert len(alone) == 1
    assert summarise_ablation([NONE, going_on], N) == alone


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 0.99, 1.0])
def test_the_doubt_covers_two_draws_of_as_many_answers(share: float) -> None:
    """Two runs that are equally good differ by more than that in about one of twenty cases, by chance alone."""
    generator = torch.Generator().manual_seed(0)
    draws = torch.binomial(torch.full((2, 4_000), float(N)), torch.tensor(share), generator=generator)
    apart = (draws[0] - draws[1]).abs() / N
    assert (apart > difference_noise(share, N)).float().mean() < 0.06
    assert 0 < difference_noise(share, N) < 0.03


# --- several seeds

CHANGES = {"dropout_residual": (0.10, 0.12, 0.08), "clip": (-0.14, -0.16, -0.15), "weight_decay": (0.01, 0.15, 0.05)}
BASELINES = (0.40, 0.50, 0.45)


def of_seeds(n: int = 3) -> list[AblationResult]:
    """Every kind of run with each seed, seed after seed; changes are those of `CHANGES`, in accuracy and in loss."""
    results = []
    for seed, usual in list(enumerate(BASELINES))[:n]:
        results.append(result(None, 1.0, usual, 3.0 + seed, seed=seed))
        for name, changes in CHANGES.items():
            results.append(result(name, 0.9, usual + changes[seed], 3.0 + seed - 10 * changes[seed], seed=seed))
    return results


def test_an_effect_over_seeds_is_the_mean_of_the_paired_changes_and_their_range() -> None:
    effects = measure_effects(of_seeds())
    assert list(effects) == ["none", *CHANGES]
    for name, changes in CHANGES.items():
        effect = effects[name]
        assert effect.n_seeds == 3
        assert effect.accuracy_change == pytest.approx(sum(changes) / 3)
        assert effect.accuracy_spread == pytest.approx(max(changes) - min(changes))
        assert effect.loss_change == pytest.approx(-10 * sum(changes) / 3)
        assert effect.loss_spread == pytest.approx(10 * (max(changes) - min(changes)))
        assert effect.unbatched.accuracy == pytest.approx(0.45 + sum(changes) / 3)
        assert effect.gap == pytest.approx(0.9 - 0.45 - sum(changes) / 3)
        assert effect.gap_change == pytest.approx(effect.gap - (1.0 - 0.45))
    assert (effects["none"].accuracy_change, effects["none"].accuracy_spread) == (0, 0)


@pytest.mark.parametrize(("n_results", "n_seeds"), [(3, 1), (4, 1), (6, 1), (8, 2), (11, 2), (12, 3)])
def test_kinds_are_compared_over_the_seeds_that_all_of_them_have(n_results: int, n_seeds: int) -> None:
    effects = measure_effects(of_seeds()[:n_results])
    assert len(effects) == min(n_results, 4)
    assert {effect.n_seeds for effect in effects.values()} == {n_seeds}


def test_a_seed_that_is_under_way_counts_once_it_has_ended() -> None:
    results = of_seeds(2)
    under_way = [*results[:-1], replace(results[-1], unbatched=None, outcome="")]
    assert {effect.n_seeds for effect in measure_effects(under_way).values()} == {1}
    runs = [each.training for each in of_seeds()]
    found = ablation_table(under_way, runs)
    assert list(found[COLUMNS["ending"]])[:2] == ["2 of 3 seeds, after 500 steps"] * 2
    assert list(found[COLUMNS["ending"]])[-1] == "1 of 3 seeds, at step 500"
    assert found.loc["Weight decay", COLUMNS["accuracy_change"]] == pytest.approx(1.0)


def test_two_seeds_that_ended_otherwise_are_both_told() -> None:
    results = of_seeds(2)
    results[-1] = replace(STOPPED, training=results[-1].training)
    found = ablation_table(results, [each.training for each in results])
    assert found.loc["Weight decay", COLUMNS["ending"]] == "after 500 steps; stopped at 200, kept 75"


def test_the_table_shows_means_and_spreads() -> None:
    results = of_seeds()
    found = ablation_table(results, [each.training for each in results])
    assert list(found.columns) == [
        *[title for short, title in COLUMNS.items() if short != "ending"], *SPREAD_COLUMNS.values(), COLUMNS["ending"]
    ]  # fmt: skip
    row = found.loc["Weight decay"]
    expected = {"validation": 52.0, "training": 90.0, "gap": 38.0, "accuracy": 52.0, "accuracy_change": 7.0}
    for short, value in (expected | {"loss": 3.3, "loss_change": -0.7}).items():
        assert row[COLUMNS[short]] == pytest.approx(value)
    assert row[SPREAD_COLUMNS["accuracy_spread"]] == pytest.approx(14.0)
    assert row[SPREAD_COLUMNS["loss_spread"]] == pytest.approx(1.4)
    assert row[COLUMNS["ending"]] == "after 500 steps"


def test_a_change_that_its_seeds_disagree_about_is_not_told_apart_from_chance() -> None:
    more, less, same = (
        [sentence for sentence in summarise_ablation(of_seeds(), N) if sentence.startswith(start)]
        for start in ("In use, more", "In use, less", "Not told apart from chance")
    )
    assert "dropout at residual connections** (+10.0 points)" in more[0]
    assert "gradient clipping** (-15.0 points)" in less[0]
    assert "by these 3 seeds: with **weight decay** (+7.0 points)" in same[0]
    loss = next(sentence for sentence in summarise_ablation(of_seeds(), N) if sentence.startswith("Loss also"))
    assert "weight decay" not in loss
    assert "residual connections** (3.00)" in loss
    assert "seeds 0, 1 and 2" in summarise_ablation(of_seeds(), N)[-1]
    alone = "\n".join(summarise_ablation(of_seeds(1), N))
    assert "Not told apart" not in alone
    assert alone.endswith(ONE_SEED)


def test_seeds_whose_run_ran_away_are_counted() -> None:
    results = [*of_seeds(2), *(replace(each, outcome="diverged") for each in of_seeds()[8:])]
    assert any("diverged with 1 of 3 seeds, at step 500" in sentence for sentence in summarise_ablation(results, N)[1:])
    assert "diverged with 1 of 3 seeds, at step 500" in summarise_ablation(results, N)[0]
