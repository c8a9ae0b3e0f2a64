"""The tutorials' figures name their cells; that these hold the differences, the page's tests say."""

import numpy as np

from playground.figures import tutorials as figures


def test_cells_stand_under_letters_and_short_names_of_points() -> None:
    (matrix,) = figures.difference_matrix(np.eye(2, dtype=np.float32), ["A", "B"]).data
    assert (list(matrix.x), list(matrix.y), matrix.texttemplate) == (["A", "B"], ["A", "B"], "%{z:.2f}")
    points = ["embed.out", "layers.0.attn.out", "final"]
    figure = figures.differences_by_point({"D": np.array([0, 0, 3], dtype=np.float32)}, points)
    assert (list(figure.data[0].x), list(figure.data[0].y)) == (points, ["D"])
    assert list(figure.layout.xaxis.ticktext) == ["embed.out", "0.attn.out", "final"]
