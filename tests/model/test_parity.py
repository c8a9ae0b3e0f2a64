"""Blocks, stacks and the whole transformer against torch.nn's, in fp64: outputs, and every parameter's gradient."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from playground import Encoder, EncoderDecoder, Trace
from playground.model import causal_and_padding, causal_mask
from tests.model.reference import scramble, small_config, torch_names, torch_stack, vectors

B, T, N_WORDS = 3, 7, 13
REAL = torch.arange(T) < torch.tensor([7, 4, 2])[:, None]
SRC = torch.tensor([[4, 2, 8, 1, 5, 3], [7, 7, 1, 0, 0, 0]])
TGT = torch.tensor([[1, 12, 3, 9], [5, 6, 0, 0]])

# Ours says True = may attend; torch's says True = ignore.
MASKS: dict[str, tuple[Tensor | None, dict[str, Tensor]]] = {
    "unmasked": (None, {}),
    "padded": (REAL, {"src_key_padding_mask": ~REAL}),
    "causal": (causal_mask(T), {"mask": ~causal_mask(T)[0]}),
    "both": (causal_and_padding(REAL), {"mask": ~causal_mask(T)[0], "src_key_padding_mask": ~REAL}),
}
NO_PEEK = ~causal_mask(TGT.shape[1])[0]
PAIR_MASKS: dict[str, tuple[tuple[Tensor | None, Tensor | None], dict[str, Tensor]]] = {
    "unmasked": ((None, torch.ones(1, 4, 4, dtype=torch.bool)), {}),
    "no peek": ((None, None), {"tgt_mask": NO_PEEK}),
    "padded": (
        (SRC != 0, TGT != 0),
        {"tgt_mask": NO_PEEK, "tgt_key_padding_mask": TGT == 0, "memory_key_padding_mask": SRC == 0},
    ),
}

VARIANTS: list[dict[str, Any]] = [
    {"norm_placement": placement, "activation": activation, "final_norm": final_norm, "n_layers": n_layers}
    for placement, activation, final_norm, n_layers in product(("post", "pre"), ("relu", "gelu"), (False, True), (1, 3))
]
"""Every architecture that torch.nn has too, as one block and as a stack."""


def gradients(loss: Tensor, model: nn.Module) -> dict[str, Tensor]:
    """The loss's gradient at every parameter, by name."""
    named = dict(model.named_parameters())
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()), retain_graph=True), strict=True))


def under(prefix: str, named: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in named.items() if name.startswith(prefix)}


def assert_close(ours: object, theirs: object) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_an_encoder_is_torchs(variant: dict[str, Any], mask: str) -> None:
    model, x = scramble(Encoder(small_config(vocab_size=0, **variant))).double(), vectors(B, T, 24).double()
    (ours, theirs), torchs = MASKS[mask], torch_stack(model)
    out, expected, weighting = model.encode(x, ours), torchs(x, **theirs), vectors(B, T, 24, seed=8)
    assert_close(out, expected)
    assert_close(model.encode(x, ours, Trace()), expected)
    found, told = gradients((out * weighting).sum(), model), gradients((expected * weighting).sum(), torchs)
    assert_close(torch_names(found), told)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("masks", PAIR_MASKS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_an_encoder_decoder_is_torchs(variant: dict[str, Any], masks: str) -> None:
    model = scramble(EncoderDecoder(small_config(**variant), N_WORDS)).double()
    (src_mask, tgt_mask), theirs = PAIR_MASKS[masks]
    encoder, decoder = torch_stack(model.encoder), torch_stack(model.decoder)
    memory = encoder(model.encoder.embed(SRC), src_key_padding_mask=theirs.get("memory_key_padding_mask"))
    expected = model.fc(decoder(model.decoder.embed(TGT), memory, **theirs))
    out, weighting = model(SRC, TGT, src_mask, tgt_mask), vectors(*expected.shape, seed=8)
    assert_close(out, expected)
    assert_close(model(SRC, TGT, src_mask, tgt_mask, Trace()), expected)
    found = gradients((out * weighting).sum(), model)
    for half, torchs in (("encoder.", encoder), ("decoder.", decoder)):
        assert_close(torch_names(under(half, found)), gradients((expected * weighting).sum(), torchs))
