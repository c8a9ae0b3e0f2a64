"""The view Training on values: what is shown of a run is its history, its attention and its network's answers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.charts.chart import Control, Heatmap, Item, Menu, Picture
from playground.charts.draw import Drawn, draw_chart
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.training.network import Evaluation, History, Measure, Sample
from playground.training.tasks import TASKS
from playground.training.variants import Training, TrainingState
from playground.views import training as view
from tests.training.trained import CONFIG, RECIPE
from tests.views.scenes import parts_of

NOISE = np.random.default_rng(0).uniform(0, 0.2, 5_000)
ATTENTION = {"training_attention": "self", "training_moment": 20, "training_layer": 0, "training_head": 0}


@cache
def ended(**changes: Any) -> TrainingState:
    """A run that has ended, as others see it."""
    run = Training(CONFIG, replace(RECIPE, **changes))
    for _ in run.run():
        pass
    run.close("finished")
    return run.state


def drawn(items: Sequence[Item], run: Scene[Any]) -> dict[str, Drawn]:
    """The charts of a view, by key; Plotly takes them."""
    charts = {each.key: draw_chart(each, run).now for each in items if isinstance(each, Picture | Heatmap)}
    for chart in charts.values():
        go.Figure(chart.figure)
    return charts


def batches(n: int) -> list[float]:
    """The losses of a run of n steps that goes well."""
    return list(2.5 - np.arange(n) / n + NOISE[:n])


def evaluations(n: int, every: int = 30) -> list[Evaluation]:
    return [
        Evaluation(step, Measure(2.5 - step / n, step / n), Measure(2.6 - step / n, 0.5 * step / n))
        for step in range(0, n + 1, every)
    ]


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def trace(figure: Figure, name: str) -> dict[str, Any]:
    (found,) = (each for each in figure["data"] if each.get("name") == name)
    return dict(found)


def level(figure: Figure) -> dict[str, Any]:
    (found,) = (each for each in figure["data"] if each["line"].get("dash") == "dash")
    return dict(found)


# --- a run in numbers


def test_four_charts_are_the_history() -> None:
    state = ended(clip=0.5)
    history, run = state.history, Scene(state)
    items = parts_of([*view.show_curves(run), *view.show_details(run)])
    charts = drawn(items, run)
    looks = history.evaluations
    for key, number, values in (
        ("loss", 0, history.loss),
        ("loss", 2, [look.validation.loss for look in looks]),
        ("accuracy", 1, [look.validation.accuracy for look in looks]),
        ("accuracy", 0, [look.train.accuracy for look in looks]),
        ("rate", 0, history.lr),
        ("gradient", 0, history.grad_norm),
    ):
        figure = charts[f"training_{key}"].figure
        np.testing.assert_array_equal(figure["data"][number]["y"], floats(values))
    assert level(charts["training_gradient"].figure)["text"][1] == "clipped to 0.5"


def test_the_answer_is_the_latest_accuracy_and_at_the_end_that_of_the_weights_that_were_kept() -> None:
    under_way = replace(ended(), trained=None, history=History(evaluations=evaluations(60)))
    last = under_way.history.evaluations[-1].validation
    assert under_way.latest == (60, last.loss, last.accuracy)
    kept = ended().trained
    assert kept is not None
    earlier = replace(kept, results=replace(kept.results, kept_step=4, validation_loss=1.25, validation_accuracy=0.5))
    shown = replace(under_way, trained=earlier)
    assert shown.latest == (4, 1.25, 0.5)
    assert replace(under_way, history=History()).latest is None
    answer = view.show_answer(RECIPE, 60, 0.5, 0.113, "Told.").text
    assert answer.startswith("Told. After 60 of")
    assert "**50.0%**" in answer
    assert "**11.3%**" in answer


# --- curves


def test_a_loss_that_runs_away_is_drawn_up_to_its_last_finite_value() -> None:
    values = [*batches(20), 100.0, 1e5, math.inf, math.nan, *[1.0] * 16]
    figure = view.draw_losses(History(loss=values, evaluations=evaluations(40)), 40, 13)
    assert figure["layout"]["yaxis"]["range"] == [0, 4 * math.log(13)]
    np.testing.assert_array_equal(trace(figure, "batches")["y"], floats(values[:22]))


def test_a_rate_is_drawn_with_its_peak_at_its_step() -> None:
    warmup = 777
    rates = [2e-3 * min(step / warmup, math.sqrt(warmup / step)) for step in range(1, 5_001)]
    (line,) = view.draw_rates(rates, 5_000)["data"]
    assert len(line["x"]) <= 52
    assert line["y"].max() == np.float32(2e-3)
    assert line["x"][line["y"].argmax()] == warmup
    assert (line["x"][0], line["x"][-1]) == (1, 5_000)
    np.testing.assert_array_equal(line["y"], floats(rates)[line["x"].astype(int) - 1])


# --- attention over time


def attention(state: TrainingState, **options: Any) -> tuple[list[Item], Drawn]:
    """The view's items, and its map."""
    items = parts_of(view.show_attention(Scene(state), ATTENTION | options))
    return items, drawn(items, Scene(state))["training_pattern"]


@pytest.mark.parametrize(("task", "name"), [("reverse", "self"), ("seq2seq-reverse", "cross")])
def test_attention_is_that_of_the_chosen_moment_and_head(task: Any, name: str) -> None:
    state = ended(task=task)
    (_, first), *_, (last, final) = state.history.snapshots.items()
    items, chart = attention(state, training_attention=name, training_layer=1, training_head=1)
    np.testing.assert_array_equal(chart.figure["data"][0]["z"], final[name][1, 1])
    assert chart.saved_as == f"training_attention_step{last}_layer1_head1"
    _, chart = attention(state, training_attention=name, training_layer=7, training_head=15, training_moment=0)
    np.testing.assert_array_equal(chart.figure["data"][0]["z"], first[name][1, 1], "the last that there are")
    controls = {each.key: each.high for each in items if isinstance(each, Control)}
    assert controls == {"training_moment": 20, "training_layer": 1, "training_head": 1}
    menus = [[*each.names.values()] for each in items if isinstance(each, Menu)]
    assert menus == ([list(final)] if len(final) > 1 else [])


# --- the trained network


def test_what_is_wrong_in_an_answer_is_marked_and_what_is_missing_too() -> None:
    samples = [Sample("a", ("a", "b", "c"), tuple(answer)) for answer in ("abc", "bbc", "a", "abc*")]
    frame = view.tabulate_answers("key", TASKS["reverse"], samples).frame(None)
    marked = ["a b c", ":red-background[b] b c", "a :red-background[– –]", r"a b c :red-background[\*]"]
    assert list(frame["it says"]) == marked
    assert list(frame["mistakes"]) == ["none", "1 of 3", "2 of 3", "1 of 4"]
