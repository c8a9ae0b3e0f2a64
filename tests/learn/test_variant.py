"""Variants: cases filled in, truths computed, and each kind of answer read and checked."""

from typing import Any

import numpy as np
import pytest
import yaml

from playground.errors import InputError
from playground.learn.exercise import Exercise, read_exercise
from playground.learn.variant import Variant, variants_of
from tests.learn.test_reading import WHOLE

RUN = {"weights": "random", "tokenizer": "word", "text": "a b c", "d_model": 32, "n_heads": 4, "n_layers": 2}


def exercise(answer: dict[str, Any], **changed: Any) -> Exercise:
    plain: dict[str, Any] = {
        "state": RUN,
        "cases": [],
        "mistakes": [],
        "explanation": "So.",
        "page": "attention",
        "solved": None,
    }
    return read_exercise(yaml.safe_dump({**yaml.safe_load(WHOLE), **plain, "answer": answer, **changed}))


def posed(answer: dict[str, Any], **changed: Any) -> Variant:
    return Variant(exercise(answer, **changed), 0)


def mistake(when: str) -> dict[str, Any]:
    return {"mistakes": [{"name": "expected", "when": when, "feedback": "Look again."}]}


def test_variant_0_has_the_first_case_and_others_are_the_same_everywhere() -> None:
    one = read_exercise(WHOLE)
    first = Variant(one, 0)
    assert first.fill("{width} {model} $d_{model}$") == "64 {model} $d_{model}$"
    assert first.truth == 16
    assert first.explain(one.explanation) == "It is 16."
    assert [each.case["width"] for each in variants_of(one)] == ["64", "32"]
    numbers = {Variant(one, number).case["width"]: number for number in range(8)}
    assert len(numbers) == 2
    assert Variant(one, 5) == Variant(one, 5)
    assert Variant(one, 1).case["width"] == "32", "as on every machine"


def test_one_of_several_options() -> None:
    options = {"more": {"text": "More", "when": "1 > 2"}, "less": {"text": "Less", "when": "1 < 2"}}
    variant = posed({"kind": "choose", "options": options}, **mistake("answer == 'more'"))
    assert variant.check(variant.read("less")).is_right
    wrong = variant.check(variant.read(["more"]))
    assert (wrong.is_right, wrong.feedback) == (False, "Look again.")
    assert not variant.check(("more", "less")).is_right
    wrong_answers: tuple[object, ...] = ("other", [], None, 3)
    for answer in wrong_answers:
        with pytest.raises(InputError):
            variant.read(answer)
    with pytest.raises(InputError, match="None of the options"):
        _ = posed({"kind": "choose", "options": {key: {**options["more"]} for key in ("a", "b")}}).truth


def test_several_options() -> None:
    options = {name: {"text": name, "when": f"{i} < 2"} for i, name in enumerate("abc")}
    variant = posed({"kind": "choose", "several": True, "options": options}, **mistake("'c' in answer"))
    assert variant.check(variant.read(["b", "a"])).is_right
    assert variant.check(variant.read(["a", "b", "c"])).feedback == "Look again."
    assert variant.check(variant.read("a")).mistake is None


def test_a_number_within_its_tolerance() -> None:
    answer = {"kind": "number", "truth": "config[d_model] / config[n_heads]", "tolerance": 0.1}
    variant = posed(answer, **mistake("near(answer, config[d_model])"))
    assert [variant.is_right(number) for number in (7.1, 7.3, 8.0, 8.7, 9.0)] == [False, True, True, True, False]
    assert variant.check(33.0).feedback == "Look again."
    assert posed({**answer, "tolerance": 0.0, "within": 2.0}).is_right(10)
    for text in ("nan", "inf", "x", None, [1]):
        with pytest.raises(InputError):
            variant.read(text)


def test_a_cell_by_place_or_by_name() -> None:
    variant = posed({"kind": "click", "of": "pattern[1,2]"}, **mistake("row == column"))
    weights = variant.view.run.pattern(1)[2]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert variant.read(["a", "c"]) == (0, 2)
    for cell in np.ndindex(*weights.shape):
        verdict = variant.check(variant.read([int(each) for each in cell]))
        assert verdict.is_right == (cell == best)
        assert (verdict.mistake is not None) == (not verdict.is_right and cell[0] == cell[1])
    for answer in (["a"], ["a", "z"], "a", [0, 3], [-1, 0], None):
        with pytest.raises(InputError):
            variant.read(answer)


def test_a_token_with_the_smallest_number() -> None:
    variant = posed({"kind": "click", "of": "pattern[0,1,b]", "wanted": "smallest"}, **mistake("row_name == 'b'"))
    row = variant.view.run.pattern(0)[1, 1]
    assert [variant.is_right((i,)) for i in range(3)] == [weight == row.min() for weight in row]
    with pytest.raises(InputError, match="numbers along an axis"):
        _ = posed({"kind": "click", "of": "pattern[0,1,b,c]"}).truth


def test_an_order_in_which_equal_things_may_change_places() -> None:
    items = {name: {"text": name, "value": value} for name, value in {"x": "2", "y": "1", "z": "1 + 1"}.items()}
    variant = posed({"kind": "order", "items": items}, **mistake("first == 'y'"))
    assert variant.is_right(variant.read(["x", "z", "y"]))
    assert variant.is_right(variant.read(["z", "x", "y"]))
    assert variant.check(variant.read(["y", "x", "z"])).feedback == "Look again."
    for answer in (["x", "y"], ["x", "x", "z"], "x", ["x", "y", "w"]):
        with pytest.raises(InputError):
            variant.read(answer)
    assert posed({"kind": "order", "items": items, "wanted": "smallest first"}).is_right(("y", "x", "z"))


def test_a_curve_by_five_handles() -> None:
    text = {**RUN, "text": "a b c d e f g"}
    answer = {"kind": "draw", "of": "pattern[0,0,a]", "tolerance": 0.1, "low": 0, "high": 1, "x_title": "key"}
    variant = posed({**answer, "y_title": "weight"}, state=text, **mistake("answer[0] > answer[4]"))
    row = variant.view.run.pattern(0)[0, 0]
    np.testing.assert_array_equal(variant.heights, row[[0, 2, 3, 4, 6]])
    assert variant.is_right(tuple(variant.heights + 0.09))
    assert not variant.is_right((*variant.heights[:4], variant.heights[4] + 0.11))
    assert variant.check((9.0, 0.0, 0.0, 0.0, 0.0)).feedback == "Look again."
    for heights in ([1, 2], [1, 2, 3, 4, "x"], [1, 2, 3, 4, float("nan")], None):
        with pytest.raises(InputError):
            variant.read(heights)


def test_settings_until_a_condition_holds() -> None:
    answer = {"kind": "settings", "until": "parameters.total < start.parameters.total", "keep": ["d_model"]}
    variant = posed(answer, **mistake("config[d_ff] > start.config[d_ff]"))
    assert variant.truth is False
    assert variant.check(variant.read({"n_layers": 1})).is_right
    assert "`d_model`" in variant.check(variant.read({"d_model": 16})).feedback
    assert variant.check(variant.read({"d_ff": 3072})).feedback == "Look again."
    assert variant.check(variant.read({})).mistake is None


def test_an_explanation_that_cannot_be_computed_is_a_sentence() -> None:
    variant = posed({"kind": "number", "truth": "1"})
    for text in ("{= pattern[0,0,zebra,a]}", "{= 1 | zz}"):
        with pytest.raises(InputError):
            variant.explain(text)
    assert variant.explain("{= 1/3} {= config[norm]} {= pattern[0,0,a,b] | .1%}").startswith("0.3333 layer ")
