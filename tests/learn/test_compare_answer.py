"""An answer beside the truth: the numbers of its charts, against ones read off the run here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playground.charts.chart import Heatmap, Item, Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.learn.compare_answer import compare_answer
from playground.learn.exercise import Variant, read_exercise

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "exercises"


def demo(name: str) -> Variant:
    file = _FOLDER / f"demo-{name}.yaml"
    return Variant(read_exercise(file.read_text(encoding="utf-8"), file.name), 0)


def compare(variant: Variant, answer: Any = None) -> Item:
    (item,) = compare_answer(variant, None if answer is None else variant.read(answer))
    return item


def test_a_number_stands_beside_the_computed_one() -> None:
    both, alone = compare(demo("number"), 2048), compare(demo("number"))
    assert isinstance(both, Paragraph)
    assert isinstance(alone, Paragraph)
    assert "2,048" in both.text
    assert "2,048" not in alone.text
    assert "2,176" in both.text
    assert "2,176" in alone.text


@pytest.mark.parametrize(("name", "place"), [("click", (1, 0)), ("token", (3,))])
def test_both_places_are_framed_in_the_numbers(name: str, place: tuple[int, ...]) -> None:
    variant = demo(name)
    run = variant.view.run
    weights = run.patterns()[:, :, 2, 4] if name == "click" else run.pattern(1)[1, 1][None]
    chart = compare(variant, place)
    assert isinstance(chart, Heatmap)
    np.testing.assert_array_equal(chart.values(None), weights)
    cells = [(rows[0], columns[0]) for rows, columns, *_ in chart.frames(None)]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert cells == [tuple(best), place if name == "click" else (0, *place)]
    assert len(draw_chart(chart, Scene[Any](None)).now.figure["layout"]["shapes"]) == 2
    alone = compare(variant)
    assert isinstance(alone, Heatmap)
    assert len(alone.frames(None)) == 1


def test_each_option_says_whether_it_is_true() -> None:
    words = compare(demo("several"), ["attention", "norms"])
    assert isinstance(words, Paragraph)
    marks = [(line[2], "your answer" in line) for line in words.text.splitlines()]
    assert marks == [("✓", True), ("✗", True), ("✓", False)]
