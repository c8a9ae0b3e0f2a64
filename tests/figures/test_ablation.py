"""The curves of an ablation: their numbers are the runs', and every line can be told apart from the others."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from playground import ModelConfig
from playground.figures import ablation as figures
from playground.figures import palette
from playground.figures.ablation import Measured, Set
from playground.training.history import Evaluation, History, Measure
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import Ablation, ArmResult, arms
from playground.training.regularisers.catalogue import REGULARISERS

CONFIG = ModelConfig(vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=16, dropout=0.0)
RECIPE = Recipe(task="reverse", length=6, n_symbols=5, n_train=40, n_validation=24, steps=6, batch_size=8)
LEVEL = (0.2, "simple rule")


@pytest.fixture(scope="module")
def results() -> list[ArmResult]:
    ablation = Ablation(CONFIG, arms(RECIPE, ["clip", "dropout_residual", "mask_padding"]))
    for _ in ablation.run():
        pass
    return ablation.results()


@pytest.mark.parametrize("measured", ["accuracy", "loss"])
@pytest.mark.parametrize("of", ["train", "validation"])
def test_a_line_is_its_runs_evaluations(results: list[ArmResult], of: Set, measured: Measured) -> None:
    figure = figures.curves(results, of, measured, steps=6, top=2.0, level=LEVEL)
    level, *lines = figure.data
    assert len(lines) == len(results) == 5
    for line, result in zip(lines, results, strict=True):
        looks = result.history.evaluations
        assert line.name == result.arm.title
        assert line.x.tolist() == [look.step for look in looks]
        values = [getattr(getattr(look, of), measured) for look in looks]
        np.testing.assert_allclose(line.y, values, rtol=1e-6)
        assert (line.line.color, line.line.dash) == (
            figures.line_of(result.arm).colour,
            figures.line_of(result.arm).dash,
        )
        assert result.arm.title in line.hovertemplate
    assert level.y.tolist() == [np.float32(0.2)] * 2
    assert level.text == ("", "simple rule")
    assert figure.layout.yaxis.range == (0, 2.0)
    assert figure.layout.xaxis.range[1] > 6
    assert figure.layout.xaxis.title.text == "step"
    assert {"accuracy": "right answers", "loss": "loss, nats"}[measured] == figure.layout.yaxis.title.text


def test_before_a_run_there_are_the_axes_and_the_level() -> None:
    figure = figures.curves([], "train", "accuracy", steps=500, top=1.04, level=LEVEL)
    assert len(figure.data) == 1
    assert figure.layout.yaxis.range == (0, 1.04)


def test_every_run_has_a_line_of_its_own() -> None:
    every = arms(RECIPE, list(REGULARISERS))
    lines = [figures.line_of(arm) for arm in every]
    assert len(set(lines)) == len(every) == len(REGULARISERS) + 2
    assert lines[0].colour == palette.NO_REGULARISER
    assert lines[-1].colour == palette.ALL_REGULARISERS
    assert all(re.fullmatch("#[0-9a-f]{6}", line.colour) for line in lines)
    assert {line.dash for line in lines} <= {"solid", "dash", "dot", "dashdot"}


def test_a_line_does_not_depend_on_a_title() -> None:
    together = arms(RECIPE, ["clip", "patience"])[-1]
    assert figures.line_of(replace(together, title="everything")) == figures.line_of(together)


def test_a_run_keeps_its_line_whatever_else_is_chosen() -> None:
    alone = {arm.title: figures.line_of(arm) for arm in arms(RECIPE, ["span_masking"])}
    among = {arm.title: figures.line_of(arm) for arm in arms(RECIPE, list(REGULARISERS))}
    assert among["Span masking"] == alone["Span masking"]


def test_dropout_has_one_colour_and_other_regularisers_have_others() -> None:
    colours = {arm.title: figures.line_of(arm).colour for arm in arms(RECIPE, list(REGULARISERS))}
    dropouts = {colour for title, colour in colours.items() if title.startswith("Dropout")}
    assert len(dropouts) == 1
    assert len(set(palette.REGULARISERS.values())) == 9


def losses(*values: float) -> ArmResult:
    looks = [Evaluation(i, Measure(value / 2, 0.5), Measure(value, 0.5), 1.0) for i, value in enumerate(values)]
    return ArmResult(arms(RECIPE, [])[0], History(evaluations=looks), "", looks[-1])


def test_the_axis_ends_above_all_losses_and_seldom_moves() -> None:
    guess = math.log(10)
    assert figures.top_of([], "loss", 10) == pytest.approx(1.5 * guess)
    assert figures.top_of([losses(guess, 1.0)], "loss", 10) == pytest.approx(1.5 * guess)
    tops = {figures.top_of([losses(2.0, highest)], "loss", 10) for highest in np.linspace(2.0, 6.8, 50)}
    assert len(tops) <= 5
    for highest in (2.0, 5.0, 40.0):
        assert figures.top_of([losses(1.0), losses(highest)], "loss", 10) >= highest
    assert math.isfinite(figures.top_of([losses(2.0, math.inf, math.nan)], "loss", 10))
    assert figures.top_of([losses(9.0)], "accuracy", 10) == 1.04
