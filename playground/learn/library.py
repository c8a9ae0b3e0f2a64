"""The exercises that the playground ships: the files in `playground/learn/exercises`, by key."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from playground.errors import InputError
from playground.learn.exercise import Exercise, check_rests, read_exercise

FOLDER = Path(__file__).parent / "exercises"
"""Where they lie."""


@cache
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key, read once; raises as `read_folders`."""
    return read_folders([FOLDER])


def read_folders(folders: Iterable[Path]) -> Mapping[str, Exercise]:
    """The exercises in some folders by key; raises `InputError` where a file is none, or rests on what is not there."""
    exercises: dict[str, Exercise] = {}
    for file in (file for folder in folders for file in sorted(folder.glob("*.yaml"))):
        exercise = read_exercise(file.read_text(encoding="utf-8"), file.name)
        if exercise.key != file.stem:
            raise InputError(f"{file.name} has the exercise {exercise.key}, and would be called after it.")
        exercises[exercise.key] = exercise
    check_rests(exercises)
    return exercises
