"""The walk's pictures hold exactly the numbers they were given."""

import numpy as np
import pytest

from playground.figures import palette
from playground.figures import step_by_step as figures
from playground.figures.theme import token_labels

TOKENS = ["[CLS]", "<b>", "it", "it", "&lt;"]
T = len(TOKENS)
RANDOM = np.random.default_rng(0)


def test_vectors_are_drawn_from_their_first_numbers() -> None:
    long, short = RANDOM.standard_normal(20).astype(np.float32), np.array([5.0, -1.0], dtype=np.float32)
    figure = figures.vectors({"long": long, "short": short})
    heatmap = figure.data[0]
    assert heatmap.z.dtype == np.float32
    assert np.array_equal(heatmap.z[0], long[: figures.SHOWN])
    assert heatmap.z[1, :2].tolist() == [5, -1]
    assert np.isnan(heatmap.z[1, 2:]).all()
    assert list(heatmap.y) == ["long", "short"]
    assert (heatmap.zmin, heatmap.zmax) == (-5, 5)
    assert heatmap.texttemplate
    assert figure.layout.xaxis.title.text == f"number in the vector, first {figures.SHOWN}"


def test_no_more_vectors_are_drawn_than_can_be_read() -> None:
    rows = {f"head {i}": np.full(3, i, dtype=np.float32) for i in range(40)}
    assert figures.vectors(rows).data[0].z.shape == (figures.MOST_ROWS, 3)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_scale_has_a_length_whatever_the_numbers(value: float) -> None:
    vector = np.full(4, value, dtype=np.float32)
    heatmap = figures.vectors({"x": vector}).data[0]
    assert np.isfinite(heatmap.zmax)
    assert heatmap.zmin < heatmap.zmax


def test_queries_keys_and_values_stand_side_by_side_with_the_two_tokens_framed() -> None:
    matrices = {name: RANDOM.standard_normal((T, 12)).astype(np.float32) for name in "QKV"}
    figure = figures.projections(matrices, TOKENS, 3, 1)
    assert len(figure.data) == 3
    for trace, matrix in zip(figure.data, matrices.values(), strict=True):
        assert np.array_equal(trace.z, matrix[:, : figures.SHOWN])
        assert list(trace.y) == token_labels(TOKENS)
        assert trace.zmax == figure.data[0].zmax
    frames = [(shape.xref, shape.y0, shape.line.color) for shape in figure.layout.shapes]
    assert frames == [("x", 2.5, palette.FOCUS), ("x2", 0.5, palette.FOCUS), ("x3", 0.5, palette.FOCUS)]
    assert [figure.layout[f"xaxis{n}"].title.text for n in ("", 2, 3)] == [
        f"<b>{name}</b>, first {figures.SHOWN}" for name in "QKV"
    ]


def test_a_masked_key_has_no_bar() -> None:
    values, allowed = np.array([1.0, -2, 3, 4, 5]), np.array([True, True, True, False, False])
    figure = figures.keys(values, TOKENS, allowed, title="score")
    bar = figure.data[0]
    assert bar.y[:3].tolist() == [1, -2, 3]
    assert np.isnan(bar.y[3:]).all()
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(2.5, 3.5), (3.5, 4.5)]
    assert list(bar.x) == token_labels(TOKENS)


def test_drops_are_what_the_numbers_were_multiplied_by() -> None:
    before = np.array([2, 0, -4, 1], dtype=np.float32)
    after = np.array([2.5, 0, 0, 1.25], dtype=np.float32)
    wide = np.ones(40, dtype=np.float32)
    heatmap = figures.drops({"weights": (before, after), "hidden": (wide, wide / 0.8)}).data[0]
    assert heatmap.z.shape == (2, 2 * figures.SHOWN)
    np.testing.assert_allclose(heatmap.z[0, :4], [1.25, np.nan, 0, 1.25])
    assert np.isnan(heatmap.z[0, 4:]).all()
    np.testing.assert_allclose(heatmap.z[1], 1.25)
    assert heatmap.customdata[0, 2].tolist() == [-4, 0]
    assert heatmap.zmax == pytest.approx(1.25)
