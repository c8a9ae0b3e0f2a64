"""Every intervention is what a plain forward pass with the same change made by hand gives."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig, Trace
from playground.model import causal_and_padding
from playground.model.interventions import (
    AverageHead,
    Intervention,
    InterventionTrace,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)
from playground.model.interventions.intervention_edits import shuffled
from playground.model.interventions.intervention_kinds import PATCH_POINTS
from tests.model.interventions.plain_forward import Change, plain_forward
from tests.model.reference import scramble, small_config

IDS = torch.tensor([[1, 5, 2, 7, 0, 0]])
OTHER_IDS = torch.tensor([[3, 5, 8, 7, 0, 0]])
REAL = torch.tensor([[True] * 4 + [False] * 2])
VARIANTS: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm_placement": "pre"},
    "fused": {"fused_qkv": True},
    "reshape": {"head_merge": "reshape", "norm_placement": "pre"},
}


def build(variant: str) -> Encoder:
    return scramble(Encoder(small_config(**VARIANTS[variant]), seed=3)).double()


def changed_trace(
    model: Encoder, rows: Sequence[Sequence[Intervention]], ids: Tensor = IDS, mask: Tensor = REAL
) -> InterventionTrace:
    """The trace of a batch whose rows are one sentence each with its own interventions; patches are from OTHER_IDS."""
    source = Trace()
    model(OTHER_IDS, mask, source)
    trace = InterventionTrace(
        rows,
        REAL.expand(len(rows), -1),
        positions=model.embed.position_vectors(ids.shape[1]),
        sources={1: {name: tensor[0] for name, tensor in source.items()}},
    )
    model(ids.expand(len(rows), -1), mask.expand(len(rows), *mask.shape[1:]), trace)
    return trace


def set_to(where: tuple[object, ...], new: Tensor | float, strength: float = 1.0) -> Change:
    """A change by hand of a part of a tensor."""

    def change(tensor: Tensor) -> Tensor:
        mixed = tensor.clone()
        mixed[where] = (1 - strength) * tensor[where] + strength * new  # type: ignore[index]
        return mixed

    return change


def row_weight(head: int, query: int, key: int, weight: float) -> Change:
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


EVERY = slice(None)
PATTERN = "layers.1.attn.pattern"
ONE_OF_FOUR = torch.tensor([0.25] * 4 + [0.0] * 2).double()
BY_HAND: dict[str, tuple[Intervention, str, Change]] = {
    "zero": (ZeroHead(0, 1), "layers.0.attn.z", set_to((1,), 0)),
    "half a head": (ZeroHead(0, 1, 0.5), "layers.0.attn.z", set_to((1,), 0, 0.5)),
    "zero every head": (ZeroHead(1, None), "layers.1.attn.z", torch.zeros_like),
    "mean": (AverageHead(0, 2), "layers.0.attn.z", mean_of_head),
    "attention off": (SkipSublayer(0, "attn"), "layers.0.attn.out", torch.zeros_like),
    "most of the feed-forward off": (SkipSublayer(1, "ffn", 0.75), "layers.1.ffn.out", lambda out: out / 4),
    "cut": (SetWeight(1, 2, 3, 0, 0.0), "layers.1.attn.scores", set_to((2, 3, 0), -math.inf)),
    "cut, the rest rescaled": (SetWeight(1, 2, 3, 0, 0.0), PATTERN, row_weight(2, 3, 0, 0.0)),
    "weigh": (SetWeight(1, 2, 3, 0, 0.6), PATTERN, row_weight(2, 3, 0, 0.6)),
    "force": (SetWeight(1, 2, 3, 0, 1.0), PATTERN, row_weight(2, 3, 0, 1.0)),
    "cut after": (SetWeight(1, 2, 3, 0, 0.0, renormalise=False), PATTERN, set_to((2, 3, 0), 0)),
    "force after": (SetWeight(1, 0, 3, 1, 1.0, renormalise=False, strength=0.5), PATTERN, set_to((0, 3, 1), 1, 0.5)),
    "uniform": (SetRow(1, 0, 2, "uniform"), PATTERN, set_to((0, 2), ONE_OF_FOUR)),
    "uniform map": (SetRow(1, None, None, "uniform", strength=0.5), PATTERN, set_to((EVERY,), ONE_OF_FOUR, 0.5)),
    "diagonal": (SetRow(1, 1, None, "diagonal"), PATTERN, set_to((1,), torch.eye(6).double())),
    "copy": (SetRow(1, 1, 3, "copy", 2), PATTERN, lambda p: set_to((1, 3), p[2, 3])(p)),
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
        row = changed_trace(model, [[SetWeight(1, 2, 3, 0, weight, strength=strength)]])[PATTERN][0, 2, 3]
        assert row[0].item() == pytest.approx((1 - strength) * old[0].item() + strength * weight, abs=1e-9)
        assert row.sum().item() == pytest.approx(1, abs=1e-9)
        torch.testing.assert_close(row[1:4] / row[1], old[1:4] / old[1], atol=1e-9, rtol=0)


def test_shuffled_positions_are_other_rows_of_the_table() -> None:
    model, table = build("post"), build("post").embed.position_vectors(6)
    order = shuffled(4, seed=5)

    def change(total: Tensor) -> Tensor:
        return torch.cat([total[:4] - table[:4] + table[order], total[4:]])

    trace = changed_trace(model, [[ShufflePositions(5)]])
    expected = plain_forward(model, IDS[0], REAL[0].expand(6, 6), {"embed.sum": change})
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


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("point", PATCH_POINTS)
def test_a_patched_vector_is_the_other_runs_and_the_rest_follows(variant: str, point: str) -> None:
    model, other = build(variant), Trace()
    model(OTHER_IDS, REAL, other)
    patch = PatchVector(None if point == "embed" else 1, point, token=2, sentence=1)  # type: ignore[arg-type]
    name, where = patch.trace_name, (EVERY, 2) if point in "qkvz" else (2,)
    expected = plain_forward(model, IDS[0], REAL[0].expand(6, 6), {name: set_to(where, other[name][0][where])})
    trace = changed_trace(model, [[patch]])
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)
    assert torch.equal(trace[name][0][where], other[name][0][where])


@pytest.mark.parametrize("variant", VARIANTS)
def test_patching_every_point_is_the_other_run_bit_for_bit(variant: str) -> None:
    model, other = build(variant), Trace()
    model(OTHER_IDS, REAL, other)
    points = [(i, point) for i in range(2) for point in PATCH_POINTS if point != "embed"]
    patches = [PatchVector(layer, point, None, 1) for layer, point in [(None, "embed"), *points]]  # type: ignore[arg-type]
    trace = changed_trace(model, [patches])
    after = [name for name in other if name not in ("embed.tokens", "embed.sum")]
    assert all(torch.equal(trace[name], other[name]) for name in after)
    alone = changed_trace(model, [patches[:1]])
    assert torch.equal(alone["final"], other["final"])


def test_every_head_at_zero_leaves_the_bias_of_the_output_projection_and_no_attention_leaves_nothing() -> None:
    model = build("post")
    block = model.layers[0]
    zeroed = changed_trace(model, [[ZeroHead(0, None)]])
    skipped = changed_trace(model, [[SkipSublayer(0, "attn")]])
    bias = block.attn.o.bias  # type: ignore[union-attr]
    assert torch.equal(zeroed["layers.0.attn.out"], bias.expand(1, 6, -1))  # type: ignore[operator]
    assert not skipped["layers.0.attn.out"].any()
    with torch.no_grad():
        bias.zero_()  # type: ignore[operator]
    zeroed = changed_trace(model, [[ZeroHead(0, head) for head in range(3)]])
    assert torch.equal(zeroed["final"], changed_trace(model, [[SkipSublayer(0, "attn")]])["final"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_cutting_pairs_before_the_softmax_is_a_mask(variant: str) -> None:
    model = build(variant)
    pairs = [(0, 1), (0, 2), (3, 3), (2, 0)]
    mask = REAL[:, None, :].expand(1, 6, 6).clone()
    for query, key in pairs:
        mask[0, query, key] = False
    cuts = [SetWeight(layer, None, query, key, 0.0) for layer in range(2) for query, key in pairs]
    expected = Trace()
    model(IDS, mask, expected)
    trace = changed_trace(model, [cuts])
    assert torch.equal(trace["final"], expected["final"])
    assert all(torch.equal(trace[f"layers.{i}.attn.scores"], expected[f"layers.{i}.attn.scores"]) for i in range(2))


def test_what_a_mask_hides_stays_hidden() -> None:
    model, mask = build("post"), causal_and_padding(REAL)
    together: list[Intervention] = [
        SetWeight(0, None, 3, 1, 0.5),
        SetWeight(0, 1, 2, 0, 0.0),
        SetRow(1, None, None, "uniform"),
    ]
    trace = changed_trace(model, [together], mask=mask)
    for layer in range(2):
        assert not trace[f"layers.{layer}.attn.pattern"][:, :, ~mask[0]].any()
        assert torch.equal(trace[f"layers.{layer}.attn.scores"].isneginf()[0, 0], ~mask[0])
    uniform = trace["layers.1.attn.pattern"][0, 2]
    assert uniform[2].tolist() == pytest.approx([1 / 3] * 3 + [0] * 3)


def test_strength_0_and_no_intervention_leave_every_bit() -> None:
    model, plain = build("post"), Trace()
    model(IDS, REAL, plain)
    zeros: list[Intervention] = [
        ZeroHead(0, 1, 0.0),
        SetWeight(0, 1, 3, 0, 0.0, strength=0.0),
        ShufflePositions(1, 0.0),
        SkipSublayer(1, "ffn", 0.0),
        PatchVector(1, "out", 2, 1, strength=0.0),
    ]
    for interventions in ([], zeros):
        trace = changed_trace(model, [interventions])
        assert list(trace) == list(plain)
        assert all(torch.equal(trace[name], plain[name]) for name in plain)


def test_rows_of_a_batch_have_interventions_of_their_own() -> None:
    model = build("post")
    rows: list[list[Intervention]] = [[], [ZeroHead(0, 1)], [SkipSublayer(1, "ffn"), ZeroHead(0, 0)]]
    together = changed_trace(model, rows)["final"]
    for row, alone in zip(together, rows, strict=True):
        torch.testing.assert_close(row, changed_trace(model, [alone])["final"][0], atol=1e-12, rtol=0)


def test_several_at_one_point_apply_in_their_documented_order() -> None:
    model, other = build("post"), Trace()
    model(OTHER_IDS, REAL, other)
    patch, halved = PatchVector(0, "z", None, 1), ZeroHead(0, 1, 0.5)
    orders: list[list[Intervention]] = [[patch, halved], [halved, patch]]
    for order in orders:
        trace = changed_trace(model, [order])
        assert torch.equal(trace["layers.0.attn.z"][0, 1], 0.5 * other["layers.0.attn.z"][0, 1])
    row, weight = SetRow(1, 0, 2, "uniform"), SetWeight(1, 0, 2, 3, 0.0, renormalise=False)
    pairs: list[list[Intervention]] = [[row, weight], [weight, row]]
    for pair in pairs:
        pattern = changed_trace(model, [pair])["layers.1.attn.pattern"][0, 0, 2]
        assert pattern.tolist() == [0.25, 0.25, 0.25, 0, 0, 0]


def test_the_model_and_its_other_passes_stay_as_they_are() -> None:
    model = build("post")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    out = model(IDS, REAL)
    changed_trace(model, [[ZeroHead(0, None), ShufflePositions(3)]])
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert torch.equal(model(IDS, REAL), out)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_flow_through_a_changed_pass(dtype: torch.dtype) -> None:
    config = ModelConfig(vocab_size=9, d_model=24, n_heads=3, n_layers=2, d_ff=40, max_len=8)
    model = Encoder(config).to(dtype)
    together: list[Intervention] = [
        ZeroHead(0, 1),
        SetWeight(0, 0, 3, 1, 0.4),
        SetRow(1, 0, 2, "uniform"),
        AverageHead(1, 2),
    ]
    changed_trace(model, [together])["final"].sum().backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)
