"""Entropy and rollout against plain loops and cases that can be worked out by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from playground import Encoder, ModelConfig, Trace
from playground.analysis.attention import entropy, highest_entropy, mean_entropy, merge_moves_results, rollout
from playground.model import causal_mask


def random_patterns(seed: int, *shape: int, causal: bool = False) -> NDArray[np.float32]:
    """Patterns (…, T, T) whose rows sum to 1."""
    weights = np.random.default_rng(seed).random((*shape, shape[-1])) ** 3
    if causal:
        weights *= np.tri(shape[-1])
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


def test_entropy_is_the_sum_of_its_definition() -> None:
    patterns = random_patterns(0, 2, 3, 5)
    patterns[0, 0] = np.eye(5)
    patterns[0, 1] = np.tri(5, k=-1) / 4  # the first query is masked
    bits = entropy(patterns)
    assert bits.shape == (2, 3, 5)
    assert not np.signbit(bits).any()
    for index in np.ndindex(2, 3, 5):
        assert bits[index] == pytest.approx(-sum(p * math.log2(p) for p in patterns[index].tolist() if p > 0), abs=1e-5)


def test_the_mean_is_over_the_rows_that_count() -> None:
    patterns = random_patterns(1, 2, 3, 4)
    rows = np.array([True, False, True, False])
    means = mean_entropy(patterns, rows)
    assert means.shape == (2, 3)
    np.testing.assert_allclose(means, (entropy(patterns)[:, :, 0] + entropy(patterns)[:, :, 2]) / 2, rtol=1e-6)


@given(seed=st.integers(0, 1000), n_layers=st.integers(1, 4), n_heads=st.integers(1, 3), n_tokens=st.integers(1, 6),
       causal=st.booleans(), residual=st.booleans())  # fmt: skip
def test_rollout_is_the_plain_loop_and_its_rows_sum_to_one(
    seed: int, n_layers: int, n_heads: int, n_tokens: int, causal: bool, residual: bool
) -> None:
    patterns = random_patterns(seed, n_layers, n_heads, n_tokens, causal=causal)
    shares = rollout(patterns, residual=residual)
    assert shares.shape == (n_layers, n_tokens, n_tokens)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    expected = np.eye(n_tokens)
    for layer in range(n_layers):
        mean = sum(patterns[layer, head].astype(float) for head in range(n_heads)) / n_heads
        mixing = (mean + np.eye(n_tokens)) / 2 if residual else mean
        new = np.zeros((n_tokens, n_tokens))
        for query in range(n_tokens):
            for middle in range(n_tokens):
                new[query] += mixing[query, middle] * expected[middle]
        expected = new
        np.testing.assert_allclose(shares[layer], expected, atol=1e-5)
    if causal:
        assert np.allclose(np.triu(shares[-1], 1), 0)


@pytest.mark.parametrize("causal", [False, True])
def test_the_highest_entropy_is_that_of_even_attention(causal: bool) -> None:
    allowed = np.tril(np.ones((4, 4), bool)) if causal else np.ones((4, 4), bool)
    allowed[:, 3] = False  # padding
    rows = np.array([True, True, True, False])
    even = (allowed / allowed.sum(axis=1, keepdims=True)).astype(np.float32)
    most = highest_entropy(allowed, rows)
    assert most == pytest.approx(float(mean_entropy(even[None, None], rows)[0, 0]), abs=1e-6)
    assert most == pytest.approx(math.log2(6) / 3 if causal else math.log2(3))


def test_rollout_without_residual_keeps_a_masked_row_empty() -> None:
    patterns = np.zeros((2, 1, 2, 2), dtype=np.float32)
    patterns[:, 0, 1] = [0.25, 0.75]
    shares = rollout(patterns, residual=False)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares[0], [[0.0, 0.0], [0.25, 0.75]])
    np.testing.assert_allclose(shares[1].sum(axis=-1), [0.0, 0.75])


def test_nothing_is_written_into_the_patterns() -> None:
    patterns = random_patterns(2, 2, 2, 3)
    patterns.flags.writeable = False
    before = patterns.copy()
    mean_entropy(patterns, np.ones(3, dtype=bool))
    rollout(patterns)
    assert np.array_equal(patterns, before)


@pytest.mark.parametrize(
    ("merge", "n_heads", "n_tokens"),
    [("transpose", 4, 6), ("reshape", 4, 6), ("reshape", 2, 2), ("reshape", 1, 6), ("reshape", 4, 1)],
)
def test_where_the_merge_moves_results_a_token_without_a_share_changes_outputs(
    merge: str, n_heads: int, n_tokens: int
) -> None:
    sizes = {"vocab_size": 0, "d_model": 16, "n_heads": n_heads, "n_layers": 2, "d_ff": 64}
    config = ModelConfig(**sizes, positions="none", head_merge=merge)  # type: ignore[arg-type]
    encoder, trace, mask = Encoder(config, seed=0).double(), Trace(), causal_mask(n_tokens)
    x = torch.randn(1, n_tokens, 16, generator=torch.Generator().manual_seed(0)).double()
    other = x.clone()
    other[:, -1] += 0.3
    with torch.inference_mode():
        before, after = encoder.encode(x, mask, trace), encoder.encode(other, mask)
    moved = (after - before).abs().amax(-1)[0].numpy() > 0.01
    share = rollout(np.stack([trace[f"layers.{i}.attn.pattern"][0].numpy() for i in range(2)]))[-1][:, -1]
    assert not share[:-1].any(), "later tokens are masked"
    assert moved[:-1].any() == merge_moves_results(config, n_tokens)
    assert moved[-1]
