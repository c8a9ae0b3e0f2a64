"""The decoder's block: against torch.nn's, and what its trace says."""

from typing import Any

import pytest
import torch
from torch import Tensor

from playground import ModelConfig, Trace
from playground.config import Activation, HeadMerge, NormPlacement
from playground.model import causal_and_padding, causal_mask
from playground.model.attention import Attention
from playground.model.decoder import Decoder, DecoderBlock
from playground.model.init import initialise
from playground.model.masks import AttentionMask, no_peek
from tests.model.reference import scramble, torch_decoder_layer, vectors

B, T_SOURCE, T_TARGET, D_MODEL = 3, 7, 5, 24
SOURCE = torch.arange(T_SOURCE) < torch.tensor([7, 4, 2])[:, None]
TARGET = torch.arange(T_TARGET) < torch.tensor([3, 5, 1])[:, None]


def config_of(**fields: Any) -> ModelConfig:
    sizes = {"vocab_size": 9, "d_model": D_MODEL, "n_heads": 3, "n_layers": 2, "d_ff": 40, "max_len": 16}
    return ModelConfig(**sizes | fields)


def block_of(config: ModelConfig) -> DecoderBlock:
    block = DecoderBlock(config)
    initialise(block, seed=0)
    return scramble(block).eval()


# Ours says True = may attend; torch's says True = ignore.
MASKS: dict[str, tuple[tuple[Tensor | None, Tensor | None], dict[str, Tensor]]] = {
    "unmasked": ((None, None), {}),
    "no peek": ((causal_mask(T_TARGET)[:, None], None), {"tgt_mask": ~causal_mask(T_TARGET)[0]}),
    "padded": (
        (causal_and_padding(TARGET)[:, None], SOURCE[:, None, None]),
        {
            "tgt_mask": ~causal_mask(T_TARGET)[0],
            "tgt_key_padding_mask": ~TARGET,
            "memory_key_padding_mask": ~SOURCE,
        },
    ),
}


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_a_block_is_torchs_layer(norm_placement: NormPlacement, activation: Activation, masks: str) -> None:
    config = config_of(norm_placement=norm_placement, activation=activation)
    block = block_of(config)
    x, memory = vectors(B, T_TARGET, D_MODEL), vectors(B, T_SOURCE, D_MODEL, seed=3)
    (mask, memory_mask), theirs = MASKS[masks]
    expected = torch_decoder_layer(config, block.state_dict())(x, memory, **theirs)
    torch.testing.assert_close(
        block(x, memory, AttentionMask(mask), AttentionMask(memory_mask)), expected, atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(
        block(x, memory, AttentionMask(mask), AttentionMask(memory_mask), Trace()), expected, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_gradients_reach_target_and_memory_as_torchs_do(norm_placement: NormPlacement) -> None:
    config = config_of(norm_placement=norm_placement)
    block = block_of(config)
    layer = torch_decoder_layer(config, block.state_dict())
    x, memory = vectors(B, T_TARGET, D_MODEL), vectors(B, T_SOURCE, D_MODEL, seed=3)
    (mask, memory_mask), theirs = MASKS["padded"]
    weighting = vectors(B, T_TARGET, D_MODEL, seed=4)
    x.requires_grad_()
    memory.requires_grad_()
    ours = torch.autograd.grad(
        (block(x, memory, AttentionMask(mask), AttentionMask(memory_mask)) * weighting).sum(), (x, memory)
    )
    expected = torch.autograd.grad((layer(x, memory, **theirs) * weighting).sum(), (x, memory))
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("merge", ["transpose", "reshape"])
def test_fused_cross_attention_takes_queries_from_the_target_alone(merge: HeadMerge) -> None:
    separate, fused = (Attention(config_of(fused_qkv=fused, head_merge=merge)) for fused in (False, True))
    initialise(separate, seed=0)
    scramble(separate)
    with torch.no_grad():
        for kind in ("weight", "bias"):
            heads = [getattr(getattr(separate, p), kind).unflatten(0, (3, 8)) for p in "qkv"]
            getattr(fused.qkv, kind).copy_(torch.stack(heads, dim=1).flatten(0, 2))
            getattr(fused.o, kind).copy_(getattr(separate.o, kind))
    x, memory = vectors(B, T_TARGET, D_MODEL), vectors(B, T_SOURCE, D_MODEL, seed=3)
    outputs = [
        attention.eval()(x, AttentionMask(SOURCE[:, None, None]), memory=memory) for attention in (separate, fused)
    ]
    torch.testing.assert_close(outputs[0], outputs[1])


def test_attending_to_oneself_is_self_attention() -> None:
    attention = block_of(config_of()).self_attn
    x = vectors(B, T_TARGET, D_MODEL)
    torch.testing.assert_close(attention(x, memory=x), attention(x))


def traced(config: ModelConfig) -> tuple[Tensor, Tensor, Trace]:
    """The input and output of a block, and its trace."""
    trace, x, memory = Trace(), vectors(B, T_TARGET, D_MODEL), vectors(B, T_SOURCE, D_MODEL, seed=3)
    mask, memory_mask = AttentionMask(causal_mask(T_TARGET)[:, None]), AttentionMask(SOURCE[:, None, None])
    out = block_of(config)(x, memory, mask, memory_mask, trace)
    return x, out, trace


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_each_sublayer_reads_the_stream_and_is_added_to_it(norm_placement: NormPlacement, residual: bool) -> None:
    stream, out, trace = traced(config_of(norm_placement=norm_placement, residual=residual))
    sublayers = (
        ("self_attn", "norm1", "resid_mid"),
        ("cross_attn", "norm2", "resid_cross"),
        ("ffn", "norm3", "resid_post"),
    )
    for sublayer, norm, added in sublayers:
        assert torch.equal(trace[added], trace[f"{sublayer}.out"] + (stream if residual else 0))
        if norm_placement == "pre":
            assert trace[f"{norm}.in"] is stream
            assert trace[f"{sublayer}.in"] is trace[f"{norm}.out"]
            stream = trace[added]
        else:
            assert trace[f"{sublayer}.in"] is stream
            assert trace[f"{norm}.in"] is trace[added]
            stream = trace[f"{norm}.out"]
    assert torch.equal(trace["out"], stream)
    assert torch.equal(out, stream)


@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_a_trace_has_these_names_and_shapes(norm_placement: NormPlacement) -> None:
    _, _, trace = traced(config_of(norm_placement=norm_placement))
    stream, target, source = (B, T_TARGET, D_MODEL), (B, 3, T_TARGET, 8), (B, 3, T_SOURCE, 8)
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys((f"self_attn.{name}" for name in ("q", "k", "v", "z")), target),
        **dict.fromkeys(("cross_attn.q", "cross_attn.z"), target),
        **dict.fromkeys(("cross_attn.k", "cross_attn.v"), source),
        **{f"self_attn.{name}": (B, 3, T_TARGET, T_TARGET) for name in ("scores", "pattern")},
        **{f"cross_attn.{name}": (B, 3, T_TARGET, T_SOURCE) for name in ("scores", "pattern")},
        **{f"{sublayer}.{end}": stream for sublayer in ("self_attn", "cross_attn", "ffn") for end in ("in", "out")},
        **{f"ffn.{name}": (B, T_TARGET, 40) for name in ("up", "hidden")},
        **{f"norm{n}.{name}": stream for n in (1, 2, 3) for name in ("in", "normalized", "out")},
        **dict.fromkeys(("resid_mid", "resid_cross", "resid_post", "out"), stream),
    }
    assert {name: tuple(tensor.shape) for name, tensor in trace.items()} == shapes


def test_no_peek_hides_what_lies_ahead_and_padding() -> None:
    assert torch.equal(no_peek(None, B, T_TARGET), causal_mask(T_TARGET)[:, None])
    assert torch.equal(no_peek(TARGET, B, T_TARGET), causal_and_padding(TARGET)[:, None])


@pytest.mark.parametrize("n_sentences", [1, B])
def test_an_explicit_mask_takes_the_place_of_no_peek(n_sentences: int) -> None:
    everything = torch.ones(n_sentences, T_TARGET, T_TARGET, dtype=torch.bool)
    assert torch.equal(no_peek(everything, B, T_TARGET), everything[:, None])


@pytest.mark.parametrize("mask", [torch.ones(B, T_TARGET + 1), torch.ones(T_TARGET), torch.ones(2, T_TARGET, T_TARGET)])
def test_a_targets_mask_of_another_shape_is_named(mask: Tensor) -> None:
    with pytest.raises(ValueError, match="fits neither keys") as caught:
        no_peek(mask.bool(), B, T_TARGET)
    assert str(tuple(mask.shape)) in str(caught.value)


def test_a_decoder_embeds_the_targets_words() -> None:
    decoder = Decoder(config_of(final_norm=True), tgt_vocab_size=13)
    initialise(decoder, seed=0)
    trace = Trace()
    out = decoder.eval()(torch.tensor([[12, 0]]), vectors(1, T_SOURCE, D_MODEL), trace=trace)
    assert decoder.config.vocab_size == 13
    assert trace["embed.out"].shape == out.shape == (1, 2, D_MODEL)
    assert torch.equal(out, trace["final_norm.out"])
    assert torch.equal(out, trace["final"])
