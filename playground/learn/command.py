"""`playground lesson check FILE` and `playground results …`: for teachers, and for their own repositories' CI."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from playground.errors import InputError, PlaygroundError
from playground.learn.checks import check_exercise, check_lesson
from playground.learn.exercise import Exercise, read_exercise, shipped_exercises
from playground.learn.lesson import Lesson, read_lesson
from playground.learn.reading import MAX_FILE, RecordError
from playground.learn.results import MAX_CODE, make_keys, verify_result

MAX_CODES = 10_000
"""Lines of a file of codes."""

Write = Callable[[str], object]


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; returns its exit code: 0, 1 where something does not hold, or 2."""
    options = _read_options(arguments)
    try:
        return int(options.run(options, lambda line: sys.stdout.write(f"{line}\n")))
    except PlaygroundError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="playground", allow_abbrev=False)
    groups = parser.add_subparsers(required=True)
    lesson = groups.add_parser("lesson").add_subparsers(required=True)
    check = lesson.add_parser("check", help="compute every truth of lessons and exercises, and say what does not hold")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson, or an exercise, in YAML")
    check.set_defaults(run=_check)
    results = groups.add_parser("results").add_subparsers(required=True)
    verify = results.add_parser("verify", help="say what the codes in a file say, a code a line")
    verify.add_argument("file", type=Path, metavar="FILE")
    verify.add_argument("--key", required=True, help="the public key, as `playground results keys` has printed it")
    verify.set_defaults(run=_verify)
    results.add_parser("keys", help="make a pair of keys").set_defaults(run=_make_keys)
    return parser.parse_args(arguments)


def _check(options: argparse.Namespace, write: Write) -> int:
    """Each file's sentences; files may rest on one another, and on the exercises that are shipped."""
    exercises, lessons, code = dict[Path, Exercise](), dict[Path, Lesson](), 0
    for file in options.files:
        try:
            text = _read_file(file, MAX_FILE)
            if _LESSON.search(text):
                lessons[file] = read_lesson(text, str(file))
            else:
                exercises[file] = read_exercise(text, str(file))
        except PlaygroundError as error:
            for sentence in error.sentences if isinstance(error, RecordError) else [str(error)]:
                write(sentence)
            code = 1
    known = {**shipped_exercises(), **{exercise.key: exercise for exercise in exercises.values()}}
    for file, exercise in exercises.items():
        n = max(1, len(exercise.cases))
        holds = f"{exercise.key} holds in {'its one case' if n == 1 else f'all {n} cases'}."
        code |= _say(file, check_exercise(exercise, known), holds, write)
    for file, lesson in lessons.items():
        n = len(lesson.steps)
        holds = f"{lesson.title} holds in {'its one step' if n == 1 else f'all {n} steps'}."
        code |= _say(file, check_lesson(lesson, known), holds, write)
    return code


_LESSON = re.compile(r"^steps\s*:", re.MULTILINE)
"""What a lesson's file has, and an exercise's has not."""


def _say(file: Path, sentences: Sequence[str], holds: str, write: Write) -> int:
    for sentence in sentences or [holds]:
        write(f"{file}: {sentence}")
    return int(bool(sentences))


def _verify(options: argparse.Namespace, write: Write) -> int:
    lines = _read_file(options.file, MAX_CODE * MAX_CODES).splitlines()
    codes = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not codes:
        raise InputError(f"{options.file} has no code: a code stands on a line of its own.")
    code = 0
    for number, line in codes[:MAX_CODES]:
        try:
            found = verify_result(line, options.key)
        except InputError as error:
            write(f"line {number}: {error}")
            code = 1
            continue
        at = datetime.fromtimestamp(found.time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        verdict, tries = "right" if found.is_right else "wrong", f"{found.tries} tr{'y' if found.tries == 1 else 'ies'}"
        write(f"line {number}: {found.exercise} {found.variant}: {found.answer}: {verdict}, {tries}, {at}")
    return code


def _make_keys(_: argparse.Namespace, write: Write) -> int:
    private, public = make_keys()
    write(f"PLAYGROUND_RESULT_KEY={private}")
    write(f"public key: {public}")
    return 0


def _read_file(file: Path, longest: int) -> str:
    try:
        if file.stat().st_size > 4 * longest:
            raise InputError(f"{file} is larger than what is read, {longest:,} characters.")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} can't be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from error
