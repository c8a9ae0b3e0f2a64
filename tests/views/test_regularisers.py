"""The view Regularisers as a function on values: curves, legend, table and answer against runs made here."""

import math
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.chart import Item, Picture
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.training.network import Measured
from playground.training.tasks import make_data
from playground.training.variants import (
    SIZES,
    VariantsState,
    VariantTraining,
    comparison_recipe,
    measure_effects,
    regulariser_runs,
)
from playground.views.regularisers import LINES, find_change, show_curves, show_details, tabulate_runs
from tests.views.scenes import parts_of

N_STEPS = 6


@cache
def watch(*fields: str, n_seeds: int = 1, n_done: int | None = None) -> VariantsState:
    """Runs of “Reverse”, after so many steps of all of them; at their end without a number."""
    recipe = replace(comparison_recipe("reverse", "small", 7, {}), n_validation=40, steps=N_STEPS)
    config = ModelConfig(vocab_size=len(make_data(recipe).vocabulary), **SIZES)
    training = VariantTraining(regulariser_runs(config, recipe, fields, n_seeds))
    for _ in islice(training.run(), n_done):
        pass
    return training.state


def show(watched: VariantsState, measured: Measured = "accuracy") -> list[Item]:
    options = {"regularisers_measure": measured}
    return parts_of([*show_curves(Scene(watched), options), *show_details()])


def lines_of(watched: VariantsState, name: str, measured: Measured) -> list[dict[str, Any]]:
    """What is drawn of a set's chart, which is valid for Plotly: the level, and a line a run."""
    charts = {each.key: each for each in show(watched, measured) if isinstance(each, Picture)}
    figure = draw_chart(charts[f"regularisers_{name}"], Scene(watched)).now.figure
    return [trace.to_plotly_json() for trace in go.Figure(figure).data]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("measured", ["accuracy", "loss"])
@pytest.mark.parametrize("n_seeds", [1, 3])
def test_a_line_is_its_run(n_seeds: int, measured: Measured) -> None:
    watched = watch("clip", "weight_decay", n_seeds=n_seeds)
    results, guess = watched.results, math.log(len(watched.data.labels))
    assert len(results) == 3 * n_seeds
    table = tabulate_runs(watched, measured)
    for name, called in (("train", "training set"), ("validation", "validation set")):
        level, *lines = lines_of(watched, name, measured)
        np.testing.assert_allclose(level["y"], [{"accuracy": watched.data.baseline, "loss": guess}[measured]] * 2)
        for line, result in zip(lines, results, strict=True):
            numbers = [getattr(getattr(each, name), measured) for each in result.history.evaluations]
            np.testing.assert_allclose(line["y"], numbers, rtol=1e-6)
            assert line["x"].tolist() == list(range(N_STEPS + 1))
            look = LINES[result.run.name]
            assert line["line"] == {**look, "width": look["width"] if n_seeds == 1 else 1}
            np.testing.assert_array_equal(table[f"{line['name']}, {called}"], numbers)
            assert str(result.run.recipe.seed) in line["name"] or n_seeds == 1


@pytest.mark.parametrize("measured", ["accuracy", "loss"])
def test_where_a_run_diverged_its_chart_has_a_cross(measured: Measured) -> None:
    watched = watch("weight_decay")
    none, other = watched.results
    away = replace(none, outcome="diverged", history=replace(none.history, loss=none.history.loss[:2]))
    shown = replace(watched, results=(away, other))
    cross = lines_of(shown, "train", measured)[2]
    assert cross["marker"]["symbol"] == "x"
    assert cross["x"].tolist() == [2]
    assert cross["y"].tolist() == pytest.approx([getattr(none.history.evaluations[-1].train, measured)])


def test_the_answer_has_the_numbers_of_what_changed_most() -> None:
    watched = watch("clip", "weight_decay", n_seeds=3)
    plain, *others = measure_effects(watched).values()
    most = max(others, key=lambda effect: abs(effect.accuracy_change))
    case, numbers = find_change(watched)
    assert (case, numbers["right"], numbers["plain"]) == ("seeds", most.accuracy, plain.accuracy)
    assert (numbers["title"], numbers["spread"]) == (most.run.title, f"{100 * most.accuracy_spread:.1f}")
    alone = watch("clip", n_done=N_STEPS + 2)
    assert find_change(replace(alone, results=alone.results[:1]))[0] == "plain"
    assert find_change(watch("clip"))[0] == "seed"
    assert find_change(replace(watched, results=())) == ("begun", {})
