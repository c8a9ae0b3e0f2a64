"""The curves of an ablation: their numbers are the runs', and every line can be told apart from the others."""

import math
import re

import numpy as np
import pytest

from playground.figures import palette
from playground.figures import training as figures
from playground.figures.training import LINES, Curve, Measured
from playground.training.regularisers.catalogue import REGULARISERS


def curve(name: str, *values: float) -> Curve:
    return Curve(f"run {name}", LINES[name], list(range(len(values))), values)


@pytest.mark.parametrize("measured", ["accuracy", "loss"])
def test_a_line_is_its_run(measured: Measured) -> None:
    runs = [curve("none", 0.1, 0.5), curve("clip", 0.1, 0.6, 0.7), curve("causal")]
    figure = figures.curves(runs, measured, steps=6, top=2.0, level=(0.2, "simple rule"))
    level, *lines = figure.data
    for line, run in zip(lines, runs, strict=True):
        assert line.name == run.title
        assert run.title in line.hovertemplate
        assert line.x.tolist() == run.steps
        np.testing.assert_allclose(line.y, run.values, rtol=1e-6)
        assert (line.line.color, line.line.dash) == (run.line.colour, run.line.dash)
    assert [line.line.width for line in lines] == [3, 2, 2]
    assert level.y.tolist() == [np.float32(0.2)] * 2
    assert level.text == ("", "simple rule")
    assert figure.layout.yaxis.range == (0, 2.0)
    assert figure.layout.xaxis.range[1] > 6


def test_before_a_run_there_are_the_axes_and_the_level() -> None:
    figure = figures.curves([], "accuracy", steps=500, top=1.04, level=(0.2, "simple rule"))
    assert len(figure.data) == 1
    assert figure.layout.yaxis.range == (0, 1.04)


def test_every_regulariser_has_a_line_of_its_own_in_the_colour_of_its_number() -> None:
    assert set(LINES) == {"none", "all", *REGULARISERS}
    assert len(set(LINES.values())) == len(LINES)
    assert all(re.fullmatch("#[0-9a-f]{6}", line.colour) for line in LINES.values())
    assert {line.dash for line in LINES.values()} == {"solid", "dash", "dot", "dashdot", "longdash"}
    for field, regulariser in REGULARISERS.items():
        assert LINES[field].colour == palette.REGULARISERS[regulariser.number]
    assert len({LINES[field].colour for field in REGULARISERS if field.startswith("dropout")}) == 1
    assert len(set(palette.REGULARISERS.values())) == 9


def test_the_axis_ends_above_all_losses_and_seldom_moves() -> None:
    guess = math.log(10)

    def top(*values: float) -> float:
        return figures.axis_top([curve("none", 1.0), curve("clip", *values)], "loss", 10)

    assert figures.axis_top([], "loss", 10) == top(guess) == pytest.approx(1.5 * guess)
    assert len({top(2.0, highest) for highest in np.linspace(2.0, 6.8, 50)}) <= 5
    assert all(top(highest) >= highest for highest in (2.0, 5.0, 40.0))
    assert math.isfinite(top(2.0, math.inf, math.nan))
    assert figures.axis_top([curve("none", 9.0)], "accuracy", 10) == 1.04
