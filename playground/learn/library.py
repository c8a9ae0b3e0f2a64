"""The exercises that the playground ships: the files in `playground/learn/exercises`, by key."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from playground.errors import InputError
from playground.learn.exercise import Exercise, check_rests, read_exercise


@cache
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key, read once; raises `InputError` where a file is none."""
    exercises: dict[str, Exercise] = {}
    for file in sorted(files("playground.learn").joinpath("exercises").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            exercise = read_exercise(file.read_text(encoding="utf-8"), file.name)
            if f"{exercise.key}.yaml" != file.name:
                raise InputError(f"{file.name} has the exercise {exercise.key}, and would be called after it.")
            exercises[exercise.key] = exercise
    check_rests(exercises)
    return exercises
