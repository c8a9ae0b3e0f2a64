"""Every intervention is what a plain forward pass with the same change made by hand gives."""

import math

import pytest
import torch
from torch import Tensor

from playground import Trace
from playground.model.changes import Change
from tests.changes import made
from tests.model.changes.changed_pass import (
    EVERY,
    IDS,
    PATTERN,
    REAL,
    VARIANTS,
    build,
    changed_trace,
    set_to,
)
from tests.model.changes.plain_forward import ByHand, plain_forward


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
    "most of the feed-forward off": (
        made("1.ffn:off~0.75"),
        "layers.1.ffn.out",
        lambda out: out / 4,
    ),
    "cut": (made("1.2:cut_3_0"), SCORES, set_to((2, 3, 0), -math.inf)),
    "hide": (made("1.2:hide_1"), SCORES, set_to((2, [0, 2, 3], 1), -math.inf)),
    "hide from every head": (made("1.*:hide_1"), SCORES, set_to((EVERY, [0, 2, 3], 1), -math.inf)),
    "half hidden": (made("1.2:hide_1~0.5"), PATTERN, halve_column),
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


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", BY_HAND)
def test_an_intervention_is_the_same_change_made_by_hand(variant: str, name: str) -> None:
    model = build(variant)
    intervention, point, change = BY_HAND[name]
    trace = changed_trace(model, [[intervention]])
    expected = plain_forward(model, IDS[0], REAL[0].expand(6, 6), {point: change})
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)
    untouched = plain_forward(model, IDS[0], REAL[0].expand(6, 6), {})
    assert not torch.allclose(trace["final"][0], untouched, atol=1e-5)


def test_a_weight_with_a_strength_is_a_blend_and_the_row_still_adds_up_to_1() -> None:
    model, before = build("post"), Trace()
    model(IDS, REAL, before)
    old = before[PATTERN][0, 2, 3]
    for weight, strength in ((0.0, 0.25), (1.0, 0.5), (0.6, 0.1)):
        row = changed_trace(model, [[Change("weight", 1, 2, (3, 0, weight), strength=strength)]])[PATTERN][0, 2, 3]
        assert row[0].item() == pytest.approx((1 - strength) * old[0].item() + strength * weight, abs=1e-9)
        assert row.sum().item() == pytest.approx(1, abs=1e-9)
        torch.testing.assert_close(row[1:4] / row[1], old[1:4] / old[1], atol=1e-9, rtol=0)
