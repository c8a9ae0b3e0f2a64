"""`playground lesson check FILE`: for teachers, and for their own repositories' CI."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from playground.errors import InputError, PlaygroundError
from playground.learn.checks import check_exercise, check_lesson
from playground.learn.exercise import Exercise, read_exercise, shipped_exercises
from playground.learn.lesson import Lesson, read_lesson
from playground.learn.reading import MAX_FILE


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code: 0, or 1 if something does not hold."""
    parser = argparse.ArgumentParser(prog="playground", allow_abbrev=False)
    lesson = parser.add_subparsers(required=True).add_parser("lesson").add_subparsers(required=True)
    check = lesson.add_parser("check", help="compute every truth of lessons and exercises, and say what does not hold")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson, or an exercise, in YAML")
    return check_files(parser.parse_args(arguments).files)


def check_files(files: Sequence[Path]) -> int:
    """Write each file's errors; files may rest on one another, and on the shipped exercises."""
    found: dict[Path, list[str]] = {}
    exercises, lessons = dict[Path, Exercise](), dict[Path, Lesson]()
    for file in files:
        try:
            text = _read_file(file)
            if re.search(r"^steps\s*:", text, re.MULTILINE):
                lessons[file] = read_lesson(text, file.name)
            else:
                exercises[file] = read_exercise(text, file.name)
        except PlaygroundError as error:
            found[file] = [str(error)]
    known = {**shipped_exercises(), **{exercise.key: exercise for exercise in exercises.values()}}
    found |= {file: check_exercise(exercise, known) for file, exercise in exercises.items()}
    found |= {file: check_lesson(lesson, known) for file, lesson in lessons.items()}
    for file, sentences in found.items():
        for sentence in sentences or ["all holds."]:
            sys.stdout.write(f"{file}: {sentence}\n")
    return int(any(found.values()))


def _read_file(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(MAX_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file can't be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from error
