"""What a visitor has found of the exercises, which the browser keeps; and which exercise comes next."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from playground.errors import InputError
from playground.learn.exercise import Exercise
from playground.learn.reading import Key, Record

MAX_PROGRESS = 200_000
"""Characters."""


class Result(Record):
    """What became of one exercise, over all of its variants."""

    found: bool = False
    given_up: bool = False
    tries: int = Field(default=0, ge=0, le=100_000)

    @property
    def status(self) -> Literal["found", "given up", "tried", "new"]:
        """The best that became of it."""
        return "found" if self.found else "given up" if self.given_up else "tried" if self.tries else "new"

    def join(self, other: "Result") -> "Result":
        """Join two browser tabs' results of one exercise."""
        return Result(
            found=self.found or other.found,
            given_up=self.given_up or other.given_up,
            tries=max(self.tries, other.tries),
        )


Results = Mapping[str, Result]
"""By the exercise's key."""


def result_of(key: str, results: Results) -> Result:
    """Return the result of an exercise; an empty one if it is new."""
    return results.get(key, Result())


class _Stored(Record):
    version: Literal[1]
    exercises: dict[Key, Result] = Field(max_length=1_000)


def read_progress(text: str) -> Results:
    """Return the results that the browser's storage holds; raises `InputError`."""
    try:
        return _Stored.model_validate_json(text[:MAX_PROGRESS]).exercises
    except ValidationError as error:
        raise InputError("What this browser had kept of the exercises could not be read.") from error


def write_progress(results: Results) -> str:
    """Return a text that `read_progress` reads."""
    return _Stored(version=1, exercises=dict(results)).model_dump_json()


def join_results(one: Results, other: Results) -> dict[str, Result]:
    """Join both, each exercise once."""
    return {key: result_of(key, one).join(result_of(key, other)) for key in {**one, **other}}


def next_exercise(exercises: Mapping[str, Exercise], results: Results, after: str = "") -> Exercise | None:
    """Return the first new one whose prerequisites are done, else one that was given up; None if all are found.

    Args:
        exercises: by key.
        results: what became of them.
        after: the key of an exercise that is left: another one comes first.
    """
    left = [each for each in sort_exercises(exercises) if not result_of(each.key, results).found]

    def rank(each: Exercise) -> tuple[bool, ...]:
        return (each.key == after, bool(missing(each, exercises, results)), result_of(each.key, results).given_up)

    return min(left, key=rank, default=None)


def missing(exercise: Exercise, exercises: Mapping[str, Exercise], results: Results) -> list[Exercise]:
    """Return those that an exercise rests on and that were neither found nor given up."""
    known = [exercises[key] for key in exercise.rests_on if key in exercises]
    return [each for each in known if result_of(each.key, results).status in ("new", "tried")]


def sort_exercises(exercises: Mapping[str, Exercise]) -> list[Exercise]:
    """Sort by level and topic."""
    return sorted(exercises.values(), key=lambda each: (each.level, each.topic, each.key))
