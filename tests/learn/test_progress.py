"""What was found: joined, written, read back, and refused where it is something else."""

from typing import Any

import pytest

from playground.errors import InputError
from playground.learn.exercise import Exercise
from playground.learn.progress import (
    Result,
    join_results,
    missing,
    next_exercise,
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
    ],
)
def test_anything_else_gets_one_short_sentence(text: str) -> None:
    with pytest.raises(InputError):
        read_progress(text)


_REST: dict[str, Any] = {
    "source": "a test",
    "page": "parameters",
    "question": "How many?",
    "answer": {"kind": "number", "truth": "parameters.total"},
    "hints": ["one", "two"],
    "solved": 1,
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


def test_the_list_goes_by_level_and_topic() -> None:
    assert [each.key for each in sort_exercises(ALL)] == ["a", "b", "e", "c", "d"]


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
