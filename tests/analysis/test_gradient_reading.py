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
from playground.analysis.gradient_variants import VARIANTS, Variant, common_config, compare, draw_weights, with_variant
from playground.analysis.gradients import Flow
from playground.model.blocks import EncoderBlock
from tests.model.reference import scramble, vectors

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("norms", "verdict", "ratio"),
    [
        ([1.0, 5.0, 2.0], "steady", 0.5),
        ([1000.0, 1.0], "steady", 1000.0),
        ([1001.0, 1.0], "exploding", 1001.0),
        ([1.0, 1000.0], "steady", 0.001),
        ([1.0, 1001.0], "vanishing", 1 / 1001),
        ([0.0, 1.0], "vanishing", 0.0),
        ([0.0, 0.0], "zero", NAN),
        ([1.0, 0.0], "exploding", INF),
        ([INF, 1.0], "infinite", INF),
        ([1.0, INF, 1.0], "infinite", 1.0),
        ([NAN, INF, 1.0], "not a number", NAN),
        ([3.0], "steady", 1.0),
    ],
)
def test_a_gradient_is_judged_by_its_ends(norms: list[float], verdict: str, ratio: float) -> None:
    found = np.array(norms)
    assert reading.judge(found) == verdict
    assert reading.first_over_last(found) == pytest.approx(ratio, nan_ok=True)


def made(**ends: tuple[float, float]) -> dict[Variant, Flow]:
    """Flows whose gradients of a whole layer go from the first number to the last; variants in their order."""
    flows = {}
    for variant, (first, last) in zip(VARIANTS, ends.values(), strict=False):
        gradients = {"whole layer": np.array([first, last]), "stream": np.array([first, 1.0, last])}
        flows[variant] = Flow(1.0, gradients, 1.0, np.ones(3), 1.0)
    return flows


def test_the_sentence_tells_every_fate() -> None:
    flows = made(a=(2.0, 4.0), b=(1e5, 1.0), c=(NAN, 1.0), d=(1e-9, 1.0), e=(0.0, 0.0), f=(INF, 1.0))
    assert reading.describe(flows, "whole layer", 2) == (
        "**The gradient reaches layer 0 in 1 of 6 encoders.** "
        "*Reaching* means: from layer 1 to layer 0, it changes by a factor of at most 1,000, either way. "
        "**Steady**: *post-norm* (× 0.5). "
        r"**Vanishing**: *post-norm, no residual* ($\times\,10^{-9}$). "
        r"**Exploding**: *pre-norm* ($\times\,10^{5}$). "
        "**Zero** in every layer: *pre-norm, no residual*. "
        "**Infinite**, beyond 32-bit floats: *no norm, no residual*. "
        "**Not a number**, as numbers on the way leave 32-bit floats: *no norm*."
    )


@pytest.mark.parametrize(
    ("first", "part", "n_layers", "told"),
    [
        (0.0, "whole layer", 2, "**The gradient reaches layer 0 in none of 1 "),
        (2.0, "stream", 2, "**The gradient reaches the embeddings in 1 of 1 "),
        (2.0, "whole layer", 1, "One layer is first and last at once"),
    ],
)
def test_the_sentence_says_so_where_none_gets_through_and_where_there_is_no_way(
    first: float, part: str, n_layers: int, told: str
) -> None:
    assert reading.describe(made(a=(first, 4.0)), part, n_layers).startswith(told)


def test_what_has_no_norms_is_left_out_of_their_gradients() -> None:
    config = common_config(ModelConfig(vocab_size=7, d_model=8, n_heads=2, d_ff=8), 2)
    flows = compare(config, 0, torch.tensor([1, 2, 3]), (2,)).flows[2]
    norms = reading.of_part(flows, "norms")
    assert [variant.norm for variant in norms] == ["post", "pre", "post", "pre"]
    assert "of 4 encoders.**" in reading.describe(flows, "norms", 2)
    for part in set(reading.PARTS) - {"norms"}:
        found = reading.of_part(flows, part)
        assert tuple(found) == VARIANTS
        table = reading.by_layer(found)
        assert list(table) == [variant.name for variant in VARIANTS]
        for variant, values in found.items():
            np.testing.assert_array_equal(table[variant.name], values)


def test_blocks_factors_multiply_to_the_whole_way() -> None:
    flow = made(a=(2.0, 8.0))[VARIANTS[0]]
    assert reading.chain_numbers(flow) == "0.5^{2} = 0.25"
    lost = replace(flow, gradients={"stream": np.array([NAN, 1.0])})
    assert reading.chain_numbers(lost) == r"\mathrm{NaN}"


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


@pytest.mark.parametrize(
    ("ratio", "told"), [(1.23, "× 1.2"), (0.00048, "× 0.00048"), (2e-7, r"$\times\,2 \cdot 10^{-7}$")]
)
def test_a_ratio_in_running_text(ratio: float, told: str) -> None:
    assert reading.times(ratio) == told
