"""What the playground ships: the exercises in `playground/learn/exercises` and the lessons beside them, by key."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from playground.errors import InputError
from playground.learn.exercise import Exercise, check_rests, read_exercise
from playground.learn.lesson import Lesson, decode_lesson, is_code, read_lesson
from playground.text.wording import quote_text

FOLDER = Path(__file__).parent / "exercises"
"""Where the exercises lie."""

LESSONS = Path(__file__).parent / "lessons"
"""Where the lessons lie."""


@cache
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key, read once; raises as `read_folders`."""
    return read_folders([FOLDER])


@cache
def shipped_lessons() -> Mapping[str, Lesson]:
    """The lessons by key, which is their file's name, read once; raises `InputError` where a file is none."""
    files = sorted(LESSONS.glob("*.yaml"))
    return {file.stem: read_lesson(file.read_text(encoding="utf-8"), file.name) for file in files}


def find_lesson(name: str) -> Lesson:
    """The lesson that a link names by its key, or has as a whole; raises `InputError` where there is none."""
    if is_code(name):
        return decode_lesson(name)
    lessons = shipped_lessons()
    if name not in lessons:
        raise InputError(f"There is no lesson {quote_text(name)}: those are {', '.join(lessons)}.")
    return lessons[name]


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
