"""A patched vector brings what it holds of the other sentence, and nothing where the two are the same."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.part_importance import list_patches, measure_patches
from playground.analysis.vector_changes import sentence_vector
from playground.errors import InterventionError
from playground.runs import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(["a cat", "a bat", "a cat", "a longer cat"])


def test_each_share_is_that_of_a_run_with_the_patch() -> None:
    runs = run(ENCODER, BATCH, 0), run(ENCODER, BATCH, 1)
    maps = list(measure_patches(ENCODER, BATCH, 0, 1, runs))
    assert [int(np.isfinite(each).sum()) for each in maps] == [5, 10, 15, 20]
    start, goal = (sentence_vector(each) for each in runs)
    for patch, share in zip(list_patches(3, 5, 1), maps[-1].ravel(), strict=True):
        patched = sentence_vector(run(ENCODER, BATCH, 0, interventions=[patch]))
        expected = 1 - np.linalg.norm(patched - goal) / np.linalg.norm(start - goal)
        assert share == pytest.approx(expected, abs=1e-4)


def test_before_the_first_block_all_lies_at_the_word_that_differs() -> None:
    runs = run(ENCODER, BATCH, 0), run(ENCODER, BATCH, 1)
    shares = list(measure_patches(ENCODER, BATCH, 0, 1, runs))[-1]
    np.testing.assert_allclose(shares[0], [0, 0, 1, 0, 0], atol=1e-4)
    assert np.abs(shares[1:, [0, 1, 3, 4]]).max() > 1e-3


def test_equal_sentences_have_no_way_and_unequal_lengths_no_patch() -> None:
    runs = [run(ENCODER, BATCH, sentence) for sentence in range(4)]
    assert np.isnan(list(measure_patches(ENCODER, BATCH, 0, 2, (runs[0], runs[2])))[-1]).all()
    with pytest.raises(InterventionError, match="5 and 12 tokens"):
        list(measure_patches(ENCODER, BATCH, 0, 3, (runs[0], runs[3])))
