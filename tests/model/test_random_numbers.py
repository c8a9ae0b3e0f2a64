"""Random matrices: their corners do not depend on their size, and their numbers are as random as they should be."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from playground.model.init import TILE, fill_normal, fill_uniform, standard_normal

Fill = Callable[[np.ndarray, int, str, float], None]
FILLS = [fill_uniform, fill_normal]
ROWS, COLUMNS = TILE


def filled(fill: Fill, rows: int, columns: int, seed: int = 0, name: str = "a", size: float = 1.0) -> np.ndarray:
    matrix = np.full((rows, columns), np.nan, np.float32)
    fill(matrix, seed, name, size)
    return matrix


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(
    "shape",
    [(1, 1), (3, 5), (1, 2 * COLUMNS + 1), (ROWS + 1, 1), (ROWS, COLUMNS), (ROWS - 1, COLUMNS + 1), (2 * ROWS, 9)],
    ids=str,
)
def test_a_smaller_matrix_is_the_corner_of_a_larger_one(fill: Fill, shape: tuple[int, int]) -> None:
    rows, columns = shape
    large = filled(fill, 2 * ROWS + 7, 2 * COLUMNS + 7)
    assert np.array_equal(filled(fill, rows, columns), large[:rows, :columns])


@pytest.mark.parametrize("fill", FILLS)
def test_sizes_scale_every_number(fill: Fill) -> None:
    one, half, third = (filled(fill, 40, 70, size=size) for size in (1, 0.5, 1 / 3))
    assert np.array_equal(half, one / 2)
    np.testing.assert_allclose(third, one / 3, rtol=2e-7)


@pytest.mark.parametrize("fill", FILLS)
def test_a_part_of_a_larger_memory_is_filled_and_nothing_else(fill: Fill) -> None:
    memory = np.zeros((ROWS + 20, 100), np.float32)
    fill(memory[10:-10, 7:90], 0, "a", 1.0)
    assert np.array_equal(memory[10:-10, 7:90], filled(fill, ROWS, 83))
    assert np.count_nonzero(memory) == np.count_nonzero(memory[10:-10, 7:90])


def test_uniform_numbers_are_spread_evenly() -> None:
    numbers = filled(fill_uniform, 1000, 500, size=0.25).ravel()
    assert np.abs(numbers).max() <= 0.25
    counts, _ = np.histogram(numbers, bins=100, range=(-0.25, 0.25))
    assert ((counts - 5000) ** 2 / 5000).sum() < 149  # χ² of 99 degrees of freedom: one in a thousand is larger


def test_normal_numbers_have_the_moments_and_tails_of_the_normal_distribution() -> None:
    numbers = filled(fill_normal, 1000, 1000).ravel().astype(np.float64)
    assert [(numbers**k).mean() for k in (1, 2, 3, 4)] == pytest.approx([0, 1, 0, 3], abs=0.03)
    for limit in (0.5, 1, 2, 3, 4):
        expected = math.erfc(limit / math.sqrt(2)) * numbers.size
        assert abs((np.abs(numbers) > limit).sum() - expected) < 4 * math.sqrt(expected)


def test_normal_numbers_are_box_and_mullers() -> None:
    low, high = -(2**31), 2**31 - 1
    edges = [low, low + 1, -(2**30), -1, 0, 1, 2**30, high - 1, high]
    random = np.random.default_rng(0).integers(low, high, (1000, 2)).tolist()
    integers = np.array([[a, b] for a in edges for b in edges] + random, np.int32)
    u = (integers[:, 0] + (2.0**31 + 0.5)) / 2.0**32
    angle = integers[:, 1] * (math.pi / 2.0**31)
    radius = np.sqrt(-2 * np.log(u))
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    np.testing.assert_allclose(standard_normal(integers), expected, rtol=0, atol=2e-9)


@pytest.mark.parametrize("fill", FILLS)
def test_no_two_matrices_rows_columns_or_tiles_go_together(fill: Fill) -> None:
    by_seed_and_name = [
        filled(fill, ROWS, COLUMNS, seed, name)
        for seed, name in ((0, "a"), (1, "a"), (10, "a"), (0, "b"), (-1, "a"), (2**63 - 1, "a"))
    ]
    large = filled(fill, 2 * ROWS, 2 * COLUMNS, name="large")
    tiles = [large[i : i + ROWS, j : j + COLUMNS] for i in (0, ROWS) for j in (0, COLUMNS)]
    rows = np.corrcoef(large[:200])
    columns = np.corrcoef(large[:, :100].T)
    between = np.corrcoef([matrix.ravel() for matrix in (*by_seed_and_name, *tiles)])
    for correlations, n in ((rows, 2 * COLUMNS), (columns, 2 * ROWS), (between, ROWS * COLUMNS)):
        others = correlations[~np.eye(len(correlations), dtype=bool)]
        assert np.abs(others).max() < 5.5 / math.sqrt(n)
