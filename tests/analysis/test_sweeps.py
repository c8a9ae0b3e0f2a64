"""Each number of a sweep is that of a run with the variant, or of weights without what it switches off."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis import comparison
from playground.analysis.comparison import measure_variants
from playground.analysis.sentences import sentence_vector
from playground.errors import InterventionError
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(["a cat", "a bat", "a cat", "a longer cat"])


def cosine(one: Array, two: Array) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize("causal", [False, True])
def test_every_effect_is_that_of_a_run_without_the_part(causal: bool) -> None:
    untouched = run(ENCODER, BATCH, causal=causal)
    before, others = sentence_vector(untouched), np.eye(3, 16, dtype=np.float32)
    parts = [*comparison.list_heads(CONFIG), *comparison.list_sublayers(CONFIG), *comparison.list_cuts(untouched, 1, 2)]
    score = comparison.score_change(untouched, others)
    found = measure_variants([[part] for part in parts], score, ENCODER, BATCH, untouched, causal=causal)
    assert found.shape == (len(parts), 1 + 3)
    for part, (relative, *similarities) in zip(parts, found, strict=True):
        after = sentence_vector(run(ENCODER, BATCH, causal=causal, interventions=[part]))
        assert relative == pytest.approx(np.linalg.norm(after - before) / np.linalg.norm(before), abs=1e-5)
        assert similarities == pytest.approx([cosine(after, other) for other in others], abs=1e-5)
    assert found[: 12 + 6, 0].min() > 1e-4


def test_pairs_are_all_that_a_head_may_link_but_last_keys() -> None:
    assert comparison.list_pairs(run(ENCODER, BATCH), 0) == [(query, key) for query in range(5) for key in range(5)]
    causal = comparison.list_pairs(run(ENCODER, BATCH, causal=True), 0)
    assert causal == [(query, key) for query in range(1, 5) for key in range(query + 1)]


def test_each_share_of_a_patch_is_that_of_a_run_with_it() -> None:
    runs = [run(ENCODER, BATCH, sentence) for sentence in range(4)]
    start, goal = (sentence_vector(each) for each in runs[:2])
    patches = comparison.list_patches(3, 5, 1)
    score, sources = comparison.score_nearness(runs[0], runs[1]), {1: runs[1].arrays}
    shares = measure_variants([[patch] for patch in patches], score, ENCODER, BATCH, runs[0], sources=sources)[:, 0]
    for patch, share in zip(patches, shares, strict=True):
        patched = sentence_vector(run(ENCODER, BATCH, 0, interventions=[patch]))
        expected = 1 - np.linalg.norm(patched - goal) / np.linalg.norm(start - goal)
        assert share == pytest.approx(expected, abs=1e-4)
    np.testing.assert_allclose(shares[:5], [0, 0, 1, 0, 0], atol=1e-4, err_msg="all lies at the word that differs")
    assert np.abs(shares.reshape(4, 5)[1:, [0, 1, 3, 4]]).max() > 1e-3
    same, other = ([[comparison.list_patches(3, 5, source)[0]]] for source in (2, 3))
    nearer = measure_variants(same, comparison.score_nearness(runs[0], runs[2]), ENCODER, BATCH, runs[0])
    assert np.isnan(nearer).all()
    with pytest.raises(InterventionError, match="5 and 12 tokens"):
        measure_variants(other, score, ENCODER, BATCH, runs[0])


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
    order, untouched = comparison.order_at_random(CONFIG, 1), run(ENCODER, BATCH, causal=causal)
    removals = [comparison.remove_heads(order, n, CONFIG) for n in comparison.pruned_sizes(CONFIG)]
    score = comparison.score_similarity(untouched)
    left = measure_variants(removals, score, ENCODER, BATCH, untouched, causal=causal)
    before = untouched.arrays["final"][:5].mean(0)
    for n in range(13):
        pruned = run(without_columns(list(order[:n])), BATCH, causal=causal)
        assert left[n, 0] == pytest.approx(cosine(before, pruned.arrays["final"][:5].mean(0)), abs=1e-5)
    assert left[0] == 1


def test_orders_hold_every_head_once() -> None:
    effects = np.array([[0.2, 0.1, np.nan, 0.1]] * 3, np.float32)
    assert comparison.order_by_effect(effects) == (1, 3, 5, 7, 9, 11, 0, 4, 8, 2, 6, 10)
    drawn = comparison.order_at_random(CONFIG, 0)
    assert sorted(drawn) == list(range(12))
    assert drawn != comparison.order_at_random(CONFIG, 1)
    assert drawn == comparison.order_at_random(CONFIG, 0)
    assert comparison.remove_heads((7, 0, 11), 2, CONFIG) == [Change("zero", 0, 0), Change("zero", 1, 3)]


@pytest.mark.parametrize(
    ("n_layers", "n_heads", "n_sizes", "last"), [(1, 1, 2, 1), (6, 12, 37, 72), (12, 12, 37, 144), (5, 15, 26, 75)]
)
def test_a_curve_has_few_points(n_layers: int, n_heads: int, n_sizes: int, last: int) -> None:
    sizes = comparison.pruned_sizes(ModelConfig(vocab_size=0, d_model=720, n_heads=n_heads, n_layers=n_layers))
    assert (len(sizes), sizes[0], sizes[-1]) == (n_sizes, 0, last)
