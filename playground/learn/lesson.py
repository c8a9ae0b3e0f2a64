"""What a lesson is: words, states of the app and exercises, one step after the other, as data.

A file has one lesson in YAML; a link has the same, compressed. A step may ask for something to be done or guessed, and
conclude with numbers; all of that are formulas (`playground.learn.formulas`).
"""

import re
import zlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError, model_validator

from playground.charts.names import escape_markdown
from playground.errors import InputError
from playground.learn.answers import COMPUTED, Option, check_formula, check_text
from playground.learn.exercise import MAX_VARIANT, Exercise
from playground.learn.formulas import Formula, Surroundings
from playground.learn.reading import MAX_FILE, Key, Record, decode_base64url, encode_base64url, read_record
from playground.link.opening import LinkedView, split_link
from playground.link.params import MAX_LESSON, MAX_STEPS
from playground.pages import MOVED, PAGES
from playground.text.wording import quote_text

_MARK = "~"
"""What a lesson's code begins with, and no key of a lesson."""

_PICTURE = re.compile(r"!\[")

_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_SLOW = re.compile(r"\b(trained|gradient)\b")
"""Quantities that take long: a lesson's formulas are computed whenever its page is drawn."""

_MOST_NUMBERS = 8
"""Formulas of a conclusion."""


def _check_words(text: str) -> str:
    if _PICTURE.search(text):
        raise ValueError("words have no pictures: these would be fetched from elsewhere")
    return check_text(text)


def _check_quick(formula: str) -> str:
    if _SLOW.search(_TEXT.sub("", formula)):
        raise ValueError("a lesson's formulas train nothing")
    return check_formula(formula) if formula else formula


def _check_conclusion(text: str) -> str:
    found = COMPUTED.findall(text)
    if len(found) > _MOST_NUMBERS:
        raise ValueError(f"a conclusion has at most {_MOST_NUMBERS} numbers")
    for formula, written in found:
        _check_quick(formula)
        format(0.5, written.strip())
    return _check_words(text)


Words = Annotated[str, Field(max_length=3_000), AfterValidator(_check_words)]
"""Markdown without HTML and pictures."""

Container = Annotated[str, Field(pattern=r"^[a-z0-9_]*$", max_length=40)]
"""A container's key."""


class LessonStep(Record):
    """One step: words, and beside them a state of the app, a page, an exercise, or nothing."""

    words: Words = ""
    link: str = Field(default="", max_length=MAX_LESSON)
    """What is opened: a link, as the button “Copy link” gives it, or a page's path and parameters."""
    page: str = ""
    """A page, by its path, that is opened with what the visitor has set so far."""
    exercise: Key | None = None
    """What is asked: an exercise by its key."""
    variant: int = Field(default=0, ge=0, le=MAX_VARIANT)
    done: Annotated[str, AfterValidator(_check_quick)] = ""
    """A condition on the visitor's state under which the step is done; empty: there is nothing to be done."""
    guess: list[Option] = Field(default_factory=list, max_length=6)
    """Answers to choose from, instead of `done`; each is right under its condition."""
    conclusion: Annotated[str, Field(max_length=2_000), AfterValidator(_check_conclusion)] = ""
    """What takes the words' place once the step is done, as of `fill_numbers`."""
    shows: Container = ""
    """The container that the page scrolls to."""
    hides: list[Container] = Field(default_factory=list, max_length=8)
    """Containers that are hidden until the step is done, as they tell what is to be guessed."""

    @model_validator(mode="after")
    def _check(self) -> "LessonStep":
        if self.page and self.page not in PAGES:
            raise ValueError(f"there is no page {quote_text(self.page)}: those are {', '.join(PAGES)}")
        if sum(map(bool, (self.link, self.page, self.exercise))) > 1:
            raise ValueError("a step has a link, a page or an exercise: put the other one into a step of its own")
        if self.done and self.guess:
            raise ValueError("a step has something to do or to guess, not both")
        for option in self.guess:
            _check_quick(option.when)
            _check_words(option.text)
        return self

    @property
    def address(self) -> str:
        """The state that the step opens, as a link without the server; empty if it opens none."""
        if self.exercise is None:
            return self.link
        variant = f"&exercises_variant={self.variant}" if self.variant else ""
        return f"exercises?exercises_key={self.exercise}{variant}"

    @property
    def has_task(self) -> bool:
        """Whether there is something to do or to guess."""
        return bool(self.done or self.guess)


def fill_numbers(text: str, views: Mapping[str, LinkedView]) -> str:
    """Return a conclusion with its numbers: `{= formula}`, or `{= formula | .2f}` in that format.

    Args:
        text: the conclusion.
        views: the states that formulas name: `now`, the visitor's, and `start`, that of the step's link.

    Raises:
        InputError: a formula cannot be computed; and whatever its run raises.
    """

    def compute(found: re.Match[str]) -> str:
        value = Formula(found[1].strip()).compute(Surroundings(views))
        return format(value, (found[2] or ".4g").strip()) if isinstance(value, int | float) else escape_markdown(value)

    return COMPUTED.sub(compute, text)


class Lesson(Record):
    """Steps that are taken one after the other."""

    title: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_check_words)]
    about: Annotated[Words, Field(max_length=300)] = ""
    """What a student finds out, or knows at its end, in a sentence."""
    minutes: int = Field(default=0, ge=0, le=600)
    """How long it takes, about; 0 where nobody has said."""
    steps: list[LessonStep] = Field(default_factory=list, max_length=MAX_STEPS)


def read_lesson(text: str, name: str = "this lesson") -> Lesson:
    """The lesson that a file's text describes.

    Args:
        text: YAML.
        name: what the file is called in messages.

    Raises:
        InputError: it is none; the message names the line, what is wrong there and what would work.
    """
    return read_record(Lesson, text, name)


def encode_lesson(lesson: Lesson) -> str:
    """The lesson in letters that a link takes; raises `InputError` where there are more than `MAX_LESSON`."""
    packed = zlib.compress(lesson.model_dump_json(exclude_defaults=True).encode(), 9)
    code = _MARK + encode_base64url(packed)
    if len(code) > MAX_LESSON:
        raise InputError(
            f"As a link this lesson has {len(code):,} characters, and at most {MAX_LESSON:,} are taken: shorten its "
            "words, or make two lessons of it."
        )
    return code


def is_code(text: str) -> bool:
    """Whether a text stands for a whole lesson, and not for the key of a shipped one."""
    return text.startswith(_MARK)


@lru_cache(maxsize=64)
def decode_lesson(code: str) -> Lesson:
    """The lesson that `encode_lesson` has written; raises `InputError` where the code is none, or a part of one."""
    try:
        packed = decode_base64url(code.removeprefix(_MARK))
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(packed, MAX_FILE)
    except (ValueError, zlib.error) as error:
        raise InputError(_BROKEN) from error
    if not unpacker.eof:
        raise InputError(_BROKEN if not unpacker.unconsumed_tail else f"A lesson has at most {MAX_FILE:,} characters.")
    try:
        return Lesson.model_validate_json(unpacked)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"The link's lesson can't be read: {first}.") from error


_BROKEN = "The link's lesson is not whole: perhaps the link was cut when it was copied. Ask for it again."


FOLDER = Path(__file__).parent / "lessons"
"""Where the shipped lessons lie."""


@cache
def shipped_lessons() -> Mapping[str, Lesson]:
    """Return the lessons by key, which is their file's name, the shortest first; raises as `read_lesson`."""
    files = sorted(FOLDER.glob("*.yaml"))
    lessons = {file.stem: read_lesson(file.read_text(encoding="utf-8"), file.name) for file in files}
    return dict(sorted(lessons.items(), key=lambda item: item[1].minutes))


def find_lesson(name: str) -> Lesson:
    """The lesson that a link names by its key, or has as a whole; raises `InputError` where there is none."""
    if is_code(name):
        return decode_lesson(name)
    lessons = shipped_lessons()
    if name not in lessons:
        raise InputError(f"There is no lesson {quote_text(name)}: those are {', '.join(lessons)}.")
    return lessons[name]


def find_problem(step: LessonStep, exercises: Mapping[str, Exercise]) -> str:
    """Why a step cannot open what it is to open; empty where it can."""
    if step.exercise is not None and step.exercise not in exercises:
        return f"This step asks for the exercise {quote_text(step.exercise)}, which is not here."
    try:
        if step.address:
            split_link(step.address)
        if step.link and step.link.partition("?")[0].rpartition("/")[2] not in {"", *PAGES, *MOVED}:
            return f"{quote_text(step.link)} opens no page: paste what “Copy link” gives."
    except InputError as error:
        return str(error)
    return ""
