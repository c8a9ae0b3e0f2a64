"""Six encoders out of one draw: what they share, and what differs."""

from typing import Any

import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.gradient_variants import VARIANTS, Variant, common_config, with_variant
from playground.analysis.gradients import map_gradient

SMALL: dict[str, Any] = {"vocab_size": 7, "d_model": 8, "n_heads": 2, "n_layers": 3, "d_ff": 12}


@pytest.mark.parametrize("changes", [{}, {"embedding_norm": True, "final_norm": True, "norm": "rms"}], ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_the_encoder_of_its_config_with_the_same_draw(variant: Variant, changes: dict[str, Any]) -> None:
    config = common_config(ModelConfig(**SMALL | changes), 3)
    weights = Encoder(config, seed=5)
    model = with_variant(weights, variant)
    given = vars(config) | {"residual": variant.residual}
    given |= {"norm": "none"} if variant.norm == "none" else {"norm_placement": variant.norm}
    assert vars(model.config) == given
    theirs, ours = (dict(each.named_parameters()) for each in (Encoder(ModelConfig(**given), seed=5), model))
    assert ours.keys() == theirs.keys()
    for name, parameter in ours.items():
        torch.testing.assert_close(parameter, theirs[name], rtol=0, atol=0)
        assert parameter.requires_grad
    assert {each.data_ptr() for each in ours.values()} <= {each.data_ptr() for each in weights.state_dict().values()}


def test_only_linear_maps_are_scaled() -> None:
    weights = Encoder(common_config(ModelConfig(**SMALL | {"positions": "learned"}), 3), seed=1)
    scaled = with_variant(weights, VARIANTS[0], 0.5).state_dict()
    for name, tensor in weights.state_dict().items():
        linear = name.endswith("weight") and name.startswith("layers.")
        torch.testing.assert_close(scaled[name], tensor * (0.5 if linear else 1.0), rtol=0, atol=0)


@pytest.mark.parametrize("norm", ["layer", "rms", "none"])
def test_what_is_common(norm: str) -> None:
    given = ModelConfig(**SMALL | {"norm": norm, "norm_placement": "pre", "residual": False, "embedding_norm": True})
    told = {"n_layers": 40, "norm_placement": "post", "residual": True, "embedding_norm": False}
    told |= {"norm": "layer"} if norm == "none" else {}
    assert vars(common_config(given, 40)) == vars(given) | told


def test_a_maps_gradient_is_that_of_its_weights_and_bias() -> None:
    """As autograd has it, for a sentence shorter and one longer than the map is wide, and for numbers far from 1."""
    generator = torch.Generator().manual_seed(0)
    for n_tokens, size in ((3, 1.0), (40, 1.0), (3, 1e-25), (3, 1e25)):
        x, g = (torch.randn(n_tokens, 5, generator=generator).double() for _ in range(2))
        weight, bias = torch.zeros(5, 5).double().requires_grad_(), torch.zeros(5).double().requires_grad_()
        found = torch.autograd.grad(torch.nn.functional.linear(x, weight, bias), (weight, bias), g)
        expected = float(sum((each**2).sum() for each in found)) * size**2
        assert map_gradient(x.float(), (g * size).float()) == pytest.approx(expected, rel=1e-5)
