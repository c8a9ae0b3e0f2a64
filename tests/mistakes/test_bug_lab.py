"""Cases can be solved, are the same at any time, and what looks wrong and is right is right."""

import os
from itertools import pairwise

import numpy as np
import pytest
import torch

from playground.mistakes.bug_lab import (
    DECOYS,
    EFFORTS,
    LEVELS,
    MAX_SEED,
    SUSPECTS,
    TESTS,
    Attempt,
    explain_innocence,
    is_other,
    offered_tests,
    open_lab,
    simplest_tests,
)
from playground.mistakes.registry import MISTAKES
from tests.mistakes.plain_pass import plain_pass

SEEDS = (0, 1, 2, MAX_SEED)
MANY = range(20, 220 if "SOAK_MISTAKES" in os.environ else 70)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_case_can_be_solved_by_tests_other_than_training(seed: int, level: str) -> None:
    lab = open_lab(seed, level)
    case = lab.case
    assert len(case.mistakes) == (2 if level == "two" else 1)
    assert len({MISTAKES[key].part for key in case.mistakes}) == len(case.mistakes)
    assert set(case.mistakes) < set(case.suspects) <= set(SUSPECTS)
    assert len(set(case.suspects)) == len(case.suspects)
    assert any(key in DECOYS for key in case.suspects)
    assert [test.key for test in simplest_tests(lab)].count("train") == 0
    assert {DECOYS[key].part for key in case.suspects if key in DECOYS}.isdisjoint(
        MISTAKES[key].part for key in case.mistakes
    )
    assert is_other(lab.theirs["final"][:, : lab.n_real].numpy(), lab.ours["final"][:, : lab.n_real].numpy())


@pytest.mark.sweep
@pytest.mark.parametrize("level", LEVELS)
def test_many_cases_more_can_be_solved(level: str) -> None:
    for seed in MANY:
        lab = open_lab(seed, level)
        assert any(test.run(lab).tells for test in offered_tests(lab.case) if test.key != "train"), seed


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_case_computes_is_what_plain_torch_makes_of_its_mistakes(seed: int, level: str) -> None:
    lab = open_lab(seed, level)
    weights = lab.encoder.state_dict()
    for made, ours in ((lab.case.mistakes, lab.theirs), ((), lab.ours)):
        plain = plain_pass(weights, lab.config, lab.given.ids, lab.given.mask, made, torch.float32)
        torch.testing.assert_close(
            ours["final"][:, : lab.n_real], plain["final"][:, : lab.n_real], rtol=2e-4, atol=2e-4
        )


def test_a_case_follows_from_its_seed_and_level_alone() -> None:
    first = open_lab(5, "any")
    open_lab.cache_clear()
    torch.manual_seed(7)
    second = open_lab(5, "any")
    assert first is not second
    assert first.case == second.case
    assert torch.equal(first.theirs["final"], second.theirs["final"])
    assert len({open_lab(seed, "any").case.mistakes for seed in range(12)}) > 5


@pytest.mark.parametrize("key", DECOYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_decoy_changes_nothing(key: str, seed: int) -> None:
    assert DECOYS[key].change(open_lab(seed, "easy")) < 1e-5


def test_a_bias_of_the_keys_shifts_scores_and_a_bias_of_the_queries_is_no_decoy() -> None:
    lab = open_lab(0, "easy")
    weights = {name: each.clone() for name, each in lab.encoder.state_dict().items()}
    assert float(weights["layers.0.attn.k.bias"].abs().min()) > 0
    for name in [name for name in weights if name.endswith("attn.q.bias")]:
        weights[name].zero_()
    plain = plain_pass(weights, lab.config, lab.given.ids, lab.given.mask, (), torch.float32)
    assert is_other(plain["layers.0.attn.pattern"].numpy(), lab.ours["layers.0.attn.pattern"].numpy())


@pytest.mark.parametrize("level", LEVELS)
def test_every_test_says_something_and_only_a_telling_one_parts_from_a_right_encoder(level: str) -> None:
    seen = set()
    for seed in SEEDS:
        lab = open_lab(seed, level)
        for test in offered_tests(lab.case):
            if test.key == "train":
                continue
            found = test.run(lab)
            assert found.sentence
            assert all(values.ndim == 2 for values in found.maps.values())
            if test.key.startswith("beside"):
                theirs, right = found.maps.values()
                assert found.tells == is_other(theirs, right)
            seen.add(test.key)
    assert {"score", "lengths", "pattern", "beside-final"} <= seen
    assert {test.effort for test in TESTS.values()} == set(EFFORTS)
    assert all(one.effort <= other.effort for one, other in pairwise(TESTS.values()))


@pytest.mark.long
def test_one_score_by_hand_finds_the_scale() -> None:
    found = {}
    for seed in MANY:
        lab = open_lab(seed, "any")
        if lab.case.mistakes[0] in ("no-score-scale", "scale-by-d-model"):
            found[lab.case.mistakes[0]] = TESTS["score"].run(lab).sentence
    assert "**1.000** times q · k" in found["no-score-scale"]
    assert "**0.250** times q · k" in found["scale-by-d-model"]


def test_training_shows_both_losses_and_leaves_the_case_as_it_is() -> None:
    lab = open_lab(0, "easy")
    before = {name: each.clone() for name, each in lab.encoder.state_dict().items()}
    assert len(lab.right_losses) == 80
    assert np.mean(lab.right_losses[-5:]) < lab.right_losses[0]
    assert lab.right_losses != lab.losses
    assert all(torch.equal(each, lab.encoder.state_dict()[name]) for name, each in before.items())


def test_an_attempt_knows_what_is_found_and_who_is_accused_wrongly() -> None:
    lab = open_lab(1, "two")
    wrong = next(key for key in lab.case.suspects if key not in lab.case.mistakes)
    attempt = Attempt(lab.case, ("row-sums", "score", "nonsense"), (wrong, lab.case.mistakes[0], "nonsense"))
    assert [test.key for test in attempt.taken] == ["row-sums", "score"]
    assert (attempt.found, attempt.wrong, attempt.is_solved) == ([lab.case.mistakes[0]], [wrong], False)
    assert Attempt(lab.case, accused=lab.case.mistakes[::-1]).is_solved


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_number_of_the_case_speaks_for_whoever_is_accused_wrongly_and_for_nobody_else(seed: int, level: str) -> None:
    lab = open_lab(seed, level)
    for key in lab.case.suspects:
        if key in DECOYS:
            assert "Here it makes" in explain_innocence(lab, key)
        elif key in lab.case.mistakes:
            assert not lab.find_alibi(key), key
        else:
            assert explain_innocence(lab, key).startswith("If it were, " if level != "two" else "Beside either")
