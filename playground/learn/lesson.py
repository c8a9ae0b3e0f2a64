"""A lesson: words, states of the app and exercises, step by step, in a YAML file or compressed in a link."""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from playground.errors import InputError, PlaygroundError
from playground.learn.answers import Number, Option, Text, check_page, check_text
from playground.learn.exercise import (
    Exercise,
    Mistake,
    Variant,
    check_exercise,
    read_exercise,
    repairs,
    shipped_exercises,
)
from playground.learn.formulas import PLACE, check_formula, list_computed, read_number
from playground.learn.reading import MAX_FILE, Key, Record, first_message, pack, read_record, unpack
from playground.link.lab import Source
from playground.link.opening import open_link, split_link
from playground.link.params import MAX_LESSON, MAX_STEPS
from playground.pages import MOVED, PAGES
from playground.text.wording import quote_text
from playground.words import say

_MARK = "~"
"""Before a lesson's code, and before no key."""

_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_SLOW = re.compile(r"\b(trained|gradient)\b")
"""Quantities that are too slow for every run."""

_MOST_NUMBERS = 8
"""In a conclusion."""


def _check_quick(formula: str) -> str:
    if PLACE.search(formula):
        raise ValueError("a lesson's formulas have no `{name}`: no case fills it in")
    if _SLOW.search(_TEXT.sub("", formula)):
        raise ValueError("a lesson's formulas train nothing")
    return check_formula(formula) if formula else formula


def _check_conclusion(text: str) -> str:
    formulas = list_computed(text)
    if len(formulas) > _MOST_NUMBERS:
        raise ValueError(f"a conclusion has at most {_MOST_NUMBERS} numbers")
    for formula in formulas:
        _check_quick(formula)
    return check_text(text)


def _check_link(link: str) -> str:
    if link:
        split_link(link)
        if link.partition("?")[0].rpartition("/")[2] not in {"", *PAGES, *MOVED}:
            raise ValueError(f"{quote_text(link)} opens no page: paste what “Copy link” gives")
    return link


Words = Annotated[str, Field(max_length=3_000), AfterValidator(check_text)]
"""As `Text`, or empty."""

Container = Annotated[str, Field(pattern=r"^[a-z0-9_]*$", max_length=40)]


Link = Annotated[str, Field(max_length=MAX_LESSON), AfterValidator(_check_link)]
Conclusion = Annotated[str, Field(max_length=2_000), AfterValidator(_check_conclusion)]


class WrongAnswer(Record):
    """A wrong number that students may give, and what to say to it; without both it does not count."""

    answer: Annotated[str, Field(max_length=300), AfterValidator(_check_quick)] = ""
    """A number, or a formula."""
    feedback: Annotated[str, Field(max_length=1_000), AfterValidator(check_text)] = ""


def _fill_up(wrong: list[WrongAnswer]) -> list[WrongAnswer]:
    return [*wrong, WrongAnswer(), WrongAnswer()][:2]


class OwnExercise(Record):
    """A question of a lesson's author about a page, whose answer is one of the numbers there."""

    link: Annotated[Link, Field(min_length=1)]
    question: Text
    answer: Number
    wrong: Annotated[list[WrongAnswer], Field(max_length=2), AfterValidator(_fill_up)] = _fill_up([])
    """Two; empty ones do not count."""
    explanation: Conclusion = ""
    shows_chart: bool = True
    """Whether the page's chart is seen before the answer, or only after it."""

    @model_validator(mode="after")
    def _check(self) -> "OwnExercise":
        _check_quick(self.answer.truth)
        return self

    @property
    def key(self) -> str:
        """What names it in links and among the attempts."""
        return f"own-{sha256(self.model_dump_json(exclude_defaults=True).encode()).hexdigest()[:20]}"

    def pose(self) -> Exercise:
        """Return it as an exercise like those that are shipped."""
        page = PAGES[split_link(self.link)[0]]
        charts, wrong = (
            [page.chart] if page.chart else [],
            [each for each in self.wrong if each.answer and each.feedback],
        )
        return Exercise(
            key=self.key,
            title=say("lessons", "own-title", page=page.title),
            topic=page.title,
            level=1,
            source=say("lessons", "own-source"),
            page=page.path,
            link=self.link,
            shown=charts if self.shows_chart else [],
            hidden=[] if self.shows_chart else charts,
            question=self.question,
            answer=self.answer,
            solved=None,
            mistakes=[
                Mistake(name="x", when=f"near(answer, {each.answer}\n)", feedback=each.feedback, example=None)
                for each in wrong
            ],
            explanation=self.explanation or say("lessons", "own-explanation"),
        )


class LessonStep(Record):
    """Words, and a state of the app, a page, an exercise, or nothing."""

    words: Words = ""
    link: Link = ""
    """What is opened, with the server or without."""
    page: Annotated[str, AfterValidator(lambda page: check_page(page) if page else "")] = ""
    """What is opened with the visitor's settings."""
    exercise: Key | None = None
    variant: int = Field(default=0, ge=0, le=999)
    own: OwnExercise | None = None
    done: Annotated[str, AfterValidator(_check_quick)] = ""
    """The visitor's state under which the step is done."""
    guess: list[Option] = Field(default_factory=list, max_length=6)
    """Answers to choose from, instead of `done`."""
    conclusion: Conclusion = ""
    """What takes the words' place once it is done, with numbers."""
    shows: Container = ""
    """What the page scrolls to."""
    hides: list[Container] = Field(default_factory=list, max_length=8)
    """What is hidden until it is done."""

    @model_validator(mode="after")
    def _check(self) -> "LessonStep":
        if sum(map(bool, (self.link, self.page, self.exercise, self.own))) > 1:
            raise ValueError("a step has a link, a page or an exercise: put the other one into a step of its own")
        if self.done and self.guess:
            raise ValueError("a step has something to do or to guess, not both")
        for option in self.guess:
            _check_quick(option.when)
        return self

    @property
    def address(self) -> str:
        """The link that the step opens, if any."""
        if self.asked is None:
            return self.link
        variant = f"&exercises_variant={self.variant}" if self.variant else ""
        return f"exercises?exercises_key={self.asked}{variant}"

    @property
    def asked(self) -> str | None:
        """The key of its exercise, shipped or of its own."""
        return self.exercise if self.own is None else self.own.key

    @property
    def has_task(self) -> bool:
        """Whether something is to be done or guessed."""
        return bool(self.done or self.guess)


class Lesson(Record):
    """Steps that are taken one after the other."""

    title: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(check_text)]
    about: Annotated[Words, Field(max_length=300)] = ""
    """What a student finds out."""
    minutes: int = Field(default=0, ge=0, le=600)
    steps: list[LessonStep] = Field(default_factory=list, max_length=MAX_STEPS)


def read_lesson(text: str, name: str = "this lesson") -> Lesson:
    """Return the lesson of a YAML text; raises as `read_record`."""
    return read_record(Lesson, text, name)


def write_lesson(lesson: Lesson) -> str:
    """Write a lesson as a YAML text, which `read_lesson` reads."""
    values = lesson.model_dump(exclude_defaults=True)
    return str(yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=110))


def encode_lesson(lesson: Lesson) -> str:
    """Write a lesson in at most `MAX_LESSON` letters of a link; raises `InputError`."""
    code = _MARK + pack(lesson)
    if len(code) > MAX_LESSON:
        raise InputError(
            f"As a link this lesson has {len(code):,} characters, and at most {MAX_LESSON:,} are taken: shorten its "
            "words, or make two lessons of it."
        )
    return code


def is_code(text: str) -> bool:
    """Return whether a text is a whole lesson, and no key."""
    return text.startswith(_MARK)


@lru_cache(maxsize=64)
def decode_lesson(code: str) -> Lesson:
    """Return the lesson that `encode_lesson` has written; raises `InputError`."""
    try:
        unpacked = unpack(code.removeprefix(_MARK), MAX_FILE)
    except ValueError as error:
        raise InputError(_BROKEN) from error
    if unpacked is None:
        raise InputError(f"A lesson has at most {MAX_FILE:,} characters.")
    try:
        return Lesson.model_validate_json(unpacked)
    except ValidationError as error:
        raise InputError(f"The link's lesson can't be read: {first_message(error)}.") from error


_BROKEN = "The link's lesson is not whole: perhaps the link was cut when it was copied. Ask for it again."

FOLDER = Path(__file__).parent / "lessons"


@cache
def shipped_lessons() -> Mapping[str, Lesson]:
    """Return the lessons by name, the shortest first."""
    lessons = {file.stem: read_lesson(file.read_text(encoding="utf-8"), file.name) for file in FOLDER.glob("*.yaml")}
    return dict(sorted(lessons.items(), key=lambda item: (item[1].minutes, item[0])))


def find_lesson(name: str) -> Lesson:
    """Return the lesson of a key or code; raises `InputError`."""
    if is_code(name):
        return decode_lesson(name)
    lessons = shipped_lessons()
    if name not in lessons:
        raise InputError(f"There is no lesson {quote_text(name)}: those are {', '.join(lessons)}.")
    return lessons[name]


# --- the command for teachers


def check_lesson(lesson: Lesson, exercises: Mapping[str, Exercise]) -> list[str]:
    """Return a sentence on each thing that does not hold."""
    found = [] if lesson.steps else ["It has no steps."]
    try:
        encode_lesson(lesson)
    except InputError as error:
        found.append(str(error))
    for number, step in enumerate(lesson.steps, start=1):
        try:
            found += [f"Step {number}: {sentence}" for sentence in _check_step(step, exercises)]
        except PlaygroundError as error:
            found.append(f"Step {number}: {error}")
    return found


def _check_step(step: LessonStep, exercises: Mapping[str, Exercise]) -> Iterator[str]:
    if step.exercise is not None:
        if step.exercise not in exercises:
            raise InputError(f"This step asks for the exercise {quote_text(step.exercise)}, which is not here.")
        variant = Variant(exercises[step.exercise], step.variant)
        _ = variant.truth, variant.explanation
    elif step.own is not None:
        yield from check_own(step.own)
    elif step.link:
        opened = open_link(step.link)
        yield from repairs(opened.page, opened.notices)
    elif not step.words:
        yield "It has no words, no link and no exercise."


def check_own(own: OwnExercise, source: Source | None = None) -> Iterator[str]:
    """Yield a sentence on each thing that does not hold in an exercise; raises as `open_link`."""
    variant = Variant(own.pose(), 0, source)
    yield from repairs(variant.view.page, variant.view.notices)
    _ = variant.truth, variant.explanation
    for number, wrong in enumerate(own.wrong, start=1):
        if bool(wrong.answer) != bool(wrong.feedback):
            yield f"Wrong answer {number} needs a number and feedback."
        elif wrong.answer and variant.check(read_number(variant.compute(wrong.answer), wrong.answer)) != wrong.feedback:
            yield f"Wrong answer {number} is within the tolerance of the right one, or of the other."


def main(arguments: Sequence[str]) -> int:
    """Run `playground lesson check FILE …`; return 1 if something does not hold, else 0."""
    parser = argparse.ArgumentParser(prog="playground", allow_abbrev=False)
    lesson = parser.add_subparsers(required=True).add_parser("lesson").add_subparsers(required=True)
    check = lesson.add_parser("check", help="compute every truth of lessons and exercises, and say what does not hold")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a lesson, or an exercise, in YAML")
    read, found = dict[Path, Exercise | Lesson](), dict[Path, list[str]]()
    for file in parser.parse_args(arguments).files:
        try:
            text = file.read_text(encoding="utf-8")
            is_lesson = re.search(r"^steps\s*:", text, re.MULTILINE)
            read[file] = read_lesson(text, file.name) if is_lesson else read_exercise(text, file.name)
        except (PlaygroundError, OSError, UnicodeDecodeError) as error:
            found[file] = [str(error)]
    known = {**shipped_exercises(), **{each.key: each for each in read.values() if isinstance(each, Exercise)}}
    for file, each in read.items():
        found[file] = check_lesson(each, known) if isinstance(each, Lesson) else check_exercise(each)
    for file, sentences in found.items():
        for sentence in sentences or ["all holds."]:
            sys.stdout.write(f"{file}: {sentence}\n")
    return int(any(found.values()))
