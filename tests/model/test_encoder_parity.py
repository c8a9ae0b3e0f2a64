"""A block, a stack, and the whole encoder against torch.nn's."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from playground import Encoder, ModelConfig, Trace
from playground.config import Activation, NormPlacement
from playground.model import causal_and_padding, causal_mask
from playground.model.blocks import EncoderBlock
from playground.model.init import initialise
from tests.model.reference import (
    float64,
    scramble,
    sinusoid,
    torch_encoder,
    torch_layer,
    torch_names,
    vectors,
)

B, T = 3, 7
REAL = torch.arange(T) < torch.tensor([7, 4, 2])[:, None]


def config_of(**fields: Any) -> ModelConfig:
    sizes = {"vocab_size": 0, "d_model": 24, "n_heads": 3, "n_layers": 3, "d_ff": 40, "max_len": 16}
    return ModelConfig(**sizes | fields)


# Ours says True = may attend; torch's says True = ignore.
MASKS: dict[str, tuple[Tensor | None, dict[str, Tensor]]] = {
    "unmasked": (None, {}),
    "padded": (REAL, {"src_key_padding_mask": ~REAL}),
    "causal": (causal_mask(T), {"mask": ~causal_mask(T)[0]}),
    "both": (causal_and_padding(REAL), {"mask": ~causal_mask(T)[0], "src_key_padding_mask": ~REAL}),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_the_stack_is_torchs(
    norm_placement: NormPlacement, activation: Activation, final_norm: bool, mask: str
) -> None:
    config = config_of(norm_placement=norm_placement, activation=activation, final_norm=final_norm)
    model, x = scramble(Encoder(config)), vectors(B, T, 24)
    ours, theirs = MASKS[mask]
    expected = torch_encoder(model)(x, **theirs)
    torch.testing.assert_close(model.encode(x, ours), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(model.encode(x, ours, Trace()), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_gradients_are_torchs(norm_placement: NormPlacement) -> None:
    config = config_of(norm_placement=norm_placement, activation="gelu", final_norm=True)
    model, x = scramble(Encoder(config)), vectors(B, T, 24)
    theirs = torch_encoder(model)
    target = vectors(B, T, 24, seed=8)
    for encoder, out in (
        (theirs, theirs(x, src_key_padding_mask=~REAL)),
        (model, model.encode(x, REAL)),
    ):
        assert isinstance(encoder, nn.Module)
        (out * target)[REAL].sum().backward()
    ours = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    expected = {name: p.grad for name, p in theirs.named_parameters()}
    torch.testing.assert_close(torch_names(config, ours), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_one_block_is_torchs_layer(norm_placement: NormPlacement) -> None:
    config = config_of(n_layers=1, norm_placement=norm_placement)
    block = EncoderBlock(config)
    initialise(block, seed=0)
    scramble(block).eval()
    named = torch_names(config, {f"layers.0.{name}": tensor for name, tensor in block.state_dict().items()})
    theirs = torch_layer(config).eval()
    theirs.load_state_dict({name.removeprefix("layers.0."): tensor for name, tensor in named.items()})
    x = vectors(B, T, 24)
    torch.testing.assert_close(block(x), theirs(x), atol=1e-5, rtol=1e-5)


def test_ids_become_scaled_rows_plus_positions() -> None:
    model = scramble(Encoder(config_of(vocab_size=9, d_model=15, n_segments=2)))
    ids = torch.tensor([[4, 0, 8], [1, 1, 2]])
    tokens, segments = model.embed.tokens, model.embed.segments
    assert tokens is not None
    assert segments is not None
    table = np.array([[sinusoid(p, c, 15, doubled=False) for c in range(15)] for p in range(3)])
    expected = float64(tokens.weight)[ids.numpy()] * math.sqrt(15) + table + float64(segments.weight)[0]
    np.testing.assert_allclose(float64(model.embed(ids)), expected, atol=1e-5, rtol=0)


def test_embeddings_go_unscaled_where_the_config_says_so() -> None:
    model = Encoder(config_of(vocab_size=9, positions="none", scale_embeddings=False))
    tokens = model.embed.tokens
    assert tokens is not None
    assert torch.equal(model.embed(torch.tensor([[3, 5]])), tokens.weight[[3, 5]][None])


def test_the_embedding_norm_comes_after_the_sum() -> None:
    model = scramble(Encoder(config_of(vocab_size=9, embedding_norm=True, positions="learned", n_segments=2)))
    tokens, positions, segments = model.embed.tokens, model.embed.positions, model.embed.segments
    assert tokens is not None
    assert positions is not None
    assert segments is not None
    ids = torch.tensor([[3, 5, 0]])
    summed = tokens.weight[ids] * math.sqrt(24) + positions.weight[:3] + segments.weight[0]
    norm = dict(model.named_parameters())
    gain, bias = norm["embed.norm.gain"], norm["embed.norm.bias"]
    expected = nn.functional.layer_norm(summed, (24,), gain, bias, model.config.norm_eps)
    torch.testing.assert_close(model.embed(ids), expected)


def test_the_whole_encoder_is_its_halves() -> None:
    model = scramble(Encoder(config_of(vocab_size=9, final_norm=True)))
    ids = torch.randint(9, (B, T), generator=torch.Generator().manual_seed(3))
    expected = torch_encoder(model)(model.embed(ids), src_key_padding_mask=~REAL)
    torch.testing.assert_close(model(ids, REAL), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(model.encode(model.embed(ids), REAL), model(ids, REAL))
