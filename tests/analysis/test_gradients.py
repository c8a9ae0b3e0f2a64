"""Gradients against finite differences and against plain backpropagation, itself torch.nn's in tests/model."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.analysis import gradients
from playground.analysis.gradients import (
    VARIANTS,
    Variant,
    backward,
    common_config,
    map_gradient,
    next_token_loss,
    with_variant,
)
from playground.model import causal_mask
from playground.text.tokenizer import draw_vectors
from tests.model.reference import float64, scramble

IDS = torch.tensor([3, 1, 4, 1, 5])
SMALL: dict[str, Any] = {"vocab_size": 7, "d_model": 4, "n_heads": 2, "n_layers": 2, "d_ff": 6, "activation": "gelu"}


def encoder(**changes: Any) -> Encoder:
    """Small, in fp64, no bias 0 and no gain 1."""
    return scramble(Encoder(ModelConfig(**SMALL | changes), seed=0)).double()


def surprise(vectors: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """The loss by its formula: mean of −log softmax(E h) at the next token, the last one's next being the first."""
    logits = vectors @ table.T
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return float(np.mean([-row[word] for row, word in zip(logs, [*IDS[1:], IDS[0]], strict=True)]))


def length(gradients: list[Tensor]) -> float:
    return float(np.sqrt(sum(np.sum(float64(gradient) ** 2) for gradient in gradients)))


def test_the_loss_is_its_formula() -> None:
    model = encoder()
    vectors, table = model(IDS[None])[0], model.embed.tokens.weight  # type: ignore[union-attr]
    expected = surprise(float64(vectors), float64(table))
    assert float(next_token_loss(vectors, table, IDS).detach()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "rms", "fused_qkv": True, "positions": "none", "scale_embeddings": False},
        {"norm": "scalar", "head_merge": "reshape", "final_norm": True, "activation": "silu", "gated": True},
        {"positions": "rotary", "n_kv_heads": 1, "bias": False, "window": 2, "global_every": 2, "first_norm": False},
        {"positions": "relative", "relative_buckets": 4, "relative_distance": 4, "d_head": 6, "qk_norm": True},
        {"positions": "alibi", "d_embedding": 3, "window": 4, "activation": "gelu-tanh"},
        {"positions": "rotary", "tied": "shared"},
        {"positions": "learned", "position_join": "concatenate", "tied": "merged"},
    ],
    ids=str,
)
@pytest.mark.parametrize("causal", [False, True])
def test_plain_backpropagation_gives_the_same(variant: Variant, changes: dict[str, Any], causal: bool) -> None:
    """One graph for the whole encoder, gradients stored on the parameters, lengths measured on the trace."""
    model = with_variant(encoder(n_layers=3, **changes), variant)
    vectors = None if model.config.vocab_size else draw_vectors("abcdefg", 4, seed=2).double()
    flow = backward(model, IDS, vectors=vectors, causal=causal)
    assert all(parameter.grad is None for parameter in model.parameters())

    x = model.embed(IDS[None]) if vectors is None else model.embed_vectors(vectors[IDS][None])
    x = x if x.requires_grad else x.requires_grad_()
    x.retain_grad()
    out = model.encode(x, causal_mask(5) if causal else None)
    table = model.embed.tokens.weight if vectors is None else vectors / 2  # type: ignore[union-attr]
    if model.config.position_join == "concatenate":
        table = torch.cat([table, torch.zeros_like(table)], dim=1)
    table = table if model.embed.project is None else model.embed.project(table)
    torch.autograd.backward(next_token_loss(out[0], table, IDS))
    for i, block in enumerate(model.layers):
        named = dict(block.named_parameters())
        norms = [parameter for name, parameter in named.items() if "norm" in name]
        maps = {name: parameter for name, parameter in named.items() if "norm" not in name}
        attention, feed_forward = ([maps[name] for name in maps if name.startswith(part)] for part in ("attn", "ffn"))
        parts = {"attention": attention, "feed-forward": feed_forward, "norms": norms}
        for part, parameters in {**parts, "whole layer": block.parameters()}.items():
            learned = list(parameters)
            assert (part in flow) == bool(learned)
            if learned:
                expected = length([each.grad for each in learned if each.grad is not None])
                assert flow[part][i] == pytest.approx(expected, rel=1e-9)
    assert not any(array.flags.writeable for array in flow.values())
    assert x.grad is not None
    assert flow["stream"][0] == pytest.approx(length([x.grad]), rel=1e-9)


def test_it_does_so_for_raw_vectors() -> None:
    changes = {"vocab_size": 0, "positions": "learned", "max_len": 5, "embedding_norm": True}
    test_plain_backpropagation_gives_the_same(VARIANTS[0], changes, causal=True)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_norms_far_from_one_are_measured(size: float) -> None:
    """Their squares have no place in fp32."""
    parts = [torch.full((2, 2), 3 * size), torch.full((7,), 4 * size)]
    assert gradients.l2_norm(parts) == pytest.approx(size * np.sqrt(4 * 9 + 7 * 16), rel=1e-6)


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


def test_a_maps_gradient_is_that_of_its_weights_and_bias() -> None:
    """As autograd has it, for a sentence shorter and one longer than the map is wide, and for numbers far from 1."""
    generator = torch.Generator().manual_seed(0)
    for n_tokens, size in ((3, 1.0), (40, 1.0), (3, 1e-25), (3, 1e25)):
        x, g = (torch.randn(n_tokens, 5, generator=generator).double() for _ in range(2))
        weight, bias = torch.zeros(5, 5).double().requires_grad_(), torch.zeros(5).double().requires_grad_()
        found = torch.autograd.grad(torch.nn.functional.linear(x, weight, bias), (weight, bias), g)
        expected = float(sum((each**2).sum() for each in found)) * size**2
        assert map_gradient(x.float(), (g * size).float()) == pytest.approx(expected, rel=1e-5)
