"""A changed pass goes on from each change; positions, patches, masks, strengths, batches and the order of several."""

import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig, Trace
from playground.model import causal_and_padding
from playground.model.changes import PATCH_POINTS, Change, shuffled
from tests.changes import made
from tests.model.changes.changed_pass import EVERY, IDS, OTHER_IDS, REAL, VARIANTS, build, changed_trace, set_to
from tests.model.changes.plain_forward import plain_forward


def test_shuffled_positions_are_other_rows_of_the_table() -> None:
    model, table = build("post"), build("post").embed.position_vectors(6)
    order = shuffled(4, seed=5)

    def change(total: Tensor) -> Tensor:
        return torch.cat([total[:4] - table[:4] + table[order], total[4:]])

    trace = changed_trace(model, [[made("positions:shuffle_5")]])
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
    patch = Change("patch", None if point == "embed" else 1, None, (point, 2, 1))
    name, where = patch.point, (EVERY, 2) if point in "qkvz" else (2,)
    expected = plain_forward(model, IDS[0], REAL[0].expand(6, 6), {name: set_to(where, other[name][0][where])})
    trace = changed_trace(model, [[patch]])
    torch.testing.assert_close(trace["final"][0], expected, atol=1e-9, rtol=0)
    assert torch.equal(trace[name][0][where], other[name][0][where])


@pytest.mark.parametrize("variant", VARIANTS)
def test_patching_every_point_is_the_other_run_bit_for_bit(variant: str) -> None:
    model, other = build(variant), Trace()
    model(OTHER_IDS, REAL, other)
    points = [(i, point) for i in range(2) for point in PATCH_POINTS if point != "embed"]
    patches = [Change("patch", layer, None, (point, None, 1)) for layer, point in [(None, "embed"), *points]]
    trace = changed_trace(model, [patches])
    after = [name for name in other if name not in ("embed.tokens", "embed.sum")]
    assert all(torch.equal(trace[name], other[name]) for name in after)
    alone = changed_trace(model, [patches[:1]])
    assert torch.equal(alone["final"], other["final"])


def test_every_head_at_zero_leaves_the_bias_of_the_output_projection_and_no_attention_leaves_nothing() -> None:
    model = build("post")
    block = model.layers[0]
    zeroed = changed_trace(model, [[made("0.*:zero")]])
    skipped = changed_trace(model, [[made("0.attn:off")]])
    bias = block.attn.o.bias  # type: ignore[union-attr]
    assert torch.equal(zeroed["layers.0.attn.out"], bias.expand(1, 6, -1))  # type: ignore[operator]
    assert not skipped["layers.0.attn.out"].any()
    with torch.no_grad():
        bias.zero_()  # type: ignore[operator]
    zeroed = changed_trace(model, [[Change("zero", 0, head) for head in range(3)]])
    assert torch.equal(zeroed["final"], changed_trace(model, [[made("0.attn:off")]])["final"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_cutting_pairs_before_the_softmax_is_a_mask(variant: str) -> None:
    model = build(variant)
    pairs = [(0, 1), (0, 2), (3, 3), (2, 0)]
    mask = REAL[:, None, :].expand(1, 6, 6).clone()
    for query, key in pairs:
        mask[0, query, key] = False
    cuts = [Change("weight", layer, None, (query, key, 0.0)) for layer in range(2) for query, key in pairs]
    expected = Trace()
    model(IDS, mask, expected)
    trace = changed_trace(model, [cuts])
    assert torch.equal(trace["final"], expected["final"])
    assert all(torch.equal(trace[f"layers.{i}.attn.scores"], expected[f"layers.{i}.attn.scores"]) for i in range(2))


def test_what_a_mask_hides_stays_hidden() -> None:
    model, mask = build("post"), causal_and_padding(REAL)
    together: list[Change] = [
        made("0.*:weight_3_1_0.5"),
        made("0.1:cut_2_0"),
        made("1.*:uniform_*"),
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
    zeros: list[Change] = [
        made("0.1:zero~0"),
        made("0.1:cut_3_0~0"),
        made("positions:shuffle_1~0"),
        made("1.ffn:off~0"),
        made("1.out:patch_2_2~0"),
    ]
    for interventions in ([], zeros):
        trace = changed_trace(model, [interventions])
        assert list(trace) == list(plain)
        assert all(torch.equal(trace[name], plain[name]) for name in plain)


def test_rows_of_a_batch_have_interventions_of_their_own() -> None:
    model = build("post")
    rows: list[list[Change]] = [[], [made("0.1:zero")], [made("1.ffn:off"), made("0.0:zero")]]
    together = changed_trace(model, rows)["final"]
    for row, alone in zip(together, rows, strict=True):
        torch.testing.assert_close(row, changed_trace(model, [alone])["final"][0], atol=1e-12, rtol=0)


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


def test_the_model_and_its_other_passes_stay_as_they_are() -> None:
    model = build("post")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    out = model(IDS, REAL)
    changed_trace(model, [[made("0.*:zero"), made("positions:shuffle_3")]])
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert torch.equal(model(IDS, REAL), out)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_flow_through_a_changed_pass(dtype: torch.dtype) -> None:
    config = ModelConfig(vocab_size=9, d_model=24, n_heads=3, n_layers=2, d_ff=40, max_len=8)
    model = Encoder(config).to(dtype)
    together: list[Change] = [
        made("0.1:zero"),
        made("0.0:weight_3_1_0.4"),
        made("1.0:uniform_2"),
        made("1.2:mean"),
    ]
    changed_trace(model, [together])["final"].sum().backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)
