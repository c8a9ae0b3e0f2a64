"""Each number of a sweep is that of a run with the variant, or of weights without what it switches off."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis import comparison
from playground.analysis.comparison import measure_variants
from playground.analysis.sentences import sentence_vector
from playground.errors import InterventionError
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
