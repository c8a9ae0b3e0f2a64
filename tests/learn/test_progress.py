"""What was found: joined, written, read back, and refused where it is something else."""

from typing import Any

import pytest

from playground.errors import InputError
from playground.learn.exercise import Exercise, Variant
from playground.learn.progress import (
    MAX_PROGRESS,
    Result,
    answer_where_to_begin,
    ask_where_to_begin,
    join_results,
    missing,
    next_exercise,
    next_variant,
    read_progress,
    sort_exercises,
    write_progress,
)


def test_what_is_written_is_read_back() -> None:
    results = {"a-b": Result(found=True, tries=3), "c": Result(given_up=True), "d": Result(tries=1)}
    assert read_progress(write_progress(results)) == results
    assert [each.status for each in (*results.values(), Result())] == ["found", "given up", "tried", "new"]


def test_two_browsers_results_are_joined_without_counting_twice() -> None:
    one = {"a": Result(found=True, tries=2), "b": Result(tries=1)}
    other = {"a": Result(given_up=True, tries=5), "c": Result(found=True, tries=1)}
    joined = join_results(one, other)
    assert joined == {
        "a": Result(found=True, given_up=True, tries=5),
        "b": Result(tries=1),
        "c": Result(found=True, tries=1),
    }
    assert join_results(joined, joined) == joined


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{]",
        "[]",
        "null",
        '{"version": 2, "exercises": {}}',
        '{"version": 1}',
        '{"version": 1, "exercises": {"<b>": {}}}',
        '{"version": 1, "exercises": {"a": {"found": "yes"}}}',
        '{"version": 1, "exercises": {"a": {"tries": -1}}}',
        '{"version": 1, "exercises": {"a": {"tries": 1e9}}}',
        '{"version": 1, "exercises": {"a": {"more": 1}}}',
        "[" * 100_000,
        "x" * (MAX_PROGRESS + 1),
    ],
)
def test_anything_else_gets_one_short_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_progress(text)
    assert 20 < len(str(caught.value)) < 300


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
