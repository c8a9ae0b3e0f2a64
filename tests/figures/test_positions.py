"""The positions' figures: what is drawn of a table, ends of colours, bands and names.

That lines, bars and cells hold the numbers of a run, the page's tests say.
"""

import numpy as np
import pandas as pd
import pytest

from playground.figures import palette
from playground.figures import positions as figures
from playground.figures.theme import Array


@pytest.fixture
def rows() -> Array:
    return np.random.default_rng(0).normal(size=(200, 300)).astype(np.float32)


def test_the_table_is_drawn_as_far_as_is_said(rows: Array) -> None:
    figure = figures.table_heatmap(rows)
    heatmap = figure.data[0]
    np.testing.assert_array_equal(heatmap.z, rows[:128, :256])
    assert heatmap.z.dtype == np.float32
    assert heatmap.zmax == -heatmap.zmin == pytest.approx(np.percentile(np.abs(rows[:128, :256]), 99))
    assert figure.layout.yaxis.autorange == "reversed"
    zeros = figures.table_heatmap(np.zeros((2, 2), np.float32)).data[0]
    assert (zeros.zmin, zeros.zmax) == (-1, 1)


def test_offsets_have_a_line_and_a_band() -> None:
    offsets = pd.DataFrame({"mean": [4.0, 3, 2], "lowest": [1.0, 2, 2], "highest": [9.0, 4, 2]})
    figure = figures.by_offset(offsets, "distance")
    band, line = figure.data
    np.testing.assert_array_equal(band.y, [9, 4, 2, 2, 2, 1])
    np.testing.assert_array_equal(band.x, [0, 1, 2, 2, 1, 0])
    np.testing.assert_array_equal(line.customdata, offsets[["lowest", "highest"]])


@pytest.mark.parametrize("n", [1, 3])
def test_wavelengths_stand_at_their_dimensions(n: int) -> None:
    standard, doubled = np.array([6, 60, 600], np.float64)[:n], np.array([6, 600, 60_000], np.float64)[:n]
    figure = figures.wavelengths(standard, doubled, 512)
    for trace, values in zip(figure.data[:2], (standard, doubled), strict=True):
        np.testing.assert_array_equal(trace.y, values)
        assert list(trace.x) == [0, 2, 4][:n]
    assert [trace.name for trace in figure.data] == ["standard", "doubled exponent", "max_len = 512"]
    assert (list(figure.data[2].x), list(figure.data[2].y)) == ([0, 2 * n - 2], [512, 512])
    assert figure.layout.yaxis.type == "log"


def test_positions_and_their_absence_have_a_colour_each() -> None:
    differences = figures.swap_differences(np.ones(3, np.float32), np.zeros(3, np.float32), ["the", "cat", "the"])
    found = [(bar.name, bar.marker.color) for bar in differences.data]
    assert found == [("with positions", palette.EMBEDDINGS), ("without positions", palette.RESIDUAL)]
