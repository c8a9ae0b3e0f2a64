"""Attention against the same sums written out in NumPy float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from playground import ModelConfig, Trace
from playground.config import HeadMerge
from playground.model.attention import Attention, AttentionMask, attend, causal_mask, over_heads
from playground.model.init import initialise
from tests.model.reference import attention_float64, float64, scramble, vectors

B, T = 3, 6


def new(*, fused: bool = False, merge: HeadMerge = "transpose", n_heads: int = 4) -> Attention:
    config = ModelConfig(vocab_size=0, d_model=12, n_heads=n_heads, fused_qkv=fused, head_merge=merge)
    attention = Attention(config)
    initialise(attention, seed=0)
    return scramble(attention).eval()


def some_keys() -> Tensor:
    return torch.arange(T) < torch.tensor([6, 4, 1])[:, None]


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


def test_queries_and_keys_may_differ_in_number() -> None:
    q, k, v = vectors(2, 3, 4, 5, seed=1), vectors(2, 3, 7, 5, seed=2), vectors(2, 3, 7, 6, seed=3)
    allowed = torch.rand(2, 1, 4, 7, generator=torch.Generator().manual_seed(4)) < 0.5
    mask, trace = AttentionMask(allowed), Trace()
    torch.testing.assert_close(attend(q, k, v, mask, trace=trace), attend(q, k, v, mask))
    assert trace["pattern"].shape == (2, 3, 4, 7)


def test_equal_keys_share_the_attention_evenly() -> None:
    q, v, trace = vectors(1, 1, 2, 4), vectors(1, 1, 5, 4, seed=3), Trace()
    z = attend(q, torch.ones(1, 1, 5, 4), v, trace=trace)
    torch.testing.assert_close(trace["pattern"], torch.full((1, 1, 2, 5), 0.2))
    torch.testing.assert_close(z, v.mean(2, keepdim=True).expand_as(z))


def test_huge_scores_do_not_overflow() -> None:
    q = 1e4 * vectors(1, 1, 3, 4)
    for trace in (Trace(), None):
        z = attend(q, q, q) if trace is None else attend(q, q, q, trace=trace)
        assert z.isfinite().all()
