"""The cosine of two sentences as a sum over pairs of tokens."""

import numpy as np
import pytest

from playground.analysis.sentences import read_depths, token_contributions, token_weights
from playground.analysis.vector_changes import POOLINGS, Pooling, pool
from playground.weights.checkpoint import load

SENTENCES = ["The film was good.", "The film was not good.", "I enjoyed the movie, which was long."]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_trained_models_contributions_add_up_to_its_cosines(pooling: Pooling) -> None:
    encoder, tokenizer = load("minilm")
    depths = read_depths(encoder, tokenizer.encode_batch(SENTENCES))
    similarity = depths.similarity(pooling)
    for i in range(3):
        for j in range(3):
            first, second = ((depths.final[side], depths.padding[side]) for side in (i, j))
            parts = token_contributions(first, second, pooling)
            assert parts.sum() == pytest.approx(float(similarity[i, j]), abs=1e-5)


def test_with_the_mean_a_part_is_the_dot_product_over_both_numbers_of_tokens() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, 8)).astype(np.float32) for n in (3, 5))
    padding_x, padding_y = np.array([False, False, True]), np.zeros(5, bool)
    parts = token_contributions((x, padding_x), (y, padding_y), "mean")
    lengths = np.linalg.norm(x[:2].mean(0)) * np.linalg.norm(y.mean(0))
    for i in range(2):
        for j in range(5):
            assert parts[i, j] == pytest.approx(x[i] @ y[j] / (2 * 5 * lengths), abs=1e-6)
    assert not parts[2].any(), "padding takes no part"
    assert token_contributions((x, padding_x), (y, padding_y), "mean with padding")[2].any()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_weights_are_those_of_the_pooling(pooling: Pooling) -> None:
    vectors = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    padding = np.array([False, False, True, True])
    weights = token_weights(padding, pooling)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights @ vectors, pool(vectors, padding, pooling), atol=1e-6)


def test_a_vector_of_zeros_has_no_parts() -> None:
    nothing, something = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
    padding = np.zeros(2, bool)
    assert not token_contributions((nothing, padding), (something, padding), "mean").any()
