"""Where a visitor begins and goes on."""

from typing import Any

from playground.learn.exercise import Exercise
from playground.learn.next_exercise import (
    answer_where_to_begin,
    ask_where_to_begin,
    missing,
    next_exercise,
    next_variant,
    sort_exercises,
)
from playground.learn.progress import Result
from playground.learn.variant import Variant

_REST: dict[str, Any] = {
    "source": "a test",
    "page": "parameters",
    "question": "How many?",
    "answer": {"kind": "number", "truth": "parameters.total"},
    "hints": ["one", "two"],
    "explanation": "So many.",
}


def exercise(key: str, level: int, *rests_on: str, topic: str = "counting", **more: Any) -> Exercise:
    fields = {"key": key, "title": f"What of {key}?", "topic": topic, "level": level, "rests_on": list(rests_on)}
    return Exercise.model_validate(_REST | fields | more)


ALL = {
    each.key: each
    for each in (
        exercise("c", 2, "a", "b"),
        exercise("b", 1, "a"),
        exercise("d", 3, "c"),
        exercise("a", 1),
        exercise("e", 1, "not-shipped", topic="other"),
    )
}


def found(*keys: str) -> dict[str, Result]:
    return {key: Result(found=True, tries=1) for key in keys}


def test_the_list_goes_by_level_topic_and_what_rests_on_what() -> None:
    assert [each.key for each in sort_exercises(ALL)] == ["a", "b", "e", "c", "d"]


def test_a_topic_on_which_more_rests_comes_first() -> None:
    few = {each.key: each for each in (exercise("a", 1, topic="z"), exercise("b", 2, "a"), exercise("c", 1, topic="y"))}
    assert [each.key for each in sort_exercises(few)] == ["a", "c", "b"]


def test_next_is_what_rests_on_nothing_unknown() -> None:
    steps: list[str] = []
    while (following := next_exercise(ALL, found(*steps))) is not None:
        assert not missing(following, ALL, found(*steps))
        steps.append(following.key)
    assert steps == ["a", "b", "e", "c", "d"]
    assert [each.key for each in missing(ALL["c"], ALL, found("a"))] == ["b"]


def test_what_was_given_up_is_known_and_comes_back_last() -> None:
    results = {**found("a"), "b": Result(given_up=True)}
    assert not missing(ALL["c"], ALL, results)
    assert getattr(next_exercise(ALL, results), "key", None) == "e"
    assert getattr(next_exercise(ALL, {**results, **found("c", "d", "e")}), "key", None) == "b"


def test_next_after_an_exercise_is_another_one_while_there_is_one() -> None:
    assert getattr(next_exercise(ALL, {}, after="a"), "key", None) == "e"
    assert getattr(next_exercise(ALL, found("b", "c", "d", "e"), after="a"), "key", None) == "a"


def test_the_answer_counts_only_exercises_that_are_there() -> None:
    assert "**What of a?**" in answer_where_to_begin(ALL, {})
    asked = [ask_where_to_begin(ALL, results) for results in ({}, {"a": Result(tries=2)}, found(*ALL))]
    assert asked == ["Where do I begin?", "Where do I go on?", "Which exercises are there?"]
    assert "**1** of 5" in answer_where_to_begin(ALL, found("a", "of-another-server"))
    assert answer_where_to_begin(ALL, found(*ALL)) == "You have found all 5 answers."
    assert "**0** of 5" in answer_where_to_begin(ALL, {"a": Result(tries=2)})


def test_another_variant_has_another_case() -> None:
    alone = Variant(exercise("one", 1, cases=[{"n": 1}]), 0)
    assert next_variant(alone) is None
    several = exercise("several", 1, cases=[{"n": 1}, {"n": 2}, {"n": 3}])
    number, seen = 0, set()
    for _ in range(30):
        following = next_variant(Variant(several, number))
        assert following is not None
        assert Variant(several, following).case != Variant(several, number).case
        number = following
        seen.add(Variant(several, number).case["n"])
    assert seen == {"1", "2", "3"}
