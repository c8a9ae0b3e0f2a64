"""Attention weights before they are drawn: thumbnails that lose no peak, and the order of a row."""

import numpy as np

from playground.charts.weights import MOST_DOTS, THUMBNAIL, ranked_keys, shrink


def test_short_patterns_are_shown_dot_by_dot_and_long_ones_never_lose_a_peak() -> None:
    short = np.ones((1, 1, THUMBNAIL, THUMBNAIL), np.float32)
    assert shrink(short) is short
    long = np.zeros((1, 1, 100, 100), dtype=np.float32)
    long[0, 0, 99, 57] = 0.75
    dots = shrink(long)
    assert dots.shape == (1, 1, 20, 20)
    assert dots[0, 0, 19, 11] == 0.75
    assert dots.sum() == 0.75


def test_few_queries_keep_their_dots_beside_many_keys() -> None:
    wide = np.random.default_rng(0).random((2, 4, 3, 2 * THUMBNAIL))
    np.testing.assert_array_equal(shrink(wide), np.maximum(wide[..., ::2], wide[..., 1::2]))


def test_thousands_of_thumbnails_have_few_dots_each() -> None:
    patterns = np.zeros((96, 96, 20, 20), dtype=np.float32)
    patterns[95, 3, 19, 7] = 0.5
    dots = shrink(patterns)
    assert dots.shape[:2] == (96, 96)
    assert dots.size <= MOST_DOTS
    assert dots[95, 3].max() == dots.sum() == 0.5


def test_the_ranking_falls_from_the_heaviest_weight() -> None:
    row = np.array([0.1, 0.3, 0.05, 0.4, 0.15, 0.0], dtype=np.float32)
    allowed = np.array([True, True, True, True, True, False])
    assert ranked_keys(row, allowed) == [3, 1, 4, 0, 2]
    assert ranked_keys(row, allowed, most=2) == [3, 1]
