"""One principal component analysis for all depths: against the eigenvectors of the covariance."""

import numpy as np
import pytest

from playground.analysis.sentences import describe_shares, map_depths
from playground.runs.arrays import Array


def random_vectors(n_depths: int = 4, n_sentences: int = 6, width: int = 10) -> Array:
    rng = np.random.default_rng(3)
    spread = rng.standard_normal((n_depths, n_sentences, width)) * np.arange(1, width + 1)
    return (spread + 50 * rng.standard_normal((n_depths, 1, width))).astype(np.float32)


def test_axes_are_the_covariances_first_eigenvectors_with_its_shares() -> None:
    vectors = random_vectors()
    drawn = map_depths(vectors)
    centred = vectors.astype(np.float64) - vectors.mean(axis=1, keepdims=True, dtype=np.float64)
    flat = centred.reshape(-1, 10)
    values, axes = np.linalg.eigh(flat.T @ flat)
    assert drawn.explained == pytest.approx((values[-1] / values.sum(), values[-2] / values.sum()))
    for number, axis in enumerate((axes[:, -1], axes[:, -2])):
        axis = axis * np.sign(axis[np.abs(axis).argmax()])
        np.testing.assert_allclose(drawn.points[..., number], centred @ axis, atol=1e-6)
    for depth in range(4):
        share = np.square(drawn.points[depth]).sum(axis=0) / np.square(centred[depth]).sum()
        np.testing.assert_allclose(drawn.explained_at[depth], share)


def test_a_depths_own_mean_and_the_sign_of_the_vectors_change_no_picture() -> None:
    vectors = random_vectors()
    drawn = map_depths(vectors).points
    moved = vectors + np.arange(4, dtype=np.float32)[:, None, None]
    np.testing.assert_allclose(map_depths(moved).points, drawn, atol=1e-4)
    turned = map_depths(-vectors).points
    np.testing.assert_allclose(turned, -drawn, atol=1e-6, err_msg="the axes stay, so that the points turn")


def test_a_depth_at_which_all_sentences_are_one_point_has_no_rest_that_is_not_seen() -> None:
    vectors = random_vectors(width=4)
    vectors[0] = vectors[0, :1]  # as the embeddings of [CLS] are
    vectors[1] = vectors[1, :1] * (1 + 1e-7 * np.arange(6, dtype=np.float32)[:, None])  # equal but for rounding
    drawn = map_depths(vectors)
    assert not drawn.explained_at[:2].any()
    assert not drawn.points[:2].any()
    told = [describe_shares(drawn, depth) for depth in range(4)]
    assert ["one point" in each for each in told] == [True, True, False, False]
    assert ["the rest" in each for each in told] == [False, False, True, True]
    assert "at every depth" in describe_shares(map_depths(np.ones((3, 4, 5), np.float32)), 1)
    two_axes = random_vectors(width=2)
    assert describe_shares(map_depths(two_axes), 1).endswith("100 % at this depth.")


@pytest.mark.parametrize(("n_depths", "n_sentences"), [(1, 1), (3, 1), (1, 2), (5, 2)])
def test_few_sentences_or_equal_ones_have_a_map_without_nonsense(n_depths: int, n_sentences: int) -> None:
    for vectors in (random_vectors(n_depths, n_sentences), np.ones((n_depths, n_sentences, 10), np.float32)):
        drawn = map_depths(vectors)
        assert drawn.points.shape == (n_depths, n_sentences, 2)
        assert all(np.isfinite(array).all() for array in (drawn.points, drawn.explained, drawn.explained_at))
        assert sum(drawn.explained) <= 1 + 1e-9
