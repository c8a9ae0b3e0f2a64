"""Cells as vectors: painted again, each has the colour of its number, and few bytes are enough."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from playground.export.pictures import cells
from playground.export.pictures.cells import Shades, cover_cells, path_of_cells, shades_of
from tests.export.pictures.drawn import SVG, paint

RAMP = np.stack([np.arange(256), 255 - np.arange(256), np.full(256, 7)], axis=1).astype(np.uint8)
"""A colour that says its shade."""


def painted(shades: Shades, gaps: tuple[float, float] = (0, 0)) -> Shades:
    """The shades that a reader of SVG sees; −1 where nothing is painted."""
    root = ET.fromstring(f'<g xmlns="{SVG[1:-1]}">{path_of_cells(shades, RAMP, gaps)}</g>')
    colours = paint(root, (shades.shape[0], shades.shape[1]))
    seen: Shades = np.where(colours[..., 2] == 7, colours[..., 0].astype(np.int16), -1)
    return seen


def test_numbers_become_shades_from_the_lowest_to_the_highest() -> None:
    z = np.array([[0.0, 0.5, 1.0], [-1.0, 2.0, np.nan]])
    assert shades_of(z, 0, 1).tolist() == [[0, 128, 255], [0, 255, -1]]
    assert shades_of(np.zeros((1, 2)), 0, 0).tolist() == [[0, 0]]


@pytest.mark.parametrize("gaps", [(0.0, 0.0), (0.1, 0.25)])
def test_a_few_cells_are_a_rectangle_each(gaps: tuple[float, float]) -> None:
    shades = np.random.default_rng(0).integers(-1, 256, (5, 7)).astype(np.int16)
    paths = path_of_cells(shades, RAMP, gaps)
    assert paths.count("M") == (shades >= 0).sum()
    assert f"h{1 - gaps[0]:g}v{1 - gaps[1]:g}" in paths
    if not any(gaps):
        np.testing.assert_array_equal(painted(shades), shades)


@settings(max_examples=60, deadline=None)
@given(arrays(np.int16, (9, 6), elements=st.integers(-1, 255)), st.sampled_from([0, 1, 2, 5]))
def test_runs_painted_from_the_lightest_on_cover_each_cell(shades: Shades, near: int) -> None:
    runs = cover_cells(shades, near)
    seen: NDArray[np.int16] = np.full(shades.shape, -1, np.int16)
    for place in np.argsort(runs.shade, kind="stable"):
        begin = int(runs.start[place])
        seen[begin : begin + int(runs.length[place]), int(runs.column[place])] = runs.shade[place]
    assert ((seen < 0) == (shades < 0)).all()
    assert np.abs(seen - shades).max() <= near


@pytest.mark.parametrize(("most_exact", "near"), [(10**6, 0), (0, cells.NEAR)])
def test_many_cells_are_lines_within_a_64th(most_exact: int, near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_EXACT", most_exact)
    rng = np.random.default_rng(1)
    shades = shades_of(np.sqrt(rng.dirichlet(np.full(90, 0.1), 80)), 0, 1)
    shades[40:43] = -1
    seen = painted(shades)
    assert ((seen < 0) == (shades < 0)).all()
    assert np.abs(seen - shades).max() <= near
    assert 255 / (2 * cells.NEAR) >= 63.75


def test_equal_cells_are_one_run_and_a_dark_one_lies_over_it() -> None:
    shades = np.zeros((100, 50), np.int16)
    shades[30] = 200
    runs = cover_cells(shades, 0)
    assert len(runs.shade) == 100, "a light run and a dark cell in each of 50 columns"
    assert sorted(set(runs.length.tolist())) == [1, 100]
    assert (painted(shades) == shades).all()


def test_no_cell_is_no_path() -> None:
    assert path_of_cells(np.full((3, 3), -1, np.int16), RAMP) == ""
    assert "<path" not in path_of_cells(np.full((300, 300), -1, np.int16), RAMP)
