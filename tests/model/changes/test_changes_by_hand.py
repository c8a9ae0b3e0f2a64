"""A changed pass is a plain pass with the same change made by hand, and goes on from each."""

import math

import pytest
import torch
from torch import Tensor

from playground import Trace
from playground.model.changes import PATCH_POINTS, Change
from playground.model.edits import shuffled
from tests.changes import made
from tests.model.changes.by_hand import (
    EVERY,
    OTHER_IDS,
    PATTERN,
    REAL,
    VARIANTS,
    build,
    changed_trace,
    plain_forward,
    set_to,
)
from tests.model.plain_encoder import ByHand


def test_shuffled_positions_are_other_rows_of_the_table() -> None:
    model, table = build("post"), build("post").embed.position_vectors(6)
    order = shuffled(4, seed=5)

    def change(total: Tensor) -> Tensor:
        return torch.cat([total[:4] - table[:4] + table[order], total[4:]])

    trace = changed_trace(model, [[made("positions:shuffle_5")]])
    expected = plain_forward(model, {"embed.sum": change})
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_a_shuffle_is_a_permutation_moves_something_and_follows_from_its_seed(n: int) -> None:
    orders = [shuffled(n, seed) for seed in range(20)]
    for seed, order in enumerate(orders):
        assert sorted(order.tolist()) == list(range(n))
        assert order.tolist() != list(range(n))
        assert torch.equal(order, shuffled(n, seed))
    assert n == 2 or len({tuple(order.tolist()) for order in orders}) > 1
    assert shuffled(1, 0).tolist() == [0]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("point", PATCH_POINTS)
def test_a_patched_vector_is_the_other_runs_and_the_rest_follows(variant: str, point: str) -> None:
    model, other = build(variant), Trace()
    model(OTHER_IDS, REAL, other)
    patch = Change("patch", None if point == "embed" else 1, None, (point, 2, 1))
    name, where = patch.point, (EVERY, 2) if point in "qkvz" else (2,)
    expected = plain_forward(model, {name: set_to(where, other[name][0][where])})
    trace = changed_trace(model, [[patch]])
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)
    assert torch.equal(trace[name][0][where], other[name][0][where])


def test_several_at_one_point_apply_in_their_documented_order() -> None:
    model, other = build("post"), Trace()
    model(OTHER_IDS, REAL, other)
    patch, halved = made("0.z:patch_*_2"), made("0.1:zero~0.5")
    orders: list[list[Change]] = [[patch, halved], [halved, patch]]
    for order in orders:
        trace = changed_trace(model, [order])
        assert torch.equal(trace["layers.0.attn.z"][0, 1], 0.5 * other["layers.0.attn.z"][0, 1])
    row, weight = made("1.0:uniform_2"), made("1.0:cut_2_3_after")
    pairs: list[list[Change]] = [[row, weight], [weight, row]]
    for pair in pairs:
        pattern = changed_trace(model, [pair])["layers.1.attn.pattern"][0, 0, 2]
        assert pattern.tolist() == [0.25, 0.25, 0.25, 0, 0, 0]


def row_weight(head: int, query: int, key: int, weight: float) -> ByHand:
    """One weight of a pattern, the rest of the row scaled to what is left of 1."""

    def change(pattern: Tensor) -> Tensor:
        changed, row = pattern.clone(), pattern[head, query]
        changed[head, query] = row * (1 - weight) / (1 - row[key])
        changed[head, query, key] = weight
        return changed

    return change


def mean_of_head(z: Tensor) -> Tensor:
    changed = z.clone()
    changed[2] = z[2, :4].sum(0) / 4
    return changed


def halve_column(pattern: Tensor) -> Tensor:
    """Every other token, padding left out, gives key 1 of head 2 half of its weight."""
    for query in (0, 2, 3):
        pattern = row_weight(2, query, 1, pattern[2, query, 1].item() / 2)(pattern)
    return pattern


SCORES = "layers.1.attn.scores"
ONE_OF_FOUR = torch.tensor([0.25] * 4 + [0.0] * 2).double()
BY_HAND: dict[str, tuple[Change, str, ByHand]] = {
    "zero": (made("0.1:zero"), "layers.0.attn.z", set_to((1,), 0)),
    "half a head": (made("0.1:zero~0.5"), "layers.0.attn.z", set_to((1,), 0, 0.5)),
    "zero every head": (made("1.*:zero"), "layers.1.attn.z", torch.zeros_like),
    "mean": (made("0.2:mean"), "layers.0.attn.z", mean_of_head),
    "attention off": (made("0.attn:off"), "layers.0.attn.out", torch.zeros_like),
    "most of the feed-forward off": (made("1.ffn:off~0.75"), "layers.1.ffn.out", lambda out: out / 4),
    "cut": (made("1.2:cut_3_0"), SCORES, set_to((2, 3, 0), -math.inf)),
    "hide": (made("1.2:hide_1"), SCORES, set_to((2, [0, 2, 3], 1), -math.inf)),
    "hide from every head": (made("1.*:hide_1"), SCORES, set_to((EVERY, [0, 2, 3], 1), -math.inf)),
    "half hidden": (made("1.2:hide_1~0.5"), PATTERN, halve_column),
    "half forced": (made("1.2:force_3_0~0.5"), PATTERN, lambda p: row_weight(2, 3, 0, (p[2, 3, 0].item() + 1) / 2)(p)),
    "cut, the rest rescaled": (made("1.2:cut_3_0"), PATTERN, row_weight(2, 3, 0, 0.0)),
    "weigh": (made("1.2:weight_3_0_0.6"), PATTERN, row_weight(2, 3, 0, 0.6)),
    "force": (made("1.2:force_3_0"), PATTERN, row_weight(2, 3, 0, 1.0)),
    "cut after": (made("1.2:cut_3_0_after"), PATTERN, set_to((2, 3, 0), 0)),
    "force after": (made("1.0:force_3_1_after~0.5"), PATTERN, set_to((0, 3, 1), 1, 0.5)),
    "uniform": (made("1.0:uniform_2"), PATTERN, set_to((0, 2), ONE_OF_FOUR)),
    "uniform map": (made("1.*:uniform_*~0.5"), PATTERN, set_to((EVERY,), ONE_OF_FOUR, 0.5)),
    "diagonal": (made("1.1:diagonal_*"), PATTERN, set_to((1,), torch.eye(6).double())),
    "copy": (made("1.1:copy_3_2"), PATTERN, lambda p: set_to((1, 3), p[2, 3])(p)),
}


@pytest.mark.sampled(24)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", BY_HAND)
def test_an_intervention_is_the_same_change_made_by_hand(variant: str, name: str) -> None:
    model = build(variant)
    intervention, point, change = BY_HAND[name]
    trace = changed_trace(model, [[intervention]])
    expected = plain_forward(model, {point: change})
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)
    untouched = plain_forward(model, {})
    assert not torch.allclose(trace["final"][0], untouched, atol=1e-5)
