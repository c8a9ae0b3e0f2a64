"""The drawing of a growing curve gets what the figure shows, and nothing more."""

import numpy as np

from playground.figures import training as figures
from playground.training.history import Evaluation, History, Measure
from playground.web.curve_drawing import described

LOOKS = [Evaluation(step, Measure(2.0 - step / 50, 0.5), Measure(2.1, 0.25), 10.0) for step in (0, 20, 40)]
HISTORY = History([2.123456] * 40, [1e-3] * 40, [3.0] * 40, LOOKS, [])


def test_every_line_of_the_figure_is_drawn_with_its_numbers_in_four_digits() -> None:
    figure = figures.loss_curves(HISTORY, 100, 13)
    data = described(figure)
    assert [line["name"] for line in data["lines"]] == [
        "batches", "mean of 4 batches", "training set", "validation set", None,
    ]  # fmt: skip
    for line, trace in zip(data["lines"], figure.data, strict=True):
        np.testing.assert_array_equal(line["x"], trace.x)
        np.testing.assert_allclose(line["y"], trace.y, rtol=5e-4)
        assert (line["colour"], line["width"]) == (trace.line.color, trace.line.width)
    assert data["lines"][0]["y"][0] == 2.123
    assert [line["dots"] for line in data["lines"]] == [False, False, True, True, False]
    assert [line["dashed"] for line in data["lines"]] == [False, False, False, False, True]
    assert data["lines"][4]["note"] == "guessing: ln 13 = 2.56"


def test_axes_are_the_figures() -> None:
    loss, shares = (
        described(figures.loss_curves(HISTORY, 100, 13)),
        described(figures.accuracy_curves(LOOKS, 100, 0.1)),
    )
    assert loss["x"] == shares["x"] == [-1, 101]
    assert loss["y"][0] == 0
    assert (loss["log"], loss["percent"], shares["percent"]) == (False, False, True)
    assert loss["titles"] == ["step", "loss, nats"]
    assert loss["height"] == figures.loss_curves(HISTORY, 100, 13).layout.height
    norm = described(figures.gradient_curve(HISTORY.grad_norm, 100, 0.5))
    assert (norm["log"], norm["y"], norm["legend"]) == (True, None, False)
