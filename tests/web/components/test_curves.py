"""The drawing of a growing curve gets what the figure shows, and nothing more."""

import json
import math

import numpy as np

from playground.training.network import Evaluation, History, Measure
from playground.views.training import draw_gradients, draw_losses
from playground.web.components import curve_data

BATCHES = [2.123456] * 40
LOOKS = [
    Evaluation(0, Measure(2.0, 0.5), Measure(2.1, 0.25)),
    Evaluation(20, Measure(1.6, 0.5), Measure(2.1, 0.25)),
    Evaluation(40, Measure(1.2, 0.5), Measure(2.1, 0.25)),
]
HISTORY = History(loss=BATCHES, evaluations=LOOKS)


def test_every_line_of_the_figure_is_drawn_with_its_numbers_in_four_digits() -> None:
    figure = draw_losses(HISTORY, 100, 13)
    data = curve_data(figure)
    assert [line["name"] for line in data["lines"]] == [
        "batches", "training set", "validation set", None,
    ]  # fmt: skip
    for line, trace in zip(data["lines"], figure["data"], strict=True):
        np.testing.assert_array_equal(line["x"], trace["x"])
        np.testing.assert_allclose(line["y"], trace["y"], rtol=5e-4)
        assert (line["colour"], line["width"]) == (trace["line"]["color"], trace["line"]["width"])
    assert data["lines"][0]["y"][0] == 2.123
    assert [line["dots"] for line in data["lines"]] == [False, True, True, False]
    assert data["lines"][3]["note"] == "guessing: ln 13 = 2.56"
    assert (data["x"], data["y"][0], data["titles"]) == ([-1, 101], 0, ["step", "loss, nats"])
    norm = curve_data(draw_gradients([3.0] * 40, 100, 0.5))
    assert (norm["log"], norm["y"], norm["legend"]) == (True, None, False)


def test_what_is_no_finite_number_is_left_out() -> None:
    """Of a run whose loss ran away, or whose evaluation failed; JSON has no word for it, and the browser would stop."""
    broken = Evaluation(60, Measure(math.nan, 0), Measure(math.inf, 0))
    data = curve_data(draw_losses(History(evaluations=[*LOOKS, broken]), 100, 13))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    train, validation = data["lines"][1:3]
    assert train["x"] == validation["x"] == [0, 20, 40]
    assert train["y"] == [2.0, 1.6, 1.2]
