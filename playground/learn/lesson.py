"""What a lesson is: a teacher's own words, states of the app and exercises, one step after the other, as data.

A file has one lesson in YAML; a link has the same, compressed.
"""

import re
import zlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from playground.errors import InputError
from playground.learn.answers import check_text
from playground.learn.exercise import MAX_VARIANT, Exercise
from playground.learn.reading import MAX_FILE, Key, Record, decode_base64url, encode_base64url, read_record
from playground.link.opening import split_link
from playground.link.params import MAX_LESSON, MAX_STEPS, TOUR
from playground.pages import MOVED, PAGES
from playground.text.wording import quote_text

_MARK = "~"
"""What a lesson's code begins with, and no key of a lesson."""

_PICTURE = re.compile(r"!\[")


def _check_words(text: str) -> str:
    if _PICTURE.search(text):
        raise ValueError("words have no pictures: these would be fetched from elsewhere")
    return check_text(text)


def _shorten_link(link: str) -> str:
    """The page and the parameters of a link, without the server and the lesson in which it was copied."""
    found = re.fullmatch(r"(?:https?://|(?!\w+://))(?:[^?#\s]*/)?([\w-]*)(?:\?([^#]*))?(?:#.*)?", link.strip())
    if not link or found is None or (found[1] or "overview") not in {*PAGES, *MOVED}:
        return link  # what is wrong with it is said where it is opened
    kept = [each for each in (found[2] or "").split("&") if each and each.partition("=")[0] not in TOUR]
    return f"{found[1] or 'overview'}?{'&'.join(kept)}"


Line = Annotated[str, Field(max_length=300), AfterValidator(_check_words)]
"""A line of Markdown without HTML."""


class LessonStep(Record):
    """One step: words, and beside them a state of the app, or an exercise, or nothing."""

    words: Annotated[str, Field(max_length=3_000), AfterValidator(_check_words)] = ""
    """Markdown without HTML and pictures."""
    link: Annotated[str, Field(max_length=MAX_LESSON), AfterValidator(_shorten_link)] = ""
    """What is opened: a link, as the button “Copy link” gives it, or a page's path and parameters."""
    exercise: Key | None = None
    """What is asked: an exercise by its key."""
    variant: int = Field(default=0, ge=0, le=MAX_VARIANT)

    @model_validator(mode="after")
    def _check(self) -> "LessonStep":
        if self.link and self.exercise:
            raise ValueError("a step has a link or an exercise: put the other one into a step of its own")
        return self

    @property
    def address(self) -> str:
        """What the step opens, as a link without the server; empty where it has words alone."""
        if self.exercise is None:
            return self.link
        variant = f"&exercises_variant={self.variant}" if self.variant else ""
        return f"exercises?exercises_key={self.exercise}{variant}"


class Lesson(Record):
    """Steps that are taken one after the other."""

    title: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_check_words)]
    about: Line = ""
    """What a student knows at its end, in a sentence."""
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


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes texts of several lines as they are."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _write_text)


def write_lesson(lesson: Lesson) -> str:
    """The text of a file that `read_lesson` reads."""
    values = lesson.model_dump(exclude_defaults=True)
    return str(yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))


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
        raise InputError(f"The link's lesson can't be read: {_describe(error)}") from error


def make_lesson(values: Mapping[str, Any]) -> Lesson:
    """The lesson of these values of its fields; raises `InputError` where there is none."""
    try:
        return Lesson.model_validate(values)
    except ValidationError as error:
        raise InputError(_describe(error)) from error


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    *_, field = (each for each in ("this", *first["loc"]) if isinstance(each, str))
    return f"{quote_text(field)}: {first['msg'].removeprefix('Value error, ')}."


_BROKEN = "The link's lesson is not whole: perhaps the link was cut when it was copied. Ask for it again."


FOLDER = Path(__file__).parent / "lessons"
"""Where the shipped lessons lie."""


@cache
def shipped_lessons() -> Mapping[str, Lesson]:
    """The lessons by key, which is their file's name, read once; raises `InputError` where a file is none."""
    files = sorted(FOLDER.glob("*.yaml"))
    return {file.stem: read_lesson(file.read_text(encoding="utf-8"), file.name) for file in files}


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
        if step.link and step.link.partition("?")[0] not in {*PAGES, *MOVED}:
            return f"{quote_text(step.link)} opens no page: paste what “Copy link” gives."
    except InputError as error:
        return str(error)
    return ""
