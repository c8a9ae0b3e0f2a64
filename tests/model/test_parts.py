"""Attention, feed-forward, norms and position tables against their formulas in NumPy float64 and plain Python."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import ModelConfig, Trace
from playground.config import Activation, HeadMerge
from playground.model.attention import Attention, AttentionMask, causal_mask, over_heads
from playground.model.blocks import FeedForward
from playground.model.init import initialise
from playground.model.norms import LayerNorm, RMSNorm, ScalarNorm
from playground.model.positions import alibi_slopes, sinusoids
from tests.model.reference import (
    Array,
    attention_float64,
    float64,
    scalar_norm,
    scramble,
    sinusoid,
    vectors,
)

B, T = 3, 6


def new(*, fused: bool = False, merge: HeadMerge = "transpose", n_heads: int = 4) -> Attention:
    config = ModelConfig(vocab_size=0, d_model=12, n_heads=n_heads, fused_qkv=fused, head_merge=merge)
    attention = Attention(config)
    initialise(attention, seed=0)
    return scramble(attention).eval()


def some_keys() -> Tensor:
    return torch.arange(T) < torch.tensor([6, 4, 1])[:, None]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("n_heads", [1, 4, 12])
@pytest.mark.parametrize("merge", ["transpose", "reshape"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("mask", [None, some_keys(), causal_mask(T)], ids=["unmasked", "padded", "causal"])
def test_attention_is_the_formulas(
    mask: Tensor | None, crossed: bool, fused: bool, merge: HeadMerge, n_heads: int
) -> None:
    attention, x, trace = new(fused=fused, merge=merge, n_heads=n_heads), vectors(B, T, 12), Trace()
    memory = vectors(B, T, 12, seed=3) if crossed else None
    mask = over_heads(mask, B, T, T)
    theirs = np.ones(1, bool) if mask is None else mask.numpy()
    out, pattern = attention_float64(attention, float64(x), theirs, None if memory is None else float64(memory))
    for found in (attention(x, AttentionMask(mask), memory=memory),
                  attention(x, AttentionMask(mask), trace, memory=memory)):  # fmt: skip
        np.testing.assert_allclose(float64(found), out, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["pattern"]), pattern, atol=1e-6, rtol=0)


FORMULAS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("name", FORMULAS)
def test_feed_forward_is_the_formulas(name: Activation, gated: bool) -> None:
    ffn = FeedForward(ModelConfig(vocab_size=0, d_model=6, n_heads=1, d_ff=11, activation=name, gated=gated))
    initialise(ffn, seed=0)
    scramble(ffn).eval()
    x, trace = vectors(2, 5, 6), Trace()
    up = float64(x) @ float64(ffn.up.weight).T + float64(ffn.up.bias)
    hidden = FORMULAS[name](up)
    if ffn.gate is not None:
        gate = float64(x) @ float64(ffn.gate.weight).T + float64(ffn.gate.bias)
        hidden = hidden * gate
    assert (ffn.gate is not None) == gated
    expected = hidden @ float64(ffn.down.weight).T + float64(ffn.down.bias)
    np.testing.assert_allclose(float64(ffn(x, trace)), expected, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["up"]), up, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["hidden"]), hidden, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["out"]), expected, atol=1e-5, rtol=0)


D_MODEL = 7
KINDS: dict[str, Any] = {"layer": LayerNorm, "scalar": ScalarNorm, "rms": RMSNorm}


def new_norm(kind: str, eps: float = 1e-5) -> Any:
    norm = ScalarNorm(eps) if kind == "scalar" else KINDS[kind](D_MODEL, eps)
    initialise(norm, seed=0)
    return scramble(norm)


@pytest.fixture(params=["spread", "offset", "constant"])
def x(request: pytest.FixtureRequest) -> Tensor:
    """Inputs with a deviation of about 3, far from zero, and without any deviation."""
    return {
        "spread": 3 * vectors(2, 5, D_MODEL),
        "offset": vectors(2, 5, D_MODEL) + 20,
        "constant": torch.full((2, 5, D_MODEL), 4.0),
    }[request.param]


@pytest.fixture(params=[1e-5, 0.3])
def eps(request: pytest.FixtureRequest) -> float:
    """A usual one, and one large enough that its place in the formula shows."""
    value: float = request.param
    return value


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_norm_is_torchs_or_tutorial_as(kind: str, x: Tensor, eps: float, traced: bool) -> None:
    norm = new_norm(kind, eps)
    if isinstance(norm, LayerNorm):
        expected = float64(F.layer_norm(x, (D_MODEL,), norm.gain, norm.bias, eps))
    elif isinstance(norm, RMSNorm):
        expected = float64(F.rms_norm(x, (D_MODEL,), norm.gain, eps))
    else:
        expected = scalar_norm(float64(x), norm.gain.item(), norm.bias.item(), eps)
    out = norm(x, Trace()) if traced else norm(x)
    np.testing.assert_allclose(float64(out), expected, atol=1e-5, rtol=0)


WIDTHS = [1, 2, 5, 7, 16, 33]


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("d_model", WIDTHS)
def test_every_entry_is_the_formulas(d_model: int, doubled: bool) -> None:
    table = sinusoids(60, d_model, doubled=doubled)
    expected = [[sinusoid(p, c, d_model, doubled=doubled) for c in range(d_model)] for p in range(60)]
    assert table.dtype == torch.float32
    torch.testing.assert_close(table, torch.tensor(expected), atol=1e-7, rtol=0)


@pytest.mark.parametrize(
    ("n_heads", "exponents"), [(4, [2, 4, 6, 8]), (6, [2, 4, 6, 8, 1, 3]), (12, [*range(1, 9), 0.5, 1.5, 2.5, 3.5])]
)
def test_alibis_slopes_are_powers_of_2_and_between_them_for_the_other_heads(
    n_heads: int, exponents: list[float]
) -> None:
    assert alibi_slopes(n_heads).tolist() == pytest.approx([2**-each for each in exponents])
