"""Numbers that differ by their rounding alone are drawn as equal, and the figure says so."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.figures import attention
from playground.figures.theme import SAME_COLOUR, SAME_HEIGHT, draw_figure, heatmap, line

TOKENS = list("abcd")
NOISE = np.random.default_rng(0).uniform(-1, 1, (3, 4)) * 1e-7
AXES: dict[str, Any] = {"height": 300, "bar": None, "x_axis": {}, "y_axis": {}}


def colours(figure: go.Figure) -> set[float]:
    """The different places of a heatmap's numbers on its scale, from 0 to 1."""
    cells = figure.data[0]
    places = (cells.z - cells.zmin) / (cells.zmax - cells.zmin)
    return set(places[np.isfinite(places)].tolist())


@pytest.mark.parametrize("size", [9.8, 1e-3, -5.0])
def test_a_range_narrower_than_its_numbers_rounding_is_one_colour(size: float) -> None:
    figure = heatmap((size * (1 + NOISE)).astype(np.float32), "%{z}", **AXES)
    (place,) = colours(figure)
    assert place == pytest.approx(0.5)
    assert figure.layout.meta == SAME_COLOUR
    apart = heatmap((size * (1 + 100 * NOISE)).astype(np.float32), "%{z}", **AXES)
    assert (apart.data[0].zmin, apart.data[0].zmax, apart.layout.meta) == (None, None, None)
    assert len(np.unique(apart.data[0].z)) > 6


def test_what_is_empty_stays_empty_and_a_single_number_needs_no_note() -> None:
    values = np.array([[2.0, np.nan], [np.inf, 2.0]], np.float32)
    np.testing.assert_array_equal(heatmap(values, "%{z}", **AXES).data[0].z, [[2, np.nan], [np.nan, 2]])
    for lonely in (np.full((1, 1), 3.0), np.full((1, 1), np.nan), np.zeros((1, 0))):
        figure = heatmap(lonely, "%{z}", **AXES)
        assert figure.data[0].zmax > figure.data[0].zmin
        assert figure.layout.meta is None


def test_ends_that_were_asked_for_are_kept() -> None:
    figure = heatmap(np.full((2, 2), 0.5, np.float32), "%{z}", zmin=0, zmax=1, **AXES)
    assert (figure.data[0].zmin, figure.data[0].zmax, figure.layout.meta) == (0, 1, None)


@pytest.mark.parametrize("scale", [1, 1e8])
def test_differences_are_judged_by_the_weights_they_come_from(scale: float) -> None:
    """A difference of 1e-8 is as large as itself; but the weights that were subtracted are up to 1."""
    differences = (np.abs(NOISE) * 0.1 * scale).astype(np.float32)
    square = differences[:, :3]
    head_difference = attention.head_heatmap(square, TOKENS[:3], np.ones((3, 3), bool), signed=True, magnitude=1)
    assert (head_difference.layout.meta == SAME_COLOUR) == (scale == 1)
    assert (len(np.unique(head_difference.data[0].z)) == 1) == (scale == 1)


# --- lines


def curves(values: NDArray[np.float64]) -> go.Figure:
    lines = [line(np.arange(len(each)), each, "#112233", None) for each in values.astype(np.float32)]
    return draw_figure(lines, height=300, x_axis={}, y_axis={})


def test_the_axis_of_lines_does_not_zoom_into_their_rounding() -> None:
    equal, apart, zero = curves(1 + NOISE), curves(1 + 1e4 * NOISE), curves(0 * NOISE)
    for figure in (equal, zero):
        assert figure.layout.yaxis.rangemode == "tozero"
        assert figure.layout.meta == SAME_HEIGHT
    assert (apart.layout.yaxis.rangemode, apart.layout.meta) == (None, None)
