"""Every shipped exercise, solved: right, and with each mistake that is to be expected."""

from typing import Any

import numpy as np
import pytest
import yaml

from playground.errors import InputError
from playground.learn.checks import check_exercise
from playground.learn.exercise import FOLDER, Variant, read_exercise, shipped_exercises
from tests.learn.test_reading import WHOLE

ALL = shipped_exercises()


def variants(key: str) -> list[Variant]:
    return [Variant(ALL[key], number) for number in range(len(ALL[key].cases))]


def test_there_are_48_of_three_levels_and_all_kinds() -> None:
    assert len(ALL) == 48
    assert {file.stem for file in FOLDER.glob("*.yaml")} == ALL.keys()
    for level in (1, 2, 3):
        assert sum(each.level == level for each in ALL.values()) >= 10
    for kind in ("choose", "number", "click", "settings"):
        assert sum(each.answer.kind == kind for each in ALL.values()) >= 3


def test_none_rests_on_itself_or_on_a_harder_one() -> None:
    done: set[str] = set()
    while ready := [key for key, each in ALL.items() if key not in done and set(each.rests_on) <= done]:
        done.update(ready)
    assert done == ALL.keys()
    assert all(ALL[other].level <= each.level for each in ALL.values() for other in each.rests_on)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("key", ALL)
def test_it_is_solved_by_hand_each_mistake_is_known_and_every_case_holds(key: str) -> None:
    assert 3 <= len(ALL[key].cases) <= 8
    assert 1 <= len(ALL[key].mistakes) <= 4
    assert check_exercise(ALL[key], ALL) == []


@pytest.mark.parametrize("key", [key for key in ALL if ALL[key].answer.kind == "choose"])
def test_the_right_options_are_no_expected_mistake_and_every_word_is_filled_in(key: str) -> None:
    exercise = ALL[key]
    for variant in variants(key):
        assert variant.check(variant.truth).is_right
        assert not any(variant.compute(mistake.when, variant.truth) for mistake in exercise.mistakes), variant.case
        texts = [exercise.question, *exercise.hints, *(mistake.feedback for mistake in exercise.mistakes)]
        assert not any("{" in variant.fill(text) for text in texts)


@pytest.mark.parametrize("key", ["sink", "previous-token-head", "linking-head", "striking-pattern"])
def test_a_head_that_the_words_name_is_right_in_every_case_and_clearly_ahead(key: str) -> None:
    for variant in variants(key):
        assert variant.is_right(variant.read(ALL[key].solved))
        if ALL[key].answer.kind == "click":
            less, most = np.sort(variant.truth.values[np.isfinite(variant.truth.values)].ravel())[-2:]
            assert most - less > 0.05 * most


@pytest.mark.parametrize("key", [key for key in ALL if "{n} tokens" in ALL[key].question])
def test_a_text_has_as_many_tokens_as_the_question_says(key: str) -> None:
    for variant in variants(key):
        assert variant.explain("{= tokens | .0f}") == variant.case["n"]


RUN = {"weights": "random", "tokenizer": "word", "text": "a b c", "d_model": 32, "n_heads": 4, "n_layers": 2}


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


def test_a_variants_number_chooses_its_case() -> None:
    one = read_exercise(WHOLE)
    first = Variant(one, 0)
    assert first.fill("{width} {model} $d_{model}$") == "64 {model} $d_{model}$"
    assert first.truth == 16
    assert first.explanation == "It is 16."
    assert [Variant(one, number).case["width"] for number in range(4)] == ["64", "32", "64", "32"]


def test_one_of_several_options() -> None:
    options = {"more": {"text": "More", "when": "1 > 2"}, "less": {"text": "Less", "when": "1 < 2"}}
    variant = posed({"kind": "choose", "options": options}, "answer == 'more'")
    assert variant.check(variant.read("less")).is_right
    wrong = variant.check(variant.read(["more"]))
    assert (wrong.is_right, wrong.feedback) == (False, "Look again.")
    assert not variant.check(("more", "less")).is_right
    wrong_answers: tuple[object, ...] = ("other", [], None, 3)
    for answer in wrong_answers:
        with pytest.raises(InputError):
            variant.read(answer)


def test_several_options() -> None:
    options = {name: {"text": name, "when": f"{i} < 2"} for i, name in enumerate("abc")}
    variant = posed({"kind": "choose", "several": True, "options": options}, "'c' in answer")
    assert variant.check(variant.read(["b", "a"])).is_right
    assert variant.check(variant.read(["a", "b", "c"])).feedback == "Look again."
    assert variant.check(variant.read("a")).mistake is None


def test_a_number_within_its_tolerance() -> None:
    answer = {"kind": "number", "truth": "config[d_model] / config[n_heads]", "tolerance": 0.1}
    variant = posed(answer, "near(answer, config[d_model])")
    assert [variant.is_right(number) for number in (7.1, 7.3, 8.0, 8.7, 9.0)] == [False, True, True, True, False]
    assert variant.check(33.0).feedback == "Look again."
    assert posed({**answer, "tolerance": 0.0, "within": 2.0}, "1 > 2").is_right(10)
    for text in ("nan", "inf", "x", None, [1]):
        with pytest.raises(InputError):
            variant.read(text)


def test_a_head_by_place_or_by_name() -> None:
    variant = posed({"kind": "click", "of": "heads.focus"}, "row == column")
    weights = variant.view.run.patterns()[:, :, variant.view.focus.query, variant.view.focus.key]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert variant.read(["layer 0", "head 2"]) == (0, 2)
    for cell in np.ndindex(*weights.shape):
        verdict = variant.check(variant.read([int(each) for each in cell]))
        assert verdict.is_right == (cell == best)
        assert (verdict.mistake is not None) == (not verdict.is_right and cell[0] == cell[1])
    for answer in (["layer 0"], ["layer 0", "z"], "layer 0", [0, 4], None):
        with pytest.raises(InputError):
            variant.read(answer)
    with pytest.raises(InputError, match="one or two axes"):
        _ = posed({"kind": "click", "of": "pattern[0,1,b,c]"}, "1 > 2").truth


def test_settings_until_a_condition_holds() -> None:
    answer = {"kind": "settings", "until": "parameters.total < start.parameters.total", "keep": ["d_model"]}
    variant = posed(answer, "config[d_ff] > start.config[d_ff]")
    assert variant.truth is False
    assert variant.check(variant.read({"n_layers": 1})).is_right
    assert "`d_model`" in variant.check(variant.read({"d_model": 16})).feedback
    assert variant.check(variant.read({"d_ff": 3072})).feedback == "Look again."
    assert variant.check(variant.read({})).mistake is None
    with pytest.raises(InputError, match="from the start"):
        _ = posed({"kind": "settings", "until": "1 < 2"}, "1 > 2").truth


def test_an_explanation_that_cannot_be_computed_is_a_sentence() -> None:
    variant = posed({"kind": "number", "truth": "1"}, "1 > 2")
    for text in ("{= pattern[0,0,zebra,a]}", "{= 1 | zz}", "{= 1 | 999999999f}", "{= " + " " * 1_900 + "}"):
        with pytest.raises(InputError):
            variant.explain(text)
    assert variant.explain("{= 1/3} {= config[norm]} {= pattern[0,0,a,b] | .1%}").startswith("0.3333 layer ")
