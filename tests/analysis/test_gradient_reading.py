"""What is read off six gradients is true of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground import ModelConfig
from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import (
    VARIANTS,
    Comparison,
    Variant,
    common_config,
    compare,
    draw_weights,
    with_variant,
)
from playground.analysis.gradients import Flow
from playground.model.blocks import EncoderBlock
from playground.text.wording import superscript
from tests.model.reference import scramble, vectors
from tests.written_numbers import read_number

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("norms", "verdict", "ratio"),
    [
        ([1.0, 5.0, 2.0], "arrives", 0.5),
        ([1000.0, 1.0], "arrives", 1000.0),
        ([1001.0, 1.0], "exploding", 1001.0),
        ([1.0, 1000.0], "arrives", 0.001),
        ([1.0, 1001.0], "vanishing", 1 / 1001),
        ([0.0, 1.0], "vanishing", 0.0),
        ([0.0, 0.0], "zero", NAN),
        ([1.0, 0.0], "exploding", INF),
        ([INF, 1.0], "infinite", INF),
        ([1.0, INF, 1.0], "infinite", 1.0),
        ([NAN, INF, 1.0], "not a number", NAN),
        ([3.0], "arrives", 1.0),
        ([1e6, 2e6], "arrives, but huge", 0.5),
        ([1.0, 1001.0, 1.0], "arrives, but huge", 1.0),
        ([9e-4, 0.5], "arrives, but tiny", 0.0018),
        ([0.001, 9e-4], "arrives", 0.001 / 9e-4),
    ],
)
def test_a_gradient_is_judged_by_its_ends_and_its_size(norms: list[float], verdict: str, ratio: float) -> None:
    found = np.array(norms)
    assert reading.judge(found) == verdict
    assert reading.first_over_last(found) == pytest.approx(ratio, nan_ok=True)


def made(**ends: tuple[float, float]) -> dict[Variant, Flow]:
    """Flows whose gradients of a whole layer go from the first number to the last; variants in their order."""
    flows = {}
    for variant, (first, last) in zip(VARIANTS, ends.values(), strict=False):
        gradients = {"whole layer": np.array([first, last]), "stream": np.array([first, 1.0, last])}
        flows[variant] = Flow(1.0, gradients, 1.0, np.ones(3), 1.0, 1.0)
    return flows


def compared(flows: dict[Variant, Flow], n_layers: int = 2) -> Comparison:
    config = ModelConfig(vocab_size=7, d_model=8, n_heads=2, n_layers=n_layers, d_ff=8)
    return Comparison(config, 7, 1.0, {n_layers: flows}, 5, "cpu", 0.1)


def test_the_question_comes_first_and_every_fate_is_named() -> None:
    flows = made(a=(2.0, 4.0), b=(1e5, 1.0), c=(NAN, 1.0), d=(1e-9, 1.0), e=(0.0, 0.0), f=(1e6, 1e6))
    told = reading.describe(compared(flows), "whole layer")
    assert told.startswith("**Does the gradient reach layer 0?** **Yes, in 2 of 6 encoders.** ")
    for expected in (
        "**Vanishing**: *post-norm, no residual* (factor 10⁻⁹).",
        "**Exploding**: *pre-norm* (factor 10⁵).",
        "**Zero** in every layer: *pre-norm, no residual*.",
        "**Arrives, but huge**, more than 1,000 long somewhere: *no norm, no residual* (factor 1).",
        "**Not a number**, as numbers on the way leave 32-bit floats: *no norm*.",
    ):
        assert expected in told
    assert "Arrives**" not in told, "the table has these"
    assert "1,000-fold on the way from layer 1." in reading.explain_reaching("whole layer", 2)
    assert not reading.explain_reaching("whole layer", 1)


@pytest.mark.parametrize(
    ("first", "part", "n_layers", "answer"),
    [
        (0.0, "whole layer", 2, "**Does the gradient reach layer 0?** **No, in none of 1 "),
        (2.0, "stream", 2, "**Does the gradient reach the embeddings?** **Yes, in all 1 "),
        (2.0, "whole layer", 1, "**Does the gradient reach layer 0?** **Yes, in all 1 "),
    ],
)
def test_the_answer_says_so_where_none_gets_through_and_where_there_is_no_way(
    first: float, part: str, n_layers: int, answer: str
) -> None:
    told = reading.describe(compared(made(a=(first, 4.0)), n_layers), part)
    assert told.startswith(answer)
    assert ("first and last at once" in told) is (n_layers == 1)


def test_one_encoders_answer_is_how_much_longer_its_gradient_becomes() -> None:
    told = reading.describe_pair(compared(made(a=(1.0, 4.0))), VARIANTS[:1], "whole layer")
    assert told.endswith("it arrives**. It is **4 times shorter** at layer 0 than at layer 1.")


IDS = torch.tensor([3, 1, 4, 1, 5])


def deep_pre_norm(**changes: Any) -> Comparison:
    config = ModelConfig(vocab_size=50, d_model=16, n_heads=2, d_ff=32, **changes)
    return compare(common_config(config, 24), 0, IDS, (24,), scale=2.0)


def told_of(text: str, name: str) -> bool:
    return f"*{name}*" in text


def test_a_high_loss_changes_no_verdict_and_is_explained_by_its_lengths() -> None:
    """A table of N(0, 1), as torch draws it, makes the loss of any normed vectors high."""
    drawn: dict[str, Any] = {"vocab_size": 50, "d_model": 64, "n_heads": 2, "d_ff": 64}
    short, long = (
        compare(common_config(ModelConfig(**drawn, initialisation=kind, final_norm=True), 6), 0, IDS, (6,))
        for kind in ("xavier", "torch")
    )
    normed = [variant for variant in VARIANTS if variant.norm != "none"]
    assert long.row_length == pytest.approx(8, rel=0.1)
    for comparison in (short, long):
        verdicts = reading.judge_all(comparison, "whole layer")
        assert {verdicts[variant] for variant in normed} <= set(reading.ARRIVED)
    high = [v for v in normed if long.full_depth[v].loss > 3 * np.log(50)]
    assert high
    said = reading.describe_losses(long)
    assert all(told_of(said, variant.name) for variant in high)
    assert f"rows are {long.row_length:.3g} long" in said
    assert "final_norm" not in said, "they have one"
    assert "rows are" not in reading.describe_losses(short)


@pytest.mark.long
def test_a_deep_pre_norm_encoders_loss_is_high_for_want_of_a_final_norm_alone() -> None:
    pre = VARIANTS[1]
    without, with_norm = deep_pre_norm(), deep_pre_norm(final_norm=True)
    assert without.full_depth[pre].loss > 3 * without.even_guess
    assert with_norm.full_depth[pre].loss < 3 * with_norm.even_guess
    said = reading.describe_losses(without)
    assert f"*pre-norm* {without.full_depth[pre].read_length:.3g}" in said
    assert "want of a final norm alone: *pre-norm*" in said
    assert not told_of(reading.describe_losses(with_norm), "pre-norm")


def test_a_loss_near_an_even_guess_needs_no_explanation() -> None:
    said = reading.describe_losses(compared(made(a=(1.0, 1.0), b=(1.0, 1.0))))
    assert said == f"*Loss*: an even guess among 7 tokens costs {np.log(7):.3g}."


def test_how_alike_the_tokens_are_is_said_of_both_kinds_of_encoders() -> None:
    flows = made(a=(1, 1), b=(1, 1), c=(1, 1), d=(1, 1), e=(1, 1), f=(1, 1))
    cosines = [0.9, 0.25, NAN, 1.0, 0.99999, 1.0]
    flows = {variant: replace(flow, alike=alike) for (variant, flow), alike in zip(flows.items(), cosines, strict=True)}
    said = reading.describe_likeness(compared(flows))
    assert "With residual connections it is 0.2500 to 0.9000 here, without 1.0000." in said
    assert "Hardly" not in said
    close = {variant: replace(flow, alike=0.9996) for variant, flow in flows.items()}
    assert "Hardly a difference is left with them, either." in reading.describe_likeness(compared(close))
    one_token = {variant: replace(flow, alike=NAN) for variant, flow in flows.items()}
    assert "nan" not in reading.describe_likeness(compared(one_token))
    one_kind = {variant: replace(flow, alike=0.5 if variant.residual else NAN) for variant, flow in flows.items()}
    assert "With residual" not in reading.describe_likeness(compared(one_kind)), "there is nothing to compare with"


def test_what_has_no_norms_is_left_out_of_their_gradients() -> None:
    config = common_config(ModelConfig(vocab_size=7, d_model=8, n_heads=2, d_ff=8), 2)
    comparison = compare(config, 0, torch.tensor([1, 2, 3]), (2,))
    flows = comparison.full_depth
    norms = reading.of_part(flows, "norms")
    assert [variant.norm for variant in norms] == ["post", "pre", "post", "pre"]
    assert reading.judge_all(comparison, "norms").keys() == norms.keys()
    assert "4 encoders.**" in reading.describe(comparison, "norms")
    for part in set(flows[VARIANTS[0]].gradients) - {"norms"}:
        found = reading.of_part(flows, part)
        assert tuple(found) == VARIANTS
        table = reading.by_layer(found)
        assert list(table) == [variant.name for variant in VARIANTS]
        for variant, values in found.items():
            np.testing.assert_array_equal(table[variant.name], values)


@pytest.fixture(scope="module")
def deep() -> dict[tuple[float, int], dict[Variant, Flow]]:
    """The six at several scales and depths."""
    config = common_config(ModelConfig(vocab_size=11, d_model=16, n_heads=2, d_ff=32), 40)
    found: dict[tuple[float, int], dict[Variant, Flow]] = {}
    for scale in (0.5, 1.4):
        flows = compare(config, 0, torch.tensor([1, 2, 3, 5, 8]), (1, 7, 40), scale=scale).flows
        found |= {(scale, depth): dict(of_depth) for depth, of_depth in flows.items()}
    return found


@pytest.mark.long
def test_the_shown_factor_to_its_power_is_the_shown_product(deep: dict[tuple[float, int], dict[Variant, Flow]]) -> None:
    seen = 0
    for (_, depth), flows in deep.items():
        for flow in flows.values():
            shown = reading.chain_numbers(flow)
            if shown == "NaN":
                assert not np.isfinite(reading.first_over_last(flow.gradients["stream"]))
                continue
            power, product = shown.split(" = ")
            factor = power.removesuffix(superscript(depth)).strip("()")
            assert f"{read_number(factor) ** depth:.3g}" == f"{read_number(product):.3g}"
            assert read_number(product) == pytest.approx(reading.first_over_last(flow.gradients["stream"]), rel=6e-3)
            seen += 1
    assert seen > 28


def test_the_shown_ends_give_the_shown_ratio(deep: dict[tuple[float, int], dict[Variant, Flow]]) -> None:
    seen = 0
    for flows in deep.values():
        for flow in flows.values():
            for norms in flow.gradients.values():
                if np.isfinite(norms).all() and norms[-1]:
                    ratio, first, last = map(read_number, reading.ratio_numbers(norms))
                    assert f"{first / last:.3g}" == f"{ratio:.3g}"
                    np.testing.assert_allclose([first, last], [norms[0], norms[-1]], rtol=6e-3)
                    seen += 1
    assert seen > 120


@pytest.mark.parametrize(
    ("norms", "shown"),
    [
        ([39.4449, 1.0, 13.4552], ("2.93", "39.44", "13.46")),
        ([1.0, 2.0], ("0.5", "1", "2")),
        ([0.0, 2.0], ("0", "0", "2")),
        ([NAN, 2.0], ("NaN", "NaN", "2")),
        ([2.0, 0.0], ("∞", "2", "0")),
    ],
)
def test_ends_have_the_digits_that_their_ratio_needs(norms: list[float], shown: tuple[str, str, str]) -> None:
    assert reading.ratio_numbers(np.array(norms)) == shown


def test_blocks_factors_multiply_to_the_whole_way() -> None:
    flow = made(a=(2.0, 8.0))[VARIANTS[0]]
    assert reading.chain_numbers(flow) == "0.5² = 0.25"
    twelve = replace(flow, gradients={"stream": np.array([0.69, *[1.0] * 12])})
    assert reading.chain_numbers(twelve) == "0.9696¹² = 0.69"
    lost = replace(flow, gradients={"stream": np.array([NAN, 1.0])})
    assert reading.chain_numbers(lost) == "NaN"


def jacobian(function: Any, x: Tensor) -> NDArray[np.float64]:
    return torch.autograd.functional.jacobian(function, x).numpy()  # type: ignore[no-any-return, no-untyped-call]


EXPECTED: dict[tuple[str, bool], tuple[str, Any]] = {
    ("post", True): ("N' (I + f')", lambda n, f, i: n @ (i + f)),
    ("pre", True): ("I + f' N'", lambda n, f, i: i + f @ n),
    ("none", True): ("I + f'", lambda n, f, i: i + f),
    ("post", False): ("N' f'", lambda n, f, i: n @ f),
    ("pre", False): ("f' N'", lambda n, f, i: f @ n),
    ("none", False): ("f'", lambda n, f, i: f),
}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_chain_rules_formula_is_the_sublayers_derivative(variant: Variant) -> None:
    """With the feed-forward as f, by the block's own code: attention is made to add nothing."""
    config = common_config(ModelConfig(vocab_size=7, d_model=4, n_heads=2, d_ff=8, activation="gelu"), 1)
    block = with_variant(scramble(draw_weights(config, 0, 1.0)).double(), variant).layers[0]
    assert isinstance(block, EncoderBlock)
    x = vectors(1, 1, 4).double()[0, 0]
    norm, ffn = block.norm2, block.ffn
    before = norm(x) if variant.norm == "pre" else x
    total = ffn(x) + (x if variant.residual else 0)

    def sublayer(v: Tensor) -> Tensor:
        """The second half of `EncoderBlock.forward`."""
        if variant.norm == "pre":
            return block.add(v, ffn(norm(v)))
        return norm(block.add(v, ffn(v)))  # type: ignore[no-any-return]

    n = jacobian(norm, x if variant.norm == "pre" else total.detach())
    formula, product = EXPECTED[variant.norm, variant.residual]
    assert reading.CHAIN_FORMULAS[variant.norm, variant.residual] == formula
    np.testing.assert_allclose(product(n, jacobian(ffn, before.detach()), np.eye(4)), jacobian(sublayer, x), atol=1e-12)
