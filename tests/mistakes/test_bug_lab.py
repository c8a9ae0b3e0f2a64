"""Cases of the bug lab can be solved, and what they compute is what plain torch makes of their mistakes."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from playground.mistakes import bug_lab
from playground.mistakes.bug_lab import DECOYS, EFFORTS, LEVELS, MAX_SEED, SUSPECTS, TESTS, Case, open_case
from playground.mistakes.registry import MISTAKES
from tests.mistakes.plain_pass import plain_pass

CASES = [open_case(seed, level) for seed in (0, 2, MAX_SEED) for level in LEVELS]


def tells(test: bug_lab.LabTest, case: Case) -> bool:
    return bug_lab.count_others(test.measure(case), test.measure(case.right)) > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.seed}-{case.level}")
def test_a_case_can_be_solved_and_computes_what_plain_torch_makes_of_its_mistakes(case: Case) -> None:
    assert len({MISTAKES[key].part for key in case.mistakes}) == len(case.mistakes) == 1 + (case.level == "two")
    assert set(case.mistakes) < set(case.suspects) <= set(SUSPECTS)
    assert len(set(case.suspects)) == 6
    (decoy,) = (key for key in case.suspects if key in DECOYS)
    assert DECOYS[decoy]["part"] not in {MISTAKES[key].part for key in case.mistakes}
    for key in case.mistakes:
        alone = case.with_mistakes(key)
        assert any(tells(test, alone) for test in TESTS.values()), key
    for key in case.suspects:
        if key in MISTAKES:
            assert bool(case.find_alibi(key)) != (key in case.mistakes), key
    weights = case.encoder.state_dict()
    for each in (case, case.right):
        plain = plain_pass(weights, case.config, case.given.ids, case.given.mask, each.mistakes)["final"]
        torch.testing.assert_close(each.read("final"), plain[0, : case.n_real], rtol=2e-4, atol=2e-4)


def test_a_case_follows_from_its_seed_and_level_alone() -> None:
    first = open_case(5, "any")
    open_case.cache_clear()
    torch.manual_seed(7)
    second = open_case(5, "any")
    assert first == second
    assert torch.equal(first.read("final"), second.read("final"))
    mistakes = [open_case(*case).mistakes for case in ((0, "easy"), (2, "easy"), (2, "two"))]
    assert mistakes == [("mask-forgotten",), ("no-score-scale",), ("integer-positions", "residual-from-normed")], (
        "links hold these cases"
    )


def test_decoys_change_nothing() -> None:
    case = open_case(0, "easy")
    z = case.right.tensors["layers.0.attn.z"]
    assert torch.equal(z.transpose(1, 2).contiguous().view(1, 8, 16), torch.cat([*z.unbind(1)], dim=-1))
    weights = case.encoder.state_dict()
    assert torch.equal(weights["embed.tokens.weight"].mul(4)[case.given.ids], case.right.tensors["embed.tokens"])
    for part, changes in (("k", False), ("q", True)):
        without = {name: each * (not name.endswith(f"attn.{part}.bias")) for name, each in weights.items()}
        name = "layers.0.attn.pattern"
        plain = plain_pass(without, case.config, case.given.ids, case.given.mask)[name].numpy()
        assert bool(bug_lab.count_others(plain, case.right.tensors[name].numpy())) == changes


def test_each_test_says_what_it_finds() -> None:
    for case in CASES:
        for test in TESTS.values():
            assert test.write_finding(case)
            assert test.measure(case).ndim == (2 if test.draws else 1)
    assert {test.effort for test in TESTS.values()} == set(EFFORTS)
    assert all(one.effort <= other.effort for one, other in pairwise(TESTS.values()))


def test_a_mistake_is_seen_and_measured_by_its_test() -> None:
    case = next(case for case in (open_case(seed, "easy") for seed in range(9)) if case.mask == "none")
    seen = {
        "residual-forgotten": "sum", "shared-layers": "layers", "no-embedding-scale": "lengths",
        "activation-forgotten": "hidden", "norm-order-swapped": "norm-place", "softmax-over-queries": "row-sums",
    }  # fmt: skip
    assert all(tells(TESTS[test], case.with_mistakes(key)) for key, test in seen.items())
    for key, test, theirs in (
        ("no-score-scale", "score", [1, 0]),
        ("scale-by-d-model", "score", [0.25, 0]),
        ("unbiased-variance", "norm", [0, 15 / 16, 1]),
    ):
        np.testing.assert_allclose(TESTS[test].measure(case.with_mistakes(key)), theirs, atol=1e-3)
