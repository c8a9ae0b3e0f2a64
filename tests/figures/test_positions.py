"""The positions' figures: what is drawn of a table, ends of colours, bands and names.

That lines, bars and cells hold the numbers of a run, the page's tests say.
"""

import numpy as np
import pandas as pd
import pytest

from playground.figures import palette
from playground.figures import positions as figures
from playground.figures.theme import Array
from tests.figures.axes import titles

TOKENS = ["the", "<b>x</b>", "the"]
LABELS = ["the₀", "&lt;b&gt;x&lt;/b&gt;₁", "the₂"]


@pytest.fixture
def rows() -> Array:
    return np.random.default_rng(0).normal(size=(200, 300)).astype(np.float32)


def test_the_table_is_drawn_as_far_as_is_said(rows: Array) -> None:
    figure = figures.table_heatmap(rows)
    heatmap = figure.data[0]
    np.testing.assert_array_equal(heatmap.z, rows[:128, :256])
    assert heatmap.z.dtype == np.float32
    assert heatmap.zmax == -heatmap.zmin == pytest.approx(np.percentile(np.abs(rows[:128, :256]), 99))
    assert heatmap.colorscale == figure.layout.template.layout.colorscale.diverging
    assert (heatmap.colorbar.title.text, *titles(figure)) == ("value", "dimension", "position")
    assert figure.layout.yaxis.autorange == "reversed"
    zeros = figures.table_heatmap(np.zeros((2, 2), np.float32)).data[0]
    assert (zeros.zmin, zeros.zmax) == (-1, 1)


def test_each_chosen_dimension_is_a_curve(rows: Array) -> None:
    figure = figures.dimension_curves(rows, [7, 0, 299])
    for trace, dimension, colour in zip(figure.data, [7, 0, 299], figures.CURVES, strict=True):
        np.testing.assert_array_equal(trace.y, rows[:128, dimension])
        assert (trace.name, trace.line.color) == (f"dimension {dimension}", colour)
        assert list(trace.x) == list(range(128))
    assert titles(figure) == ("position", "value")
    assert len(figures.dimension_curves(rows, [5]).data) == 1


def test_dot_products_diverge_and_distances_start_at_zero(rows: Array) -> None:
    products, apart = (figures.between_positions(rows[:5, :5], measure) for measure in ("dot product", "distance"))
    for figure, measure in ((products, "dot product"), (apart, "distance")):
        assert figure.data[0].colorbar.title.text == measure
        assert measure in figure.data[0].hovertemplate
        assert titles(figure) == ("position", "position")
    assert products.data[0].zmin == -products.data[0].zmax
    assert (apart.data[0].zmin, apart.data[0].colorscale) == (0, None)  # the theme's, light or dark


def test_offsets_have_a_line_and_a_band() -> None:
    offsets = pd.DataFrame({"mean": [4.0, 3, 2], "lowest": [1.0, 2, 2], "highest": [9.0, 4, 2]})
    figure = figures.by_offset(offsets, "distance")
    band, line = figure.data
    np.testing.assert_array_equal(band.y, [9, 4, 2, 2, 2, 1])
    np.testing.assert_array_equal(band.x, [0, 1, 2, 2, 1, 0])
    np.testing.assert_array_equal(line.customdata, offsets[["lowest", "highest"]])
    assert titles(figure) == ("how far apart, in positions", "distance")


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
    assert titles(figure) == ("dimension, the sine of each pair", "wavelength, in positions (log scale)")


def test_lengths_and_differences_stand_side_by_side_by_token() -> None:
    lengths = figures.addition_lengths(pd.DataFrame(np.ones((3, 3)), columns=["token", "position", "sum"]), TOKENS)
    differences = figures.swap_differences(np.ones(3, np.float32), np.zeros(3, np.float32), TOKENS)
    assert [bar.name for bar in lengths.data] == ["token", "position", "sum"]
    found = [(bar.name, bar.marker.color) for bar in differences.data]
    assert found == [("with positions", palette.EMBEDDINGS), ("without positions", palette.RESIDUAL)]
    assert all(list(bar.x) == LABELS for bar in (*lengths.data, *differences.data))
    assert titles(lengths) == ("token", "L2 norm")
    assert titles(differences) == ("token", "largest |difference|")
