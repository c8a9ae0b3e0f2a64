"""What was found: joined, written, read back, and refused where it is something else."""

from typing import Any, Literal

import pytest

from playground.errors import InputError
from playground.learn.exercise import Exercise
from playground.learn.progress import (
    Results,
    join_results,
    missing,
    next_exercise,
    read_progress,
    sort_exercises,
    write_progress,
)


def test_what_is_written_is_read_back() -> None:
    results: Results = {"a-b": "found", "c": "given up"}
    assert read_progress(write_progress(results)) == results


def test_what_one_browser_tab_has_found_stays_found() -> None:
    one: Results = {"a": "found", "b": "given up"}
    other: Results = {"a": "given up", "b": "found", "c": "given up"}
    assert join_results(one, other) == {"a": "found", "b": "found", "c": "given up"}


@pytest.mark.parametrize("text", ["", "{]", "[]", "null", '{"a": "yes"}', "[" * 100_000])
def test_anything_else_is_refused(text: str) -> None:
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


def found(*keys: str) -> dict[str, Literal["found", "given up"]]:
    return dict.fromkeys(keys, "found")


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
    results: Results = {**found("a"), "b": "given up"}
    assert not missing(ALL["c"], ALL, results)
    assert getattr(next_exercise(ALL, results), "key", None) == "e"
    assert getattr(next_exercise(ALL, {**results, **found("c", "d", "e")}), "key", None) == "b"


def test_next_after_an_exercise_is_another_one_while_there_is_one() -> None:
    assert getattr(next_exercise(ALL, {}, after="a"), "key", None) == "e"
    assert getattr(next_exercise(ALL, found("b", "c", "d", "e"), after="a"), "key", None) == "a"
