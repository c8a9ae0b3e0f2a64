"""The norms' figures show the arrays they are given."""

import numpy as np
import pytest

from playground.figures import norms as figures
from playground.figures import palette
from playground.figures.theme import Array


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


def test_nothing_breaks_on_zeros_overflow_or_a_single_token() -> None:
    zeros = np.zeros((2, 1), np.float32)
    lost = np.full((2, 1), np.nan, np.float32)
    for values in (zeros, lost):
        parts = {"residual": np.zeros((3, 1)) + values[0], "attention": values, "feed-forward": values}
        np.testing.assert_array_equal(figures.norms_by_layer(parts).data[1].y, parts["residual"][:, 0])


def test_the_other_runs_lines_are_dotted_and_on_the_same_axis() -> None:
    now, pinned = ({part: np.full((n, 4), 2.0 * n, np.float32) for part in figures.PARTS} for n in (7, 3))
    now["residual"], pinned["residual"] = (np.full((n, 4), 2.0 * n, np.float32) for n in (8, 4))
    figure = figures.norms_by_layer(now, pinned, "pinned: n_layers 3")
    dotted = [trace for trace in figure.data if trace.line.dash == "dot" and trace.showlegend is False]
    assert [trace.name for trace in dotted] == [f"{title}, pinned: n_layers 3" for title, _ in figures.PARTS.values()]
    np.testing.assert_array_equal(dotted[0].x, range(4))
    np.testing.assert_array_equal(dotted[1].x, range(1, 4))
    assert {trace.xaxis for trace in figure.data} == {None}
    (entry,) = (trace.name for trace in figure.data if trace.line.dash == "dot" and trace.showlegend is not False)
    assert entry == "dotted: pinned: n_layers 3"


def test_an_axis_is_logarithmic_for_what_both_runs_need() -> None:
    short, long = ({part: np.full((2, 4), size, np.float32) for part in figures.PARTS} for size in (1, 1e6))
    assert figures.norms_by_layer(short).layout.yaxis.type is None
    assert figures.norms_by_layer(short, long, "long").layout.yaxis.type == "log"
