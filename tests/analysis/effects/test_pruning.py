"""Heads taken out one after the other, against attention whose output is cut by hand."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.part_importance import (
    measure_pruning,
    order_at_random,
    order_by_effect,
    pruned_sizes,
    remove_heads,
)
from playground.model.interventions import ZeroHead
from playground.runs import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
BATCH = characters().encode_batch(["a cat", "a much longer cat"])


def without_columns(numbers: list[int]) -> Encoder:
    """The encoder whose W_O reads nothing of these heads."""
    encoder = scramble(Encoder(CONFIG, seed=5))
    with torch.no_grad():
        for number in numbers:
            layer, head = divmod(number, 4)
            encoder.get_parameter(f"layers.{layer}.attn.o.weight")[:, 4 * head : 4 * head + 4] = 0
    return encoder


@pytest.mark.parametrize("causal", [False, True])
def test_what_is_left_is_that_of_weights_without_these_heads(causal: bool) -> None:
    encoder, order = scramble(Encoder(CONFIG, seed=5)), order_at_random(CONFIG, 1)
    untouched = run(encoder, BATCH, causal=causal)
    removals = [remove_heads(order, n, CONFIG) for n in pruned_sizes(CONFIG)]
    left = measure_pruning(encoder, BATCH, 0, untouched, removals, causal=causal)
    before = torch.tensor(untouched.arrays["final"][:5]).mean(0)
    for n in range(13):
        pruned = run(without_columns(list(order[:n])), BATCH, causal=causal)
        after = torch.tensor(pruned.arrays["final"][:5]).mean(0)
        assert left[n] == pytest.approx(float(torch.cosine_similarity(before, after, dim=0)), abs=1e-5)
    assert left[0] == 1


def test_orders_hold_every_head_once() -> None:
    effects = np.array([[0.2, 0.1, np.nan, 0.1]] * 3, np.float32)
    assert order_by_effect(effects) == (1, 3, 5, 7, 9, 11, 0, 4, 8, 2, 6, 10)
    drawn = order_at_random(CONFIG, 0)
    assert sorted(drawn) == list(range(12))
    assert drawn != order_at_random(CONFIG, 1)
    assert drawn == order_at_random(CONFIG, 0)
    assert remove_heads((7, 0, 11), 2, CONFIG) == [ZeroHead(0, 0), ZeroHead(1, 3)]


@pytest.mark.parametrize(
    ("n_layers", "n_heads", "n_sizes", "last"), [(1, 1, 2, 1), (6, 12, 37, 72), (12, 12, 37, 144), (5, 15, 26, 75)]
)
def test_a_curve_has_few_points(n_layers: int, n_heads: int, n_sizes: int, last: int) -> None:
    sizes = pruned_sizes(ModelConfig(vocab_size=0, d_model=720, n_heads=n_heads, n_layers=n_layers))
    assert (len(sizes), sizes[0], sizes[-1]) == (n_sizes, 0, last)
