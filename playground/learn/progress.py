"""What a visitor has found of the exercises, which the browser keeps; and which exercise comes next."""

import json
from collections.abc import Mapping
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from playground.errors import InputError
from playground.learn.exercise import Exercise

Results = Mapping[str, Literal["found", "given up"]]
"""By the exercise's key; others are open."""

_STORED = TypeAdapter(dict[str, Literal["found", "given up"]], config={"strict": True})


def read_progress(text: str) -> Results:
    """Return the results that the browser's storage holds; raises `InputError`."""
    try:
        return _STORED.validate_json(text)
    except ValidationError as error:
        raise InputError("What this browser had kept of the exercises could not be read.") from error


def write_progress(results: Results) -> str:
    """Return a text that `read_progress` reads."""
    return json.dumps(results)


def join_results(one: Results, other: Results) -> Results:
    """Join both: what was found in one is found."""
    return {**one, **other, **{key: result for key, result in one.items() if result == "found"}}


def next_exercise(exercises: Mapping[str, Exercise], results: Results, after: str = "") -> Exercise | None:
    """Return the first open one whose prerequisites are done, else one that was given up; None if all are found.

    Args:
        exercises: by key.
        results: what became of them.
        after: the key of an exercise that is left: another one comes first.
    """
    left = [each for each in sort_exercises(exercises) if results.get(each.key) != "found"]

    def rank(each: Exercise) -> tuple[bool, ...]:
        return each.key == after, bool(missing(each, exercises, results)), each.key in results

    return min(left, key=rank, default=None)


def missing(exercise: Exercise, exercises: Mapping[str, Exercise], results: Results) -> list[Exercise]:
    """Return those that an exercise rests on and that were neither found nor given up."""
    return [exercises[key] for key in exercise.rests_on if key in exercises and key not in results]


def sort_exercises(exercises: Mapping[str, Exercise]) -> list[Exercise]:
    """Sort by level and topic."""
    return sorted(exercises.values(), key=lambda each: (each.level, each.topic, each.key))
