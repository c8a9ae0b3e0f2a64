"""Six encoders out of one draw, at one depth or at many: what they share, what differs, and what is refused."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, count_parameters
from playground.analysis import gradients
from playground.analysis.gradient_variants import (
    VARIANTS,
    DepthNorms,
    Variant,
    check_layers,
    common_config,
    compare,
    draw_weights,
    sweep_variants,
    with_variant,
)
from playground.analysis.gradients import backward, map_gradient
from playground.errors import TooLargeError
from playground.presets import PRESETS
from playground.text.tokenizer import draw_vectors

IDS = torch.tensor([3, 1, 4, 1, 5])
SMALL: dict[str, Any] = {"vocab_size": 7, "d_model": 8, "n_heads": 2, "n_layers": 3, "d_ff": 12}


def config(**changes: Any) -> ModelConfig:
    return common_config(ModelConfig(**SMALL | changes), 3)


@pytest.mark.parametrize("changes", [{}, {"embedding_norm": True, "final_norm": True, "norm": "rms"}], ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_the_encoder_of_its_config_with_the_same_draw(variant: Variant, changes: dict[str, Any]) -> None:
    weights = draw_weights(config(**changes), seed=5, scale=1.0)
    model = with_variant(weights, variant)
    given = vars(config(**changes)) | {"residual": variant.residual}
    given |= {"norm": "none"} if variant.norm == "none" else {"norm_placement": variant.norm}
    assert vars(model.config) == given
    alone = Encoder(ModelConfig(**given), seed=5)
    theirs = dict(alone.named_parameters())
    ours = dict(model.named_parameters())
    assert ours.keys() == theirs.keys()
    for name, parameter in ours.items():
        torch.testing.assert_close(parameter, theirs[name], rtol=0, atol=0)
        assert parameter.requires_grad
    shared = {tensor.data_ptr() for tensor in weights.state_dict().values()}
    assert {parameter.data_ptr() for parameter in model.parameters()} <= shared
    torch.testing.assert_close(model.embed(IDS[None]), weights.embed(IDS[None]), rtol=0, atol=0)


def test_only_linear_maps_are_scaled() -> None:
    plain, scaled = (draw_weights(config(positions="learned"), 1, scale).state_dict() for scale in (1.0, 0.5))
    for name, tensor in plain.items():
        linear = name.endswith("weight") and name.startswith("layers.")
        torch.testing.assert_close(scaled[name], tensor * (0.5 if linear else 1.0), rtol=0, atol=0)


def test_a_comparison_is_each_variants_own_backward_pass() -> None:
    found = compare(config(), 2, IDS, (1, 3), scale=1.4, causal=True)
    assert list(found.flows) == [1, 3]
    assert (found.n_tokens, found.device, found.config) == (5, "cpu", config())
    assert found.seconds > 0
    for depth, flows in found.flows.items():
        assert tuple(flows) == VARIANTS
        for variant, flow in flows.items():
            weights = draw_weights(replace(config(), n_layers=depth), 2, 1.4)
            expected = backward(with_variant(weights, variant), IDS, causal=True)
            assert flow.gradients.keys() == expected.gradients.keys()
            for part, norms in expected.gradients.items():
                np.testing.assert_array_equal(flow.gradients[part], norms)
            assert (flow.loss, flow.embeddings) == (expected.loss, expected.embeddings)


def test_six_encoders_of_raw_vectors_are_compared_on_the_same_ones() -> None:
    vectors = draw_vectors([*"abcdefghij"], config().d_model, seed=4)
    found = compare(config(vocab_size=0), 2, IDS, (3,), vectors=vectors)
    assert found.n_names == 10
    assert found.row_length == pytest.approx(np.linalg.norm(vectors / 8**0.5, axis=1).mean(), rel=1e-6)
    drawn = compare(config(), 2, IDS, (3,))
    assert drawn.n_names == config().vocab_size
    table = draw_weights(config(), 2, 1.0).embed.tokens.weight.detach()  # type: ignore[union-attr]
    assert drawn.row_length == pytest.approx(np.linalg.norm(table, axis=1).mean(), rel=1e-6)
    weights = draw_weights(config(vocab_size=0), 2, 1.0)
    for variant, flow in found.flows[3].items():
        expected = backward(with_variant(weights, variant), IDS, vectors=vectors)
        assert flow.loss == expected.loss
        np.testing.assert_array_equal(flow.gradients["stream"], expected.gradients["stream"])


def test_the_sixs_first_vectors_are_the_same_and_so_is_torchs_random_state() -> None:
    before = torch.random.get_rng_state()
    flows = compare(config(embedding_norm=True), 0, IDS, (3,)).flows[3]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert len({float(flow.lengths[0]) for flow in flows.values()}) == 1
    assert {variant.norm for variant, flow in flows.items() if "norms" not in flow.gradients} == {"none"}


@pytest.mark.parametrize("norm", ["layer", "scalar", "rms", "none"])
def test_what_is_common(norm: str) -> None:
    given = ModelConfig(
        **SMALL | {"norm": norm, "norm_placement": "pre", "residual": False, "embedding_norm": True, "final_norm": True}
    )
    found = common_config(given, 40)
    told = {"n_layers": 40, "norm_placement": "post", "residual": True, "embedding_norm": False}
    told |= {"norm": "layer"} if norm == "none" else {}
    assert vars(found) == vars(given) | told


@pytest.mark.parametrize("name", ["minilm-l6", "vaswani-base", "bert-base", "no table"])
def test_layers_that_do_not_fit_are_refused_with_the_number_that_does(name: str) -> None:
    shape = PRESETS[name].config if name in PRESETS else ModelConfig(**SMALL | {"vocab_size": 0, "positions": "none"})
    most = count_parameters(replace(shape, n_layers=9)).total
    for limit in (most, most + 1):
        check_layers(replace(shape, n_layers=9), limit)
        with pytest.raises(TooLargeError, match=f"at most {limit:,}: 9 layers of this shape would fit"):
            check_layers(replace(shape, n_layers=10), limit)


def test_a_shape_that_never_fits_is_refused() -> None:
    with pytest.raises(TooLargeError, match="even one layer of this shape is too large"):
        check_layers(replace(PRESETS["gpt-3"].config, n_layers=1), 100_000_000)
    with pytest.raises(TooLargeError, match="even one layer of this shape is too large"):
        check_layers(ModelConfig(**SMALL | {"vocab_size": 10_000_000, "n_layers": 1}), 1_000_000)


WORDS = (3, 1, 4, 1, 5)
DEPTHS = (1, 2, 4)
TINY: dict[str, Any] = {"vocab_size": 7, "d_model": 8, "n_heads": 2, "d_ff": 12, "activation": "gelu"}


def sweep(config: ModelConfig, vectors: torch.Tensor | None) -> DepthNorms:
    return sweep_variants(draw_weights(config, 5, 1.4), torch.tensor(WORDS), DEPTHS, vectors=vectors, causal=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("changes", [{}, {"final_norm": True, "fused_qkv": True}, {"vocab_size": 0}], ids=str)
def test_each_depth_has_the_first_numbers_of_its_own_backward_pass(changes: dict[str, Any]) -> None:
    config = common_config(ModelConfig(**TINY | changes), 4)
    vectors = None if config.vocab_size else draw_vectors("abcdefg", 8, seed=2)
    found = sweep(config, vectors)
    assert tuple(found) == VARIANTS
    for variant, by_depth in found.items():
        assert tuple(by_depth) == DEPTHS
        for depth, of_parts in by_depth.items():
            model = with_variant(draw_weights(replace(config, n_layers=depth), 5, 1.4), variant)
            flow = backward(model, torch.tensor(WORDS), vectors=vectors, causal=True)
            assert of_parts == {part: values[0] for part, values in flow.gradients.items()}


def test_all_depths_share_one_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of the blocks behind the first, no parameter's gradient is asked."""
    through, forward = Mock(wraps=gradients.through_block), Mock(wraps=gradients._forward)
    monkeypatch.setattr(gradients, "through_block", through)
    monkeypatch.setattr(gradients, "_forward", forward)
    sweep(common_config(ModelConfig(**TINY), 4), None)
    assert forward.call_count == len(VARIANTS)
    assert through.call_count == len(VARIANTS) * len(DEPTHS)
    assert len({id(call.args[0]) for call in through.call_args_list}) == len(VARIANTS)


def test_a_maps_gradient_is_that_of_its_weights_and_bias() -> None:
    """As autograd has it, for a sentence shorter and one longer than the map is wide, and for numbers far from 1."""
    generator = torch.Generator().manual_seed(0)
    for n_tokens, size in ((3, 1.0), (40, 1.0), (3, 1e-25), (3, 1e25)):
        x, g = (torch.randn(n_tokens, 5, generator=generator).double() for _ in range(2))
        weight, bias = torch.zeros(5, 5).double().requires_grad_(), torch.zeros(5).double().requires_grad_()
        found = torch.autograd.grad(torch.nn.functional.linear(x, weight, bias), (weight, bias), g)
        expected = float(sum((each**2).sum() for each in found)) * size**2
        assert map_gradient(x.float(), (g * size).float()) == pytest.approx(expected, rel=1e-5)
