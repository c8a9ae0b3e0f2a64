"""Cases of the bug lab can be solved, and what they compute is what plain torch makes of their mistakes."""

import os
from itertools import pairwise

import numpy as np
import pytest
import torch

from playground.mistakes.bug_lab import DECOYS, LEVELS, MAX_SEED, SUSPECTS, Lab, is_other, open_lab
from playground.mistakes.lab_tests import EFFORTS, TESTS, Attempt, offered_tests, simplest_tests
from playground.mistakes.registry import MISTAKES
from tests.mistakes.plain_pass import plain_pass

SEEDS = (0, 1, 2, MAX_SEED)
MANY = range(20, 220 if "SOAK_MISTAKES" in os.environ else 70)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_case_can_be_solved(seed: int, level: str) -> None:
    lab = open_lab(seed, level)
    case = lab.case
    assert len({MISTAKES[key].part for key in case.mistakes}) == len(case.mistakes) == (2 if level == "two" else 1)
    assert set(case.mistakes) < set(case.suspects) <= set(SUSPECTS)
    assert len(set(case.suspects)) == 6
    (decoy,) = (key for key in case.suspects if key in DECOYS)
    assert DECOYS[decoy].part not in {MISTAKES[key].part for key in case.mistakes}
    assert len(simplest_tests(lab)) == len(case.mistakes)
    for key in case.suspects:
        if key in MISTAKES:
            assert bool(lab.find_alibi(key)) != (key in case.mistakes), key


@pytest.mark.sweep
@pytest.mark.parametrize("level", LEVELS)
def test_many_more_cases_can_be_solved(level: str) -> None:
    for seed in MANY:
        lab = open_lab(seed, level)
        assert any(test.run(lab).tells for test in offered_tests(lab.case)), seed


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_case_computes_is_what_plain_torch_makes_of_its_mistakes(seed: int, level: str) -> None:
    lab = open_lab(seed, level)
    weights = lab.encoder.state_dict()
    for made, ours in ((lab.case.mistakes, lab.theirs), ((), lab.ours)):
        plain = plain_pass(weights, lab.case.config, lab.given.ids, lab.given.mask, made)["final"]
        torch.testing.assert_close(ours.read("final"), plain[0, : lab.n_real], rtol=2e-4, atol=2e-4)


def test_a_case_follows_from_its_seed_and_level_alone() -> None:
    first = open_lab(5, "any")
    open_lab.cache_clear()
    torch.manual_seed(7)
    second = open_lab(5, "any")
    assert first is not second
    assert first.case == second.case
    assert torch.equal(first.theirs["final"], second.theirs["final"])


def test_cases_that_links_hold_stay_the_same() -> None:
    assert open_lab(0, "easy").case.mistakes == ("mask-forgotten",)
    assert open_lab(2, "easy").case.mistakes == ("no-score-scale",)
    assert open_lab(2, "two").case.mistakes == ("integer-positions", "residual-from-normed")


def test_decoys_change_nothing() -> None:
    lab = open_lab(0, "easy")
    z = lab.ours["layers.0.attn.z"]
    assert torch.equal(z.transpose(1, 2).contiguous().view(1, 8, 16), torch.cat([*z.unbind(1)], dim=-1))
    weights = lab.encoder.state_dict()
    assert torch.equal(weights["embed.tokens.weight"].mul(4)[lab.given.ids], lab.ours["embed.tokens"])
    for part, changes in (("k", False), ("q", True)):
        without = {name: each * (not name.endswith(f"attn.{part}.bias")) for name, each in weights.items()}
        plain = plain_pass(without, lab.case.config, lab.given.ids, lab.given.mask)
        name = "layers.0.attn.pattern"
        assert is_other(plain[name].numpy(), lab.ours[name].numpy()) == changes


def test_each_test_tells_what_its_numbers_tell() -> None:
    for seed, level in ((seed, level) for seed in SEEDS for level in LEVELS):
        lab = open_lab(seed, level)
        for test in offered_tests(lab.case):
            found = test.run(lab)
            assert found.sentence
            assert found.tells <= is_other(found.theirs, found.right)
            assert found.theirs.ndim == (2 if test.draws else 1)
    assert {test.effort for test in TESTS.values()} == set(EFFORTS)
    assert all(one.effort <= other.effort for one, other in pairwise(TESTS.values()))


@pytest.mark.parametrize(
    ("key", "test", "theirs"),
    [
        ("no-score-scale", "score", [1, 0]),
        ("scale-by-d-model", "score", [0.25, 0]),
        ("residual-forgotten", "sum", None),
        ("shared-layers", "layers", None),
        ("positions-not-added", "permute", [0]),
        ("activation-forgotten", "hidden", None),
        ("norm-order-swapped", "norm-place", None),
        ("unbiased-variance", "norm", [0, 15 / 16, 1]),
        ("softmax-over-queries", "row-sums", None),
    ],
)
def test_a_mistake_is_seen_by_its_test(key: str, test: str, theirs: list[float] | None) -> None:
    case = next(case for case in (open_lab(seed, "easy").case for seed in range(9)) if case.mask == "none")
    found = TESTS[test].run(Lab(case.__class__(**{**vars(case), "mistakes": (key,)})))
    assert found.tells
    if theirs is not None:
        np.testing.assert_allclose(found.theirs, theirs, atol=1e-3)


def test_an_attempt_knows_what_is_found_and_what_is_accused_wrongly() -> None:
    lab = open_lab(1, "two")
    wrong = next(key for key in lab.case.suspects if key not in lab.case.mistakes)
    attempt = Attempt(lab, ("row-sums", "score", "nonsense"), (wrong, lab.case.mistakes[0], "nonsense"))
    assert [test.key for test in attempt.taken] == ["row-sums", "score"]
    assert (attempt.found, attempt.wrong, attempt.is_solved) == ([lab.case.mistakes[0]], [wrong], False)
    assert Attempt(lab, accused=lab.case.mistakes[::-1]).is_solved
