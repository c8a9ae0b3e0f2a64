"""The tutorials' figures show the arrays they are given."""

import numpy as np

from playground.figures import tutorials as figures


def test_the_matrix_is_drawn_with_its_numbers() -> None:
    differences = np.array([[0, 1.5], [1.5, 0]], dtype=np.float32)
    figure = figures.difference_matrix(differences, ["A", "B"])
    (heatmap,) = figure.data
    np.testing.assert_array_equal(heatmap.z, differences)
    assert list(heatmap.x) == list(heatmap.y) == ["A", "B"]
    assert heatmap.texttemplate == "%{z:.2f}"
    assert heatmap.zmin == 0
    assert figure.layout.yaxis.autorange == "reversed"
    assert heatmap.colorbar.title.text == "largest"


def test_points_are_columns_under_short_names() -> None:
    points = ["embed.out", "layers.0.attn.out", "final"]
    rows = {"A": np.array([0, 1, 2], dtype=np.float32), "D": np.array([0, 0, 3], dtype=np.float32)}
    figure = figures.differences_by_point(rows, points)
    (heatmap,) = figure.data
    np.testing.assert_array_equal(heatmap.z, [[0, 1, 2], [0, 0, 3]])
    assert list(heatmap.y) == ["A", "D"]
    assert list(heatmap.x) == points
    assert list(figure.layout.xaxis.ticktext) == ["embed.out", "0.attn.out", "final"]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("point of the forward pass", "tutorial")
    assert "largest difference" in heatmap.hovertemplate
