"""Maps, points and curves show the numbers they are given, and nothing where there are none yet."""

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.label import chart_label
from playground.figures import palette
from playground.figures import what_if as figures
from playground.figures.what_if import pruning_curves

EFFECTS = np.array([[0.1, 0.4, np.nan], [0.0, 0.2, 0.3]], np.float32)
SIGNED = EFFECTS - 0.15
TOKENS = ["the", "<b>", "the"]


@pytest.mark.parametrize(
    ("figure", "x_title", "bar"),
    [
        (figures.effects_by_head(EFFECTS, "change"), "head", "change"),
        (figures.effects_by_sublayer(EFFECTS[:, :2], "change"), "sublayer", "change"),
        (figures.effects_by_position(EFFECTS, TOKENS, "change"), "token that is hidden", "change"),
        (figures.spread_by_head(EFFECTS), "head", "spread"),
    ],
)
def test_maps_by_layer_show_numbers_from_0_up(figure: go.Figure, x_title: str, bar: str) -> None:
    cells = figure.data[0]
    np.testing.assert_array_equal(cells.z, EFFECTS[:, : cells.z.shape[1]])
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (x_title, "layer")
    assert (cells.colorbar.title.text, cells.zmin) == (bar, 0)
    assert figure.layout.uirevision == "keep"
    assert "<b>₁" not in (cells.x if cells.x is not None else ())


@pytest.mark.parametrize("draw", [figures.effects_by_head, figures.effects_by_sublayer])
def test_signed_maps_diverge_from_0(draw: type) -> None:
    cells = draw(SIGNED[:, :2], "change", signed=True).data[0]
    assert cells.zmax == -cells.zmin == pytest.approx(0.25)


def test_an_effect_below_rounding_has_one_colour_and_a_note() -> None:
    figure = figures.effects_by_head(np.array([[1e-8, 2e-8]], np.float32), "change")
    assert figure.layout.meta is not None
    assert np.ptp(figure.data[0].z) == 0
    empty = figures.effects_by_head(np.full((2, 2), np.nan, np.float32), "change")
    assert np.isnan(empty.data[0].z).all()
    assert empty.layout.meta is None


def test_heads_are_points_and_the_one_in_focus_stands_out() -> None:
    figure = figures.spread_and_effect(EFFECTS, SIGNED, (1, 2), "effect")
    others, chosen = figure.data
    np.testing.assert_array_equal(others.x, EFFECTS.ravel()[:5])
    np.testing.assert_array_equal(others.y, SIGNED.ravel()[:5])
    assert others.customdata.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]
    assert (chosen.x[0], chosen.y[0]) == (EFFECTS[1, 2], SIGNED[1, 2])
    assert chosen.line.color == palette.FOCUS
    label = chart_label("Heads", figure)
    assert label == "Heads. every other head: 4 points, across from 0 to 0.4, up from -0.15 to 0.25."


def test_places_are_depths_downwards_with_changed_tokens_framed() -> None:
    figure = figures.shares_by_place(SIGNED, TOKENS, [1])
    cells = figure.data[0]
    np.testing.assert_array_equal(cells.z, SIGNED)
    assert list(cells.y) == [0, 1]
    assert list(cells.x) == ["the₀", "&lt;b&gt;₁", "the₂"]
    assert figure.layout.yaxis.autorange == "reversed", "as layers in every other map"
    ((left, right, low, high),) = [(each.x0, each.x1, each.y0, each.y1) for each in figure.layout.shapes]
    assert (left, right, low, high) == (0.5, 1.5, -0.5, 1.5)


def test_curves_have_a_band_of_random_orders_where_all_are_measured() -> None:
    random = np.array([[1, 0.5, np.nan], [1, 0.7, 0.2]], np.float32)
    figure = pruning_curves([0, 2, 4], np.array([1, 0.9, np.nan], np.float32), random, 2, title="left", number=".3f")
    area, mean, ordered = figure.data
    assert area.x.tolist() == [0, 2, 2, 0]
    np.testing.assert_allclose(area.y, [1, 0.7, 0.5, 1])
    np.testing.assert_allclose(mean.y, [1, 0.6])
    assert (mean.name, ordered.name) == ("random order", "least effect first")
    np.testing.assert_allclose(ordered.y, [1, 0.9, np.nan])
    assert [(each.x0, each.x1) for each in figure.layout.shapes] == [(2, 2)]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("heads taken out", "left")


def test_curves_without_any_number_are_empty() -> None:
    nothing = np.full(2, np.nan, np.float32)
    figure = pruning_curves([0, 1], nothing, np.stack([nothing] * 3), 0, title="left", number=".3f")
    assert not len(figure.data[1].y)
