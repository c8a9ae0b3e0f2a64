"""Random weights: each tensor from the seed and its own name, in its scheme's bounds."""

import hashlib
import math
from dataclasses import replace

import pytest
import torch

from playground import Encoder, EncoderDecoder, ModelConfig
from playground.config import Initialisation
from playground.training.network import Tagger

CONFIG = ModelConfig(
    vocab_size=20, d_model=12, n_heads=3, n_layers=2, d_ff=16, max_len=9, positions="learned", n_segments=2,
    embedding_norm=True, final_norm=True,
)  # fmt: skip
GOLDEN: dict[Initialisation, str] = {"xavier": "c71e970afe3f", "torch": "c525ad60a58b"}
"""The first digits of the SHA-256 of all names and numbers."""


def weights(config: ModelConfig, seed: int = 0) -> dict[str, torch.Tensor]:
    return dict(Encoder(config, seed).state_dict())


@pytest.mark.parametrize("scheme", GOLDEN)
def test_weights_are_these_bits_whatever_torchs_own_generator_did(scheme: Initialisation) -> None:
    before, digest = torch.get_rng_state(), hashlib.sha256()
    for name, tensor in weights(replace(CONFIG, vocab_size=600, d_model=72, initialisation=scheme)).items():
        digest.update(name.encode())
        digest.update(tensor.numpy().astype("<f4").tobytes())
    assert digest.hexdigest()[:12] == GOLDEN[scheme]
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.is_meta for parameter in Encoder(CONFIG, seed=None).parameters())


@pytest.mark.parametrize("scheme", GOLDEN)
def test_a_tensor_is_the_same_whatever_else_the_model_has(scheme: Initialisation) -> None:
    config = replace(CONFIG, initialisation=scheme)
    one, deeper = weights(config), weights(replace(config, n_layers=4, n_heads=6, norm="rms", vocab_size=0))
    common = [name for name in one.keys() & deeper.keys() if "norm" not in name]
    assert len(common) > 20
    assert all(torch.equal(one[name], deeper[name]) for name in common)
    for around in (EncoderDecoder(config, 13), Tagger(config, 5)):
        state = around.state_dict()
        assert all(torch.equal(state[f"encoder.{name}"], tensor) for name, tensor in one.items())


@pytest.mark.parametrize("fused", [False, True])
def test_xavier_fills_its_bounds(fused: bool) -> None:
    tensors = weights(replace(CONFIG, fused_qkv=fused))
    bounds = {"attn.o": 6 / 24, "ffn.up": 6 / 28, "attn.qkv" if fused else "attn.q": 6 / 24}
    bounds = {f"layers.1.{name}": bound for name, bound in bounds.items()} | {"embed.tokens": 3 / 12}
    for name, square in bounds.items():
        largest = tensors[f"{name}.weight"].abs().max().item()
        assert 0.85 * math.sqrt(square) < largest <= math.sqrt(square), name
    assert not any(tensor.any() for name, tensor in tensors.items() if name.endswith("bias"))
    assert all((tensor == 1).all() for name, tensor in tensors.items() if name.endswith("gain"))
