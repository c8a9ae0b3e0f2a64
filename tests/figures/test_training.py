"""The training figures show the history they are given."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures import training as figures
from playground.figures.theme import text_width
from playground.figures.training import Evaluations

NOISE = np.random.default_rng(0).uniform(0, 0.2, 5_000)


def batches(n: int) -> list[float]:
    """The losses of a run of n steps that goes well."""
    return list(2.5 - np.arange(n) / n + NOISE[:n])


def losses(n: int, every: int = 30) -> Evaluations:
    steps = range(0, n + 1, every)
    return Evaluations(steps, [2.5 - step / n for step in steps], [2.6 - step / n for step in steps])


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def trace(figure: Any, name: str) -> Any:
    (found,) = (each for each in figure.data if each.name == name)
    return found


def level(figure: Any) -> Any:
    (found,) = (each for each in figure.data if each.line.dash == "dash")
    return found


def test_the_losses_are_those_given() -> None:
    figure = figures.loss_curves(batches(90), losses(90), 600, 13)
    np.testing.assert_array_equal(trace(figure, "batches").y, floats(batches(90)))
    np.testing.assert_array_equal(trace(figure, "batches").x, np.arange(1, 91))
    mean = pd.Series(batches(90)).rolling(24, min_periods=1).mean()
    np.testing.assert_allclose(trace(figure, "mean of 24 batches").y, mean, rtol=1e-6)
    train, validation = (losses(90).train, palette.TRAINING), (losses(90).validation, palette.VALIDATION)
    for name, (values, colour) in (("training set", train), ("validation set", validation)):
        drawn = trace(figure, name)
        np.testing.assert_array_equal(drawn.x, losses(90).steps)
        np.testing.assert_array_equal(drawn.y, floats(values))
        assert drawn.line.color == colour
    assert set(level(figure).y) == {np.float32(math.log(13))}
    assert level(figure).text[1] == "guessing: ln 13 = 2.56"


def test_axes_stay_while_a_run_goes_on() -> None:
    """They are as long as the whole run from the first step on, and as high as the loss before it."""
    whole = losses(600)

    def after(n: int) -> Evaluations:
        k = n // 30 + 1
        return Evaluations(whole.steps[:k], whole.train[:k], whole.validation[:k])

    drawn = [figures.loss_curves(batches(600)[:n], after(n), 600, 13) for n in (30, 200, 600)]
    assert len({(figure.layout.xaxis.range, figure.layout.yaxis.range) for figure in drawn}) == 1
    shares = [figures.accuracy_curves(after(n), 600, 0.1) for n in (0, 600)]
    assert len({(figure.layout.xaxis.range, figure.layout.yaxis.range) for figure in shares}) == 1
    assert len({figure.layout.height for figure in drawn}) == 1


def test_before_the_first_step_there_are_axes_and_the_level_of_guessing() -> None:
    figure = figures.loss_curves([], Evaluations([], [], []), 100, 8)
    assert all(len(drawn.y) == 0 for drawn in figure.data if drawn is not level(figure))
    assert figure.layout.yaxis.range == (0, 1.08 * math.log(8))
    assert len(figures.gradient_curve([], 100, 0).data[0].y) == 0


def test_a_loss_that_runs_away_is_drawn_on_a_log_axis_up_to_its_last_finite_value() -> None:
    values = [*batches(20), 100.0, 1e5, math.inf, math.nan, *[1.0] * 16]
    figure = figures.loss_curves(values, losses(40), 40, 13)
    assert figure.layout.yaxis.type == "log"
    assert "log scale" in figure.layout.yaxis.title.text
    np.testing.assert_array_equal(trace(figure, "batches").y, floats(values[:22]))
    assert np.isfinite(trace(figure, "mean of 2 batches").y).all()


def test_accuracies_and_the_simple_rule() -> None:
    figure = figures.accuracy_curves(Evaluations([0, 45, 90], [0.1, 0.4, 0.9], [0.1, 0.3, 0.7]), 90, 0.113)
    np.testing.assert_array_equal(trace(figure, "validation set").y, floats([0.1, 0.3, 0.7]))
    assert set(level(figure).y) == {np.float32(0.113)}
    assert level(figure).text[1] == "simple rule: 11%"
    assert figure.layout.yaxis.range[0] == 0
    assert figure.layout.yaxis.range[1] >= 1


def test_rates_and_gradients() -> None:
    values = batches(50)
    rate = figures.rate_curve(values, 50)
    np.testing.assert_array_equal(rate.data[0].y, floats(values))
    norm = figures.gradient_curve(values, 50, 0.5)
    np.testing.assert_array_equal(norm.data[0].y, floats(values))
    assert norm.layout.yaxis.type == "log"
    assert level(norm).text[1] == "clipped to 0.5"
    assert len(figures.gradient_curve(values, 50, 0).data) == 1


@pytest.mark.parametrize("n", [1, 99, 100, 101, 5_000])
def test_long_curves_are_thinned_by_averages_and_nothing_is_left_out(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n).astype(np.float32)
    at, means = figures.thinned(values)
    size = -(-n // 100)
    assert len(at) == len(means) == -(-n // size) <= 100
    windows = [range(start, min(start + size, n)) for start in range(0, n, size)]
    np.testing.assert_allclose(means, [np.mean(values[window]) for window in windows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(at, [np.mean(window) + 1 for window in windows])
    assert at.dtype == means.dtype == np.float32


@pytest.mark.parametrize("warmup", [1, 10, 777, 4_000])
def test_a_rate_is_drawn_with_its_peak_at_its_step(warmup: int) -> None:
    rates = [2e-3 * min(step / warmup, math.sqrt(warmup / step)) for step in range(1, 5_001)]
    drawn = figures.rate_curve(rates, 5_000).data[0]
    assert len(drawn.x) <= 52
    assert drawn.y.max() == np.float32(2e-3)
    assert drawn.x[drawn.y.argmax()] == warmup
    assert (drawn.x[0], drawn.x[-1]) == (1, 5_000)
    np.testing.assert_array_equal(drawn.y, floats(rates)[drawn.x.astype(int) - 1])


def test_the_steepest_gradient_is_drawn_as_steep_as_it_was() -> None:
    norms = [1.0] * 5_000
    norms[1_234] = 50.0
    drawn = figures.gradient_curve(norms, 5_000, 0).data[0]
    assert drawn.y.max() == 50
    assert drawn.x[drawn.y.argmax()] == 1_235
    assert drawn.name == "gradient norm, largest of each 50 steps"


def test_batches_that_share_a_point_are_called_their_mean() -> None:
    figure = figures.loss_curves(batches(5_000), losses(5_000, every=250), 5_000, 13)
    means = trace(figure, "batches, mean of each 50").y
    np.testing.assert_allclose(means, np.reshape(batches(5_000), (100, 50)).mean(1), rtol=1e-5)
    running = trace(figure, "mean of 200 batches")
    rolling = pd.Series(batches(5_000)).rolling(200, min_periods=1).mean().to_numpy()
    np.testing.assert_allclose(running.y, rolling[running.x.astype(int) - 1], rtol=1e-5)
    assert running.x[-1] == 5_000


def test_what_comes_next_is_a_bar_each_with_its_name_escaped() -> None:
    figure = figures.next_tokens(["<", "&", "␣"], np.array([0.5, 0.3, 0.2], np.float32))
    assert list(figure.data[0].y) == ["&lt;", "&amp;", "␣"]
    np.testing.assert_array_equal(figure.data[0].x, floats([0.5, 0.3, 0.2]))
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.range == (0, 1)


def test_a_live_update_is_small() -> None:
    """Arrays travel as base64; the lists that Plotly falls back to are several times as long."""
    values = batches(5_000)
    for figure in (
        figures.loss_curves(values, losses(5_000, every=250), 5_000, 13),
        figures.rate_curve(values, 5_000),
        figures.gradient_curve(values, 5_000, 0),
    ):
        figure.layout.template = None
        assert len(figure.to_json()) < 6_000


def test_labels_of_the_gradient_have_room_and_so_has_the_last_step() -> None:
    for norms, dtick in (([0.5, 3.0], "D2"), ([0.01, 40.0], 1), ([1e-9, 1.0], 2), ([0.0, 0.0], "D2")):
        figure = figures.gradient_curve(norms, 1_000, clip=1.0)
        assert figure.layout.yaxis.dtick == dtick
        assert figure.layout.margin.r >= text_width(["1000"]) / 2
