"""An answer beside the truth: the numbers of its charts, against ones read off the run here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playground.charts.chart import Bars, Curves, Heatmap, Item, Paragraph, Table
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.learn.answers import handle_places
from playground.learn.compare_answer import compare_answer
from playground.learn.exercise import Variant, read_exercise
from playground.learn.quantities import Numbers, axis_names

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "exercises"
SCENE = Scene[Any](None)


def demo(name: str) -> Variant:
    file = _FOLDER / f"demo-{name}.yaml"
    return Variant(read_exercise(file.read_text(encoding="utf-8"), file.name), 0)


def compare(variant: Variant, answer: Any = None) -> Item:
    (item,) = compare_answer(variant, None if answer is None else variant.read(answer))
    return item


def test_a_number_is_a_bar_beside_the_runs() -> None:
    chart = compare(demo("number"), 2048)
    assert isinstance(chart, Bars)
    assert chart.bars(None) == {"you": {"you": 2048.0}, "computed": {"computed": 2176.0}}
    assert "2,048" in chart.caption
    alone = compare(demo("number"))
    assert isinstance(alone, Bars)
    assert alone.bars(None) == {"computed": {"computed": 2176.0}}
    assert "You" not in alone.caption


@pytest.mark.parametrize(("name", "place"), [("click", (2, 1)), ("token", (3,))])
def test_both_places_are_framed_in_the_numbers(name: str, place: tuple[int, ...]) -> None:
    variant = demo(name)
    run = variant.view.run
    weights = run.pattern(0)[0] if name == "click" else run.pattern(1)[1, 1][None]
    chart = compare(variant, place)
    assert isinstance(chart, Heatmap)
    np.testing.assert_array_equal(chart.values(None), weights)
    cells = [(frame.rows[0], frame.columns[0]) for frame in chart.frames(None)]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert cells == [tuple(best), place if name == "click" else (0, *place)]
    assert len(draw_chart(chart, SCENE).now.figure["layout"]["shapes"]) == 2
    alone = compare(variant)
    assert isinstance(alone, Heatmap)
    assert len(alone.frames(None)) == 1


def test_the_smallest_is_another_place() -> None:
    numbers = Numbers(np.array([[3.0, np.nan], [-1.0, 2.0]]), ("a", "b"), ("c", "d"))
    assert numbers.best("largest") == (0, 0)
    assert numbers.best("smallest") == (1, 0)


def test_orders_stand_beside_each_other_with_the_numbers() -> None:
    table = compare(demo("order"), ["norms", "attention", "feed-forward"])
    assert isinstance(table, Table)
    frame = table.frame(None)
    assert frame["you"].tolist() == ["Norms", "Attention", "Feed-forward"]
    assert frame["computed"].tolist() == ["Attention", "Feed-forward", "Norms"]
    assert frame["its number"].tolist() == ["2,176", "2,144", "160"]


def test_both_curves_have_their_points() -> None:
    variant = demo("draw")
    chart = compare(variant, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert isinstance(chart, Curves)
    run, you = chart.curves(None)
    np.testing.assert_array_equal(run.y, variant.view.run.pattern(0)[0, 2])
    np.testing.assert_array_equal(you.x, handle_places(5))
    axis = draw_chart(chart, SCENE).now.figure["layout"]["xaxis"]
    assert (axis["tickmode"], axis["ticktext"]) == ("array", ["a", "cat", "sat", "down", "here"])
    assert you.y.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_array_equal(variant.heights, run.y[handle_places(len(run.y))])


def test_each_option_says_whether_it_is_true() -> None:
    words = compare(demo("several"), ["attention", "norms"])
    assert isinstance(words, Paragraph)
    marks = [(line[2], "your answer" in line) for line in words.text.splitlines()]
    assert marks == [("✓", True), ("✗", True), ("✓", False)]


def test_names_that_come_twice_are_told_apart() -> None:
    assert axis_names(["the", "cat", "the"]) == ["the₀", "cat₁", "the₂"]
    assert axis_names(["a", "b"]) == ["a", "b"]
