"""Six lines show what they are given, and what has no place on a logarithmic axis is marked beside it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.figures import gradient_flow as figures
from playground.figures.gradient_flow import Line

INF, NAN = np.inf, np.nan
NAMES = {"post": "post-norm", "pre": "pre-norm", "none": "no norm"}


def six(*rows: list[float], plain: tuple[float, ...] = (1.0, 10.0, 100.0)) -> list[Line]:
    """Three encoders with residual connections and three without: the given rows first, then plain ones."""
    values = [*rows, *[plain] * (6 - len(rows))]
    encoders = [(norm, residual) for residual in (True, False) for norm in NAMES]
    return [
        Line(NAMES[norm], norm, residual, np.array(row)) for (norm, residual), row in zip(encoders, values, strict=True)
    ]


def lines(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.mode == "lines+markers"]


def crosses(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.mode == "markers+text"]


def test_every_encoder_has_its_line() -> None:
    given = six([1e-8, 2e-4, 3.0])
    figure = figures.by_layer(given, "gradient norm", figures.LAYER)
    for drawn, line in zip(lines(figure), given, strict=True):
        np.testing.assert_array_equal(drawn.x, [0, 1, 2])
        np.testing.assert_array_equal(drawn.y, line.values)
        assert drawn.name == line.name
        assert drawn.line.color == figures.COLOURS[line.norm]
        assert drawn.line.dash == ("solid" if line.residual else "dash")
    looks = {(line.line.color, line.line.dash, line.marker.symbol) for line in lines(figure)}
    assert len(looks) == 6
    assert len({colour for colour, _, _ in looks}) == 3
    assert not crosses(figure)
    assert figure.layout.xaxis.unifiedhovertitle.text == "layer %{x}"
    low, high = figure.layout.yaxis.range
    assert (figure.layout.yaxis.type, low < -8, high > 2) == ("log", True, True)


def test_the_legend_names_norms_and_the_dash() -> None:
    figure = figures.by_layer(six(), "gradient norm", figures.LAYER)
    entries = [trace for trace in figure.data if trace.showlegend is not False]
    assert [entry.name for entry in entries] == ["post-norm", "pre-norm", "no norm", "no residual"]
    assert entries[-1].line.dash == "dash"
    assert np.isnan(entries[-1].y).all()
    groups = [line.legendgroup for line in lines(figure)]
    assert groups == ["post", "pre", "none", "post", "pre", "none"]


def test_what_the_axis_cannot_show_is_a_cross_beyond_its_end() -> None:
    given = six([NAN, INF, 1.0], [0.0, 1e-3, 1.0], [0.0, NAN, NAN])
    figure = figures.by_layer(given, "gradient norm", figures.LAYER)
    for line in lines(figure)[:3]:
        assert not (line.y <= 0).any()
        assert not np.isinf(line.y).any()
    found = [(mark.name, list(mark.x), list(mark.customdata), mark.text[-1]) for mark in crosses(figure)]
    assert found == [
        ("post-norm", [0, 1], ["NaN", "∞"], "NaN, ∞"),
        ("pre-norm", [0], ["0"], "0"),
        ("no norm", [1, 2], ["NaN", "NaN"], "NaN"),
        ("no norm", [0], ["0"], "0"),
    ]
    heights = [float(np.log10(mark.y[0])) for mark in crosses(figure)]
    low, high = figure.layout.yaxis.range
    assert low < heights[3] < heights[1] < -3
    assert 2 < heights[0] < heights[2] < high
    assert figure.layout.xaxis.range[1] > 2.5  # room for the names
    assert all(mark.text[:-1] == ("",) * (len(mark.x) - 1) for mark in crosses(figure))


@pytest.mark.parametrize("number", [NAN, INF, 0.0, 3.0])
def test_one_number_whatever_it_is_has_its_place_on_an_axis_of_two_decades(number: float) -> None:
    line = Line("one", "post", True, np.array([number]))
    figure = figures.by_layer([line], "mean L2 norm", figures.DEPTH)
    (mark,) = crosses(figure) or lines(figure)
    low, high = figure.layout.yaxis.range
    assert low < np.log10(mark.y[0]) < high
    assert high - low >= 2
    assert figures.by_layer([], "gradient norm", figures.LAYER).layout.yaxis.range is not None


def test_depths_stand_where_their_logarithm_is() -> None:
    figure = figures.by_depth(six(plain=(1.0, 2.0, NAN)), [1, 4, 12], "gradient norm")
    for line in lines(figure):
        np.testing.assert_array_equal(line.x, [1, 4, 12])
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [1, 4, 12]
    assert figure.layout.xaxis.range[0] < 0
    assert figure.layout.xaxis.range[1] > np.log10(12)
    assert [mark.x[0] for mark in crosses(figure)] == [12] * 6
    assert len({float(mark.y[0]) for mark in crosses(figure)}) == 6
