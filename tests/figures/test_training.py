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
from playground.training.history import Evaluation, History, Measure
from playground.training.optimiser import learning_rate
from playground.training.recipe import Recipe


def made(n: int, every: int = 30) -> History:
    """A run of n steps that goes well."""
    random = np.random.default_rng(0)
    looks = [
        Evaluation(step, Measure(2.5 - step / n, 0.1 + step / n / 2), Measure(2.6 - step / n, step / n / 2), 9.0)
        for step in range(0, n + 1, every)
    ]
    noise = random.uniform(0, 0.2, n)
    return History(list(2.5 - np.arange(n) / n + noise), list(np.linspace(0, 1e-3, n)), list(1 + noise), looks, [])


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def trace(figure: Any, name: str) -> Any:
    (found,) = (each for each in figure.data if each.name == name)
    return found


def level(figure: Any) -> Any:
    (found,) = (each for each in figure.data if each.line.dash == "dash")
    return found


def test_the_losses_are_the_historys() -> None:
    history = made(90)
    figure = figures.loss_curves(history, 600, 13)
    np.testing.assert_array_equal(trace(figure, "batches").y, floats(history.loss))
    np.testing.assert_array_equal(trace(figure, "batches").x, np.arange(1, 91))
    mean = pd.Series(history.loss).rolling(24, min_periods=1).mean()
    np.testing.assert_allclose(trace(figure, "mean of 24 batches").y, mean, rtol=1e-6)
    for name, part, colour in (
        ("training set", "train", palette.TRAINING),
        ("validation set", "validation", palette.VALIDATION),
    ):
        drawn = trace(figure, name)
        np.testing.assert_array_equal(drawn.x, [look.step for look in history.evaluations])
        np.testing.assert_array_equal(drawn.y, floats([getattr(look, part).loss for look in history.evaluations]))
        assert drawn.line.color == colour
    assert set(level(figure).y) == {np.float32(math.log(13))}
    assert level(figure).text[1] == "guessing: ln 13 = 2.56"
    assert figure.layout.yaxis.title.text == "loss, nats"
    assert figure.layout.xaxis.title.text == "step"


def test_axes_stay_while_a_run_goes_on() -> None:
    """They are as long as the whole run from the first step on, and as high as the loss before it."""
    whole = made(600)

    def after(n: int) -> History:
        looks = [look for look in whole.evaluations if look.step <= n]
        return History(whole.loss[:n], whole.lr[:n], whole.grad_norm[:n], looks, [])

    drawn = [figures.loss_curves(after(n), 600, 13) for n in (30, 200, 600)]
    assert len({(figure.layout.xaxis.range, figure.layout.yaxis.range) for figure in drawn}) == 1
    shares = [figures.accuracy_curves(after(n).evaluations, 600, 0.1) for n in (0, 600)]
    assert len({(figure.layout.xaxis.range, figure.layout.yaxis.range) for figure in shares}) == 1
    assert len({figure.layout.height for figure in drawn}) == 1


def test_before_the_first_step_there_are_axes_and_the_level_of_guessing() -> None:
    figure = figures.loss_curves(History(), 100, 8)
    assert all(len(drawn.y) == 0 for drawn in figure.data if drawn is not level(figure))
    assert figure.layout.yaxis.range == (0, 1.08 * math.log(8))
    assert len(figures.gradient_curve([], 100, 0).data[0].y) == 0


def test_a_loss_that_runs_away_is_drawn_on_a_log_axis_up_to_its_last_finite_value() -> None:
    history = made(40)
    history.loss[20:] = [100.0, 1e5, math.inf, math.nan, *[1.0] * 16]
    figure = figures.loss_curves(history, 40, 13)
    assert figure.layout.yaxis.type == "log"
    assert "log scale" in figure.layout.yaxis.title.text
    np.testing.assert_array_equal(trace(figure, "batches").y, floats(history.loss[:22]))
    assert np.isfinite(trace(figure, "mean of 2 batches").y).all()


def test_accuracies_and_the_simple_rule() -> None:
    history = made(90)
    figure = figures.accuracy_curves(history.evaluations, 90, 0.113)
    shown = trace(figure, "validation set")
    np.testing.assert_array_equal(shown.y, floats([look.validation.accuracy for look in history.evaluations]))
    assert set(level(figure).y) == {np.float32(0.113)}
    assert level(figure).text[1] == "simple rule: 11%"
    assert figure.layout.yaxis.title.text == "right answers"
    assert figure.layout.yaxis.range[0] == 0
    assert figure.layout.yaxis.range[1] >= 1


def test_rates_and_gradients() -> None:
    history = made(50)
    rate = figures.rate_curve(history.lr, 50)
    np.testing.assert_array_equal(rate.data[0].y, floats(history.lr))
    assert rate.layout.yaxis.title.text == "learning rate"
    norm = figures.gradient_curve(history.grad_norm, 50, 0.5)
    np.testing.assert_array_equal(norm.data[0].y, floats(history.grad_norm))
    assert norm.layout.yaxis.type == "log"
    assert level(norm).text[1] == "clipped to 0.5"
    assert len(figures.gradient_curve(history.grad_norm, 50, 0).data) == 1


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
    recipe = Recipe(steps=5_000, lr=2e-3, warmup=warmup)
    rates = [learning_rate(step, recipe) for step in range(1, 5_001)]
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
    history = made(5_000, every=250)
    figure = figures.loss_curves(history, 5_000, 13)
    means = trace(figure, "batches, mean of each 50").y
    np.testing.assert_allclose(means, np.reshape(history.loss, (100, 50)).mean(1), rtol=1e-5)
    running = trace(figure, "mean of 200 batches")
    rolling = pd.Series(history.loss).rolling(200, min_periods=1).mean().to_numpy()
    np.testing.assert_allclose(running.y, rolling[running.x.astype(int) - 1], rtol=1e-5)
    assert running.x[-1] == 5_000


def test_what_comes_next_is_a_bar_each_with_its_name_escaped() -> None:
    figure = figures.next_tokens(["<", "&", "␣"], np.array([0.5, 0.3, 0.2], np.float32))
    assert list(figure.data[0].y) == ["&lt;", "&amp;", "␣"]
    np.testing.assert_array_equal(figure.data[0].x, floats([0.5, 0.3, 0.2]))
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.range == (0, 1)
    assert figure.layout.yaxis.title.text == "character"


def test_a_live_update_is_small() -> None:
    """Arrays travel as base64; the lists that Plotly falls back to are several times as long."""
    history = made(5_000, every=250)
    for figure in (
        figures.loss_curves(history, 5_000, 13),
        figures.rate_curve(history.lr, 5_000),
        figures.gradient_curve(history.grad_norm, 5_000, 0),
    ):
        figure.layout.template = None
        assert len(figure.to_json()) < 6_000
