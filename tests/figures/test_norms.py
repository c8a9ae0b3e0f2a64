"""The norms' figures show the arrays they are given."""

import numpy as np
import pandas as pd
import pytest

from playground.figures import norms as figures
from playground.figures import palette
from playground.figures.theme import Array

TOKENS = ["the", "<b>x</b>", "the"]


@pytest.fixture
def lengths() -> dict[str, Array]:
    generator = np.random.default_rng(0)
    return {
        "residual": generator.uniform(5, 9, (3, 3)).astype(np.float32),
        "attention": generator.uniform(1, 2, (2, 3)).astype(np.float32),
        "feed-forward": generator.uniform(2, 3, (2, 3)).astype(np.float32),
    }


def test_norms_by_layer_has_a_line_and_a_band_a_part(lengths: dict[str, Array]) -> None:
    figure = figures.norms_by_layer(lengths)
    bands, lines = figure.data[::2], figure.data[1::2]
    assert [line.name for line in lines] == ["residual stream", "attention", "feed-forward"]
    assert [line.line.color for line in lines] == [palette.RESIDUAL, palette.ATTENTION, palette.FEED_FORWARD]
    for line, band, values in zip(lines, bands, lengths.values(), strict=True):
        np.testing.assert_allclose(line.y, values.mean(axis=1))
        assert list(line.x) == list(range(3 - len(values), 3))
        low, high = np.percentile(values, [10, 90], axis=1)
        np.testing.assert_allclose(band.y, [*high, *low[::-1]], rtol=1e-6)
        np.testing.assert_allclose(line.customdata, np.stack([low, high], axis=1), rtol=1e-6)
        assert band.hoverinfo == "skip"
    assert figure.layout.yaxis.type is None


def test_lengths_far_apart_get_a_logarithmic_axis(lengths: dict[str, Array]) -> None:
    lengths["residual"][2] *= 1000
    figure = figures.norms_by_layer(lengths)
    assert (figure.layout.yaxis.type, figure.layout.yaxis.title.text) == ("log", "mean L2 norm (log scale)")
    heatmap = figures.norms_by_token(lengths["residual"], TOKENS, first_depth=0).data[0]
    np.testing.assert_allclose(heatmap.z, np.log10(lengths["residual"]), rtol=1e-5)
    np.testing.assert_array_equal(heatmap.customdata, lengths["residual"])
    assert heatmap.colorbar.tickprefix == "10<sup>"


def test_norms_by_token_shows_the_lengths_under_unique_harmless_labels(lengths: dict[str, Array]) -> None:
    heatmap = figures.norms_by_token(lengths["attention"], TOKENS, first_depth=1).data[0]
    np.testing.assert_array_equal(heatmap.z, lengths["attention"])
    assert list(heatmap.x) == ["the₀", "&lt;b&gt;x&lt;/b&gt;₁", "the₂"]
    assert list(heatmap.y) == [1, 2]
    assert heatmap.colorbar.tickprefix is None


def test_nothing_breaks_on_zeros_overflow_or_a_single_token() -> None:
    zeros = np.zeros((2, 1), np.float32)
    lost = np.full((2, 1), np.nan, np.float32)
    for values in (zeros, lost):
        parts = {"residual": np.zeros((3, 1)) + values[0], "attention": values, "feed-forward": values}
        np.testing.assert_array_equal(figures.norms_by_layer(parts).data[1].y, parts["residual"][:, 0])
        np.testing.assert_array_equal(figures.norms_by_token(values, ["a"], first_depth=1).data[0].z, values)


def test_norm_statistics_shows_spread_above_and_mean_below() -> None:
    table = pd.DataFrame(
        {"mean before": [0.1, -0.2], "std before": [1.5, 3.0], "mean after": [0.0, 0.01], "std after": [1.0, 0.9]},
        index=["layers.0.norm1", "layers.0.norm2"],
    )
    figure = figures.norm_statistics(table)
    for trace, column in zip(figure.data, ["std before", "std after", "mean before", "mean after"], strict=True):
        np.testing.assert_allclose(trace.y, table[column], rtol=1e-6)
        assert list(trace.x) == list(table.index)
        assert trace.yaxis == ("y" if column.startswith("std") else "y2")
    assert figure.layout.yaxis.title.text == "std of features"
    assert figure.layout.yaxis2.title.text == "mean of features"
    assert figure.layout.xaxis2.title.text == "norm, in the order of the computation"


def test_depths_run_down_in_every_map_as_layers_do() -> None:
    maps = [
        figures.norms_by_token(np.ones((3, 2), np.float32), ["a", "b"], first_depth=0),
        figures.norms_change_by_token(np.ones((3, 2), np.float32), ["a", "b"], first_depth=0, magnitude=1.0),
        figures.cosines_between_layers(np.eye(3, dtype=np.float32)),
    ]
    assert {each.layout.yaxis.autorange for each in maps} == {"reversed"}
