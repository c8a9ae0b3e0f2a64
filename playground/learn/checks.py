"""Finds what does not hold in an exercise or a lesson: wrong truths, missing charts, repaired states.

`playground lesson check FILE` says it, for teachers and for their own repositories' CI.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from playground.charts.chart import Columns, Group, Item, Panel, Paragraph
from playground.errors import InputError, PlaygroundError
from playground.learn.exercise import Exercise, Variant, read_exercise, shipped_exercises
from playground.learn.lesson import Lesson, LessonStep, encode_lesson, find_problem, read_lesson
from playground.learn.reading import MAX_FILE
from playground.link.opening import check_link, open_link
from playground.link.query import needed_panels
from playground.text.wording import join_words, quote_text
from playground.views.all_views import VIEWS

ANSWER = "answer"
"""The key of a page's first sentence, among those of charts."""


def check_exercise(exercise: Exercise, known: Iterable[str]) -> list[str]:
    """Compute every case of an exercise and return a sentence on each thing that does not hold.

    Args:
        exercise: to check.
        known: the keys of exercises that it may rest on.
    """
    missing = [quote_text(key) for key in exercise.rests_on if key not in {*known}]
    found = [f"It rests on {join_words(missing)}, which is no exercise."] if missing else []
    for number, case in enumerate(exercise.cases):
        try:
            found += [f"{sentence} (case {case})" for sentence in _check_variant(Variant(exercise, number))]
        except PlaygroundError as error:
            found.append(f"{error} (case {case})")
    return found


def _check_variant(variant: Variant) -> Iterator[str]:
    exercise = variant.exercise
    for view in (variant.view, variant.other):
        yield from ([] if view is None else view.notices)
    _ = variant.truth, variant.explanation
    if variant.number == 0:
        if not variant.is_right(variant.read(exercise.solved)):
            yield f"The answer that was found by hand, {quote_text(str(exercise.solved))}, is not right."
        for mistake in exercise.mistakes:
            verdict = variant.check(variant.read(mistake.example))
            if verdict.mistake is not mistake:
                other = "right" if verdict.is_right else f"“{verdict.mistake.name}”" if verdict.mistake else "unknown"
                yield f"The example of the mistake “{mistake.name}” is {other}."
    missing = sorted({*exercise.shown, *exercise.hidden} - _chart_keys(variant))
    if missing:
        yield f"The page {exercise.page} has no {join_words([quote_text(key) for key in missing])}."


def _chart_keys(variant: Variant) -> set[str]:
    asked = [*variant.exercise.shown, *variant.exercise.hidden]
    view = VIEWS.get(variant.exercise.page)
    if not asked or view is None:
        return set()
    options = {**variant.view.values, **needed_panels(asked)}
    return {*_list_keys(view.show(view.scene(variant.view), options))}


def _list_keys(items: Iterable[Item]) -> Iterator[str]:
    """Yield the keys of charts, tables and groups, also of those inside others; `answer` for the first sentence."""
    for item in items:
        match item:
            case Paragraph(kind="answer"):
                yield ANSWER
            case Columns(columns=columns):
                yield from _list_keys(each for column in columns for each in column)
            case Group() | Panel():
                yield from _list_keys(item.items)
        yield getattr(item, "key", "")


def check_lesson(lesson: Lesson, exercises: Mapping[str, Exercise], *, computes: bool = True) -> list[str]:
    """Return a sentence on each thing of a lesson that does not hold.

    Args:
        lesson: to check.
        exercises: that it can ask, by key.
        computes: whether to compute the truth of what it asks; otherwise no tokenizer and no model is built.
    """
    found = [] if lesson.steps else ["It has no steps."]
    try:
        encode_lesson(lesson)
    except InputError as error:
        found.append(str(error))
    for number, step in enumerate(lesson.steps, start=1):
        try:
            found += [f"Step {number}: {sentence}" for sentence in _check_step(step, exercises, computes)]
        except PlaygroundError as error:
            found.append(f"Step {number}: {error}")
    return found


def _check_step(step: LessonStep, exercises: Mapping[str, Exercise], computes: bool) -> Iterator[str]:
    problem = find_problem(step, exercises)
    if problem:
        yield problem
    elif step.exercise is not None:
        if computes:
            variant = Variant(exercises[step.exercise], step.variant)
            _ = variant.truth, variant.explanation
    elif step.link:
        yield from open_link(step.link).notices if computes else check_link(step.link)
    elif not step.words:
        yield "It has no words, no link and no exercise."


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
