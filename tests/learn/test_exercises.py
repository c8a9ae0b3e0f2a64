"""Every shipped exercise, solved: right, and with each mistake that is to be expected; and which one comes next."""

from typing import Any

import numpy as np
import pytest

from playground.learn.exercise import (
    FOLDER,
    Results,
    Variant,
    check_exercise,
    find_items,
    next_exercise,
    read_exercise,
    shipped_exercises,
)
from playground.link.opening import open_link
from tests.learn.test_reading import WHOLE

ALL = shipped_exercises()


def variants(key: str) -> list[Variant]:
    return [Variant(ALL[key], number) for number in range(len(ALL[key].cases))]


def test_there_are_50_of_three_levels_and_all_kinds() -> None:
    assert len(ALL) == 50
    assert {file.stem for file in FOLDER.glob("*.yaml")} == ALL.keys()
    for level in (1, 2, 3):
        assert sum(each.level == level for each in ALL.values()) >= 10
    for kind in ("choose", "number", "click", "settings"):
        assert sum(each.answer.kind == kind for each in ALL.values()) >= 3


@pytest.mark.sampled(10)
@pytest.mark.parametrize("key", ALL)
def test_it_is_solved_by_hand_each_mistake_is_known_and_every_case_holds(key: str) -> None:
    assert 3 <= len(ALL[key].cases) <= 8
    assert 1 <= len(ALL[key].mistakes) <= 4
    assert len(ALL[key].hints) == 2
    assert check_exercise(ALL[key]) == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("key", [key for key in ALL if ALL[key].answer.kind == "choose"])
def test_the_right_options_are_no_expected_mistake_and_every_word_is_filled_in(key: str) -> None:
    exercise = ALL[key]
    for variant in variants(key):
        assert variant.is_right(variant.truth)
        assert variant.find_mistake(variant.truth) is None, variant.case
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
        assert str(int(variant.compute("tokens"))) == variant.case["n"]


def test_a_variants_number_chooses_its_case() -> None:
    one = read_exercise(WHOLE)
    assert Variant(one, 0).fill("{width} {model} $d_{model}$") == "64 {model} $d_{model}$"
    assert [Variant(one, number).explanation for number in range(3)] == ["It is 16.", "It is 8.", "It is 16."]


@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("attention", "attention_pattern"),
        ("positions", "position_table"),
        ("parameters", "parameter_breakdown"),
        ("gradient-flow", "gradient_by_layer"),
    ],
)
def test_charts_are_found_inside_of_groups_columns_and_closed_panels_and_have_no_clicks(page: str, key: str) -> None:
    shape = "weights=random&tokenizer=word&d_model=16&n_heads=2&n_layers=2&d_ff=32"
    (item,), _ = find_items(open_link(f"{page}?{shape}&gradient_layers=2"), (key,))
    found: Any = item
    assert (found.key, found.click, found.on_row) == (key, "", None)


# --- what comes next


def following(results: Results, after: str = "") -> str | None:
    return getattr(next_exercise(ALL, results, after), "key", None)


def test_next_is_the_first_open_one_then_what_was_given_up_and_another_one_while_there_is_one() -> None:
    order = [*ALL]
    assert [ALL[key].level for key in order] == sorted(each.level for each in ALL.values())
    first, second, third, *others = order
    assert (following({}), following({first: "found"}), following({}, after=first)) == (first, second, second)
    assert following({first: "given up", second: "found"}) == third
    rest: Results = dict.fromkeys((second, third, *others), "found")
    assert (following({**rest, first: "given up"}), following(rest, after=first)) == (first, first)
    assert following({**rest, first: "found"}) is None
