"""How evenly heads spread, against torch's entropy, and rank correlations that are known."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.attention import pattern_spread, rank_correlation
from playground.runs import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
BATCH = characters().encode_batch(["a cat", "a much longer cat"])


@pytest.mark.parametrize("causal", [False, True])
def test_spread_is_the_mean_entropy_by_the_highest(causal: bool) -> None:
    computed = run(scramble(Encoder(CONFIG, seed=5)), BATCH, causal=causal)
    spread = pattern_spread(computed)
    assert spread.shape == (3, 4)
    for layer in range(3):
        rows = torch.tensor(computed.arrays[f"layers.{layer}.attn.pattern"])[:, :5, :5]
        entropies = torch.special.entr(rows).sum(-1)  # (H, 5), in nats
        n_keys = torch.arange(1.0, 6) if causal else torch.full((5,), 5.0)
        np.testing.assert_allclose(spread[layer], entropies.mean(-1) / n_keys.log().mean(), rtol=1e-4)


def test_even_heads_have_1_and_a_single_token_has_none() -> None:
    still = Encoder(CONFIG, seed=0)
    with torch.no_grad():
        for layer in range(3):
            still.get_parameter(f"layers.{layer}.attn.q.weight").zero_()
    np.testing.assert_allclose(pattern_spread(run(still, BATCH)), 1, atol=1e-6)
    assert np.isnan(pattern_spread(run(still, characters().encode_batch(["a"])))).all()


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 1000], 1),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1),
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 1 - 6 * 4 / (5 * 24)),  # 1 − 6 Σd² / (n (n² − 1))
        ([1, 1, 2], [1, 2, 3], np.sqrt(3) / 2),  # ranks ½, ½, 2 and 0, 1, 2
        ([1, np.nan, 2, 3], [3, 9, 2, 1], -1),
        ([1, 1, 1], [1, 2, 3], np.nan),
        ([1, 2], [1, 2], np.nan),
        ([np.nan] * 4, [1, 2, 3, 4], np.nan),
    ],
)
def test_rank_correlations(one: list[float], two: list[float], expected: float) -> None:
    assert rank_correlation(np.array(one), np.array(two)) == pytest.approx(expected, nan_ok=True)
