"""Pairs from the most similar down, and the tokens that they have in common."""

import numpy as np

from playground.analysis.sentences import Pair, common_tokens, rank_pairs, spread_of_pairs
from playground.text import words
from playground.weights.checkpoint import load

MATRIX = np.array([[1, 0.2, 0.9], [0.2, 1, 0.2], [0.9, 0.2, 1]], np.float32)


def test_pairs_are_ranked_and_equal_ones_stay_in_their_order() -> None:
    pairs = rank_pairs(MATRIX)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 2), (0, 1), (1, 2)]
    assert pairs[0] == Pair(0, 2, float(np.float32(0.9)))
    assert rank_pairs(MATRIX[:1, :1]) == []
    np.testing.assert_allclose(spread_of_pairs(MATRIX), (0.2, 0.9))


def test_tokens_in_common_are_counted_once_and_special_ones_never() -> None:
    sentences = ["the dog bit the man", "the man bit the dog", "the cat", "x"]
    expected = np.array([[1, 1, 1 / 5, 0], [1, 1, 1 / 5, 0], [1 / 5, 1 / 5, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(common_tokens(words(sentences).encode_batch(sentences)), expected)
    _, wordpiece = load("minilm")
    np.testing.assert_allclose(common_tokens(wordpiece.encode_batch(sentences)), expected)
    marked = ["It rains.", "The sun shines.", "it, rains!", "..."]
    shared = common_tokens(wordpiece.encode_batch(marked))
    np.testing.assert_allclose(shared[0], [1, 0, 1, 0])
    assert not shared[3].any()
    empty = wordpiece.encode_batch(["\u200b", "\u200b"])
    assert not common_tokens(empty).any()
