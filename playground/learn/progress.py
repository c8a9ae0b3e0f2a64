"""What a visitor has found of the exercises, and which comes next, as some rest on others.

It is kept in the browser, and in a file that can be taken along.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from playground.errors import InputError
from playground.learn.exercise import MAX_VARIANT, Exercise, Variant
from playground.learn.reading import Key, Record

MAX_PROGRESS = 200_000
"""Characters of a file."""


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
        """Both records of one exercise, such as the browser's and a file's, as one."""
        return Result(
            found=self.found or other.found,
            given_up=self.given_up or other.given_up,
            tries=max(self.tries, other.tries),
        )


Results = Mapping[str, Result]
"""By the exercise's key."""


def result_of(key: str, results: Results) -> Result:
    """What became of an exercise; that of a new one where nothing did."""
    return results.get(key, Result())


class _File(Record):
    version: Literal[1]
    exercises: dict[Key, Result] = Field(max_length=1_000)


def read_progress(text: str) -> Results:
    """The results that a file, or the browser's storage, holds.

    Raises:
        InputError: it holds none; the message says what is wrong first.
    """
    if len(text) > MAX_PROGRESS:
        raise InputError(f"This file has {len(text):,} characters; progress has at most {MAX_PROGRESS:,}.")
    try:
        return _File.model_validate_json(text).exercises
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"])
        problem = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise InputError(f"This is no progress that the exercises have saved ({problem}).") from error


def write_progress(results: Results) -> str:
    """The text of a file that `read_progress` reads."""
    return _File(version=1, exercises=dict(results)).model_dump_json()


def join_results(one: Results, other: Results) -> dict[str, Result]:
    """Both, each exercise once."""
    keys = dict.fromkeys([*one, *other])
    return {key: result_of(key, one).join(result_of(key, other)) for key in keys}


def next_exercise(exercises: Mapping[str, Exercise], results: Results, after: str = "") -> Exercise | None:
    """The first that is not found yet and rests only on what was found or given up; None where all are found.

    Args:
        exercises: by key.
        results: what became of them.
        after: the key of an exercise that is left; another one is taken where there is one.
    """
    open_ones = [each for each in sort_exercises(exercises) if not result_of(each.key, results).found]
    others = [each for each in open_ones if each.key != after] or open_ones
    ready = [each for each in others if not missing(each, exercises, results)]
    fresh = [each for each in ready if result_of(each.key, results).status in ("new", "tried")]
    return next(iter([*fresh, *ready, *others]), None)


def missing(exercise: Exercise, exercises: Mapping[str, Exercise], results: Results) -> list[Exercise]:
    """Those that an exercise rests on and that were neither found nor given up."""
    known = [exercises[key] for key in exercise.rests_on if key in exercises]
    return [each for each in known if result_of(each.key, results).status in ("new", "tried")]


def sort_exercises(exercises: Mapping[str, Exercise]) -> list[Exercise]:
    """By level; within a level by topic, first the topic on which most rests; then what others rest on first."""
    resting = Counter(key for each in exercises.values() for key in each.rests_on if key in exercises)
    topics: Counter[str] = Counter()
    for each in exercises.values():
        topics[each.topic] += resting[each.key]

    def depth(exercise: Exercise, above: tuple[str, ...] = ()) -> int:
        below = [exercises[key] for key in exercise.rests_on if key in exercises and key not in above]
        return max((1 + depth(each, (*above, exercise.key)) for each in below), default=0)

    def rank(exercise: Exercise) -> tuple[Any, ...]:
        n, topic = resting[exercise.key], exercise.topic
        return exercise.level, -topics[topic], topic, depth(exercise), -n, exercise.key

    return sorted(exercises.values(), key=rank)


def next_variant(variant: Variant) -> int | None:
    """The number of the next variant with another case; None where there is only one case."""
    exercise = variant.exercise
    if exercise.n_different_cases < 2:
        return None
    n = MAX_VARIANT + 1
    numbers = ((variant.number + step) % n for step in range(1, n))
    return next((each for each in numbers if Variant(exercise, each).case != variant.case), None)


def ask_where_to_begin(exercises: Mapping[str, Exercise], results: Results) -> str:
    """What the list of all exercises asks, by what a visitor has done of them."""
    if next_exercise(exercises, results) is None:
        return "Which exercises are there?"
    is_new = all(result_of(key, results).status == "new" for key in exercises)
    return "Where do I begin?" if is_new else "Where do I go on?"


def answer_where_to_begin(exercises: Mapping[str, Exercise], results: Results) -> str:
    """Where a visitor begins, or goes on, in a sentence or two; markdown."""
    n = len(exercises)
    n_found = sum(result_of(key, results).found for key in exercises)
    following = next_exercise(exercises, results)
    if following is None:
        return f"You have found all {n} answers." if n > 1 else "You have found the answer."
    if not any(result_of(key, results).status != "new" for key in exercises):
        return f"Begin with **{_end(following.title)}** Say what you expect; the run then tells what happens."
    return f"You have found **{n_found}** of {n} answers. Go on with **{_end(following.title)}**"


def _end(title: str) -> str:
    return title if title.endswith(("?", "!", ".", "…")) else f"{title}."
