"""The tutorials' figures name their cells; that these hold the differences, the page's tests say."""

import numpy as np

from playground.figures import tutorials as figures
from tests.figures.axes import titles


def test_the_matrix_is_written_with_its_numbers_under_the_letters() -> None:
    figure = figures.difference_matrix(np.array([[0, 1.5], [1.5, 0]], dtype=np.float32), ["A", "B"])
    (heatmap,) = figure.data
    assert list(heatmap.x) == list(heatmap.y) == ["A", "B"]
    assert (heatmap.texttemplate, heatmap.zmin, heatmap.colorbar.title.text) == ("%{z:.2f}", 0, "largest")
    assert figure.layout.yaxis.autorange == "reversed"


def test_points_are_columns_under_short_names() -> None:
    points = ["embed.out", "layers.0.attn.out", "final"]
    figure = figures.differences_by_point({"D": np.array([0, 0, 3], dtype=np.float32)}, points)
    (heatmap,) = figure.data
    assert (list(heatmap.x), list(heatmap.y)) == (points, ["D"])
    assert list(figure.layout.xaxis.ticktext) == ["embed.out", "0.attn.out", "final"]
    assert titles(figure) == ("point of the forward pass", "tutorial")
