"""A tutorial's preset, with the tutorial's weights, computes what the tutorial's own code computed."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from playground import Encoder, EncoderDecoder, ModelConfig, Trace
from playground.model import causal_mask
from playground.model.attention import Attention, AttentionMask
from playground.model.blocks import FeedForward
from playground.model.norms import build_norm
from playground.presets import PRESETS
from playground.weights import load_weights

DATA = Path(__file__).parent / "data"
ON_ATTENTION, ON_OUTPUTS = 1e-5, 2e-5


@dataclass(frozen=True)
class Oracle:
    """One file: its sizes, the tutorial's parameters under the tutorial's names, and what its code computed."""

    sizes: dict[str, Any]
    weights: dict[str, Tensor]
    arrays: dict[str, Tensor]

    def config(self, tutorial: str) -> ModelConfig:
        """The tutorial's preset in the oracle's sizes: every field that says which variant it is stays the preset's."""
        preset = PRESETS[tutorial].config
        sizes = {name: self.sizes[name] for name in ("d_model", "n_heads", "n_layers", "d_ff")}
        vocab_size = self.sizes["vocab_size"] if preset.vocab_size else 0
        return replace(preset, vocab_size=vocab_size, max_len=self.sizes["seq_len"], **sizes)


def read(name: str) -> Oracle:
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: torch.from_numpy(array) for key, array in file.items() if key != "config"}
        sizes = json.loads(str(file["config"]))
    weights = {key.removeprefix("weights/"): arrays.pop(key) for key in list(arrays) if key.startswith("weights/")}
    return Oracle(sizes, weights, arrays)


def assert_close(ours: Tensor, theirs: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(ours.detach(), theirs, rtol=0, atol=tolerance)


FILES = {
    "tutorial-a": "a_prenorm_scalar_norm",
    "tutorial-b": "b_postnorm_walkthrough",
    "tutorial-c": "c_fused_qkv_reshape_merge",
    "tutorial-d": "d_postnorm_gelu_final_norm",
    "tutorial-e": "e_encoder_decoder",
}
ENCODERS = [name for name in FILES if name != "tutorial-e"]


def loaded(tutorial: str, **changes: Any) -> Encoder:
    oracle = read(FILES[tutorial])
    encoder = Encoder(replace(oracle.config(tutorial), **changes), seed=None)
    load_weights(encoder, oracle.weights, tutorial)
    return encoder


def embed(encoder: Encoder, arrays: dict[str, Tensor]) -> Tensor:
    """Ids or raw vectors, whichever the tutorial takes, as they enter the first block."""
    embedded: Tensor = encoder.embed(arrays["ids"]) if "ids" in arrays else encoder.embed_vectors(arrays["x"])
    return embedded


def mask_of(arrays: dict[str, Tensor]) -> Tensor | None:
    """Theirs is of integers over (B, 1, 1, Tk), 1 = a token; ours is boolean over (B, Tk)."""
    return arrays["mask"][:, 0, 0] == 1 if "mask" in arrays else None


@pytest.mark.parametrize("fused_qkv", [False, True])
@pytest.mark.parametrize("tutorial", ENCODERS)
def test_every_stage_of_an_encoder_is_the_tutorials(tutorial: str, fused_qkv: bool) -> None:
    encoder, arrays, trace = loaded(tutorial, fused_qkv=fused_qkv), read(FILES[tutorial]).arrays, Trace()
    assert ("layers.0.attn.qkv.weight" in encoder.state_dict()) == fused_qkv
    mask = mask_of(arrays)
    embedded = embed(encoder, arrays)
    out = encoder.encode(embedded, mask, trace)
    layers = range(encoder.config.n_layers)
    assert_close(embedded, arrays["embedded" if "embedded" in arrays else "x"], ON_OUTPUTS)
    assert_close(torch.stack([trace[f"layers.{i}.attn.pattern"] for i in layers]), arrays["attention"], ON_ATTENTION)
    assert_close(torch.stack([trace[f"layers.{i}.out"] for i in layers]), arrays["block_output"], ON_OUTPUTS)
    assert_close(out, arrays["output"], ON_OUTPUTS)
    assert_close(encoder.encode(embedded, mask), arrays["output"], ON_OUTPUTS)


def test_an_encoder_decoders_outputs_are_the_reference_ones() -> None:
    oracle, trace = read(FILES["tutorial-e"]), Trace()
    model = EncoderDecoder(oracle.config("tutorial-e"), oracle.sizes["tgt_vocab_size"], seed=None)
    load_weights(model, oracle.weights, "tutorial-e")
    ids, tgt = oracle.arrays["ids"], oracle.arrays["tgt"]
    logits = model(ids, tgt, ids != 0, tgt != 0, trace)
    assert_close(trace["encoder.final"], oracle.arrays["encoder_output"], ON_OUTPUTS)
    assert_close(trace["decoder.final"], oracle.arrays["decoder_output"], ON_OUTPUTS)
    assert_close(logits, oracle.arrays["output"], ON_OUTPUTS)
    assert_close(model(ids, tgt, ids != 0, tgt != 0), oracle.arrays["output"], ON_OUTPUTS)


def test_the_additive_causal_mask_is_the_boolean_one() -> None:
    oracle, trace = read("c_fused_qkv_additive_causal_mask"), Trace()
    attention = Attention(oracle.config("tutorial-c")).eval()
    theirs = {"qkv": "attention.qkv_layer", "o": "attention.linear_layer"}
    attention.load_state_dict(
        {f"{ours}.{kind}": oracle.weights[f"{name}.{kind}"] for ours, name in theirs.items() for kind in KINDS}
    )
    mask = causal_mask(oracle.sizes["seq_len"])
    added = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    assert torch.equal(added[0], oracle.arrays["mask"])
    out = attention(oracle.arrays["x"], AttentionMask(mask[:, None]), trace)
    assert_close(trace["pattern"], oracle.arrays["attention"][0], ON_ATTENTION)
    assert_close(out, oracle.arrays["output"], ON_OUTPUTS)
    assert_close(attention(oracle.arrays["x"], AttentionMask(mask[:, None])), oracle.arrays["output"], ON_OUTPUTS)


KINDS = ("weight", "bias")


def test_tutorial_ds_unused_sublayer_is_a_pre_norm_one() -> None:
    oracle = read("d_prenorm_sublayer")
    config = oracle.config("tutorial-d")
    norm, ffn = build_norm(config), FeedForward(config).eval()
    weights = oracle.weights
    norm.load_state_dict({"gain": weights["sublayer.norm.weight"], "bias": weights["sublayer.norm.bias"]})
    theirs = {"up": "ffn.linear1", "down": "ffn.linear2"}
    ffn.load_state_dict(
        {f"{ours}.{kind}": weights[f"{name}.{kind}"] for ours, name in theirs.items() for kind in KINDS}
    )
    x = oracle.arrays["x"]
    assert_close(x + ffn(norm(x)), oracle.arrays["output"], ON_OUTPUTS)
