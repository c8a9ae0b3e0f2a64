"""The four kinds of answers: read, judged, and drawn beside the truth."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from playground import check_answer
from playground.charts.chart import Heatmap, Item, Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.errors import InputError
from playground.learn.answers import parse_number, write_answer
from playground.learn.exercise import Variant, read_exercise, shipped_exercises
from tests.learn.test_reading import WHOLE

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "exercises"
RUN = {"weights": "random", "tokenizer": "word", "text": "a b c", "d_model": 32, "n_heads": 4, "n_layers": 2}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" .25 ", 0.25),
        ("0,25", 0.25),
        ("1/4", 0.25),
        ("25 %", 0.25),
        ("−3e-4", -3e-4),
        ("1,024.5", 1024.5),
        ("1 024", 1024),
    ],
)
def test_ways_to_write_a_number(text: str, number: float) -> None:
    assert parse_number(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("text", ["", "many", "1/0", "1/2/3", "%", "1.2.3", "nan", "1e999", "1" * 5_000 + "x"])
def test_what_is_no_number_gets_a_sentence_that_shows_some(text: str) -> None:
    with pytest.raises(InputError, match=r"0\.25, 1/4 or 25 %"):
        parse_number(text)


def posed(answer: dict[str, Any], when: str) -> Variant:
    """An exercise with one expected mistake."""
    changed = {
        "state": RUN,
        "cases": [{}],
        "mistakes": [{"name": "expected", "when": when, "feedback": "Look again.", "example": 0}],
        "explanation": "So.",
        "page": "attention",
        "answer": answer,
    }
    return Variant(read_exercise(yaml.safe_dump({**yaml.safe_load(WHOLE), **changed})), 0)


def check(variant: Variant, answer: Any) -> str:
    return variant.check(variant.read(answer))


def assert_refused(variant: Variant, *answers: Any) -> None:
    for answer in answers:
        with pytest.raises(InputError):
            variant.read(answer)


def test_one_of_several_options() -> None:
    options = {"more": {"text": "More", "when": "1 > 2"}, "less": {"text": "Less", "when": "1 < 2"}}
    variant = posed({"kind": "choose", "options": options}, "answer == 'more'")
    assert check(variant, "less") == ""
    assert check(variant, ["more"]) == "Look again."
    assert not variant.is_right(("more", "less"))
    assert_refused(variant, "other", [], None, 3)


def test_several_options() -> None:
    options = {name: {"text": name, "when": f"{i} < 2"} for i, name in enumerate("abc")}
    variant = posed({"kind": "choose", "several": True, "options": options}, "'c' in answer")
    assert check(variant, ["b", "a"]) == ""
    assert check(variant, ["a", "b", "c"]) == "Look again."
    assert variant.find_mistake(variant.read("a")) is None


def test_a_number_within_its_tolerance() -> None:
    answer = {"kind": "number", "truth": "config[d_model] / config[n_heads]", "tolerance": 0.1}
    variant = posed(answer, "near(answer, config[d_model])")
    assert [variant.is_right(number) for number in (7.1, 7.3, 8.0, 8.7, 9.0)] == [False, True, True, True, False]
    assert check(variant, "66/2") == "Look again."
    assert posed({**answer, "tolerance": 0.0, "within": 2.0}, "1 > 2").is_right(10)
    assert_refused(variant, "nan", float("inf"), "x", None, [1])


def test_a_head_by_place_or_by_name() -> None:
    variant = posed({"kind": "click", "of": "heads.focus"}, "row == column")
    weights = variant.view.run.patterns()[:, :, variant.view.focus.query, variant.view.focus.key]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert variant.read(["layer 0", "head 2"]) == (0, 2)
    for cell in np.ndindex(*weights.shape):
        assert variant.is_right(cell) == (cell == best)
        assert (variant.find_mistake(cell) is not None) == (cell[0] == cell[1])
    assert_refused(variant, ["layer 0"], ["layer 0", "z"], "layer 0", [0, 4], None)
    with pytest.raises(InputError, match="one or two axes"):
        _ = posed({"kind": "click", "of": "pattern[0,1,b,c]"}, "1 > 2").truth


def test_settings_until_a_condition_holds() -> None:
    answer = {"kind": "settings", "until": "parameters.total < start.parameters.total", "keep": ["d_model"]}
    variant = posed(answer, "config[d_ff] > start.config[d_ff]")
    assert check(variant, {"n_layers": 1}) == ""
    assert "`d_model`" in check(variant, {"d_model": 16})
    assert check(variant, {"d_ff": 3072}) == "Look again."
    assert variant.find_mistake(variant.read({})) is None
    with pytest.raises(InputError, match="from the start"):
        _ = posed({"kind": "settings", "until": "1 < 2"}, "1 > 2").truth


@pytest.mark.parametrize("kind", ["choose", "number", "click", "settings"])
def test_an_answer_is_checked_in_a_notebook(kind: str) -> None:
    exercise = next(each for each in shipped_exercises().values() if each.answer.kind == kind)
    assert check_answer(exercise.key, exercise.solved) == "Right."
    mistake = next(each for each in exercise.mistakes if each.example is not None)
    assert check_answer(exercise.key, mistake.example) == Variant(exercise, 0).fill(mistake.feedback)
    with pytest.raises(InputError, match=r"no answer|[Hh]ere|An answer"):
        check_answer(exercise.key, ...)


def demo(name: str) -> Variant:
    file = _FOLDER / f"demo-{name}.yaml"
    return Variant(read_exercise(file.read_text(encoding="utf-8"), file.name), 0)


def compare(variant: Variant, answer: Any = None) -> Item:
    kind: Any = variant.exercise.answer
    item: Item = kind.compare(None if answer is None else variant.read(answer), variant)
    return item


@pytest.mark.parametrize(("answer", "told"), [(2048, [True, True]), (None, [False, True])])
def test_a_number_stands_beside_the_computed_one(answer: float | None, told: list[bool]) -> None:
    words = compare(demo("number"), answer)
    assert isinstance(words, Paragraph)
    assert [number in words.text for number in ("2,048", "2,176")] == told
    assert [write_answer(x) for x in (22_565_376.0, 0.67684, 1e300)] == ["22,565,376", "0.6768", "1e+300"]


@pytest.mark.parametrize(("name", "place"), [("click", (1, 0)), ("token", (3,))])
def test_both_places_are_framed_in_the_numbers(name: str, place: tuple[int, ...]) -> None:
    variant = demo(name)
    run = variant.view.run
    weights = run.patterns()[:, :, 2, 4] if name == "click" else run.pattern(1)[1, 1][None]
    chart, alone = compare(variant, place), compare(variant)
    assert isinstance(chart, Heatmap)
    assert isinstance(alone, Heatmap)
    np.testing.assert_array_equal(chart.values(None), weights)
    cells = [(rows[0], columns[0]) for rows, columns, *_ in chart.frames(None)]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert cells == [tuple(best), place if name == "click" else (0, *place)]
    assert len(draw_chart(chart, Scene[Any](None)).now.figure["layout"]["shapes"]) == 2
    assert len(alone.frames(None)) == 1


def test_each_option_says_whether_it_is_true() -> None:
    words = compare(demo("several"), ["attention", "norms"])
    assert isinstance(words, Paragraph)
    marks = [(line[2], "your answer" in line) for line in words.text.splitlines()]
    assert marks == [("✓", True), ("✗", True), ("✓", False)]
