"""What somebody found in a lesson, as one code: written and signed at its end, read and counted for a class."""

import base64
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple

import pandas as pd
from pydantic import AfterValidator, Field

from playground.errors import InputError
from playground.learn.lesson import Lesson
from playground.learn.reading import Record, pack, unpack

MAX_NAME, MAX_TITLE = 60, 40

MAX_CODES, MAX_TEXT = 500, 200_000
"""Lines with something in them, and characters, that are read at once."""

_VERSION = "r1"
"""Before the first dot of a code."""

_MAX_CODE, _MAX_JSON, _MAX_TASKS = 1_000, 4_000, 30

_SIGNATURE = 16
"""Bytes: half of SHA-256, the least that RFC 2104, section 5, advises."""

_DICTIONARY = (
    b'{"lesson":"","title":"","visitor":"","made":17,"tasks":[[1,2,"open"],[2,1,"given up"],[3,1,"found"]],"name":"'
)
"""What every code has: `zlib` need not write it."""

_CODE = re.compile(r"\br\d+\.[\w.-]+", re.ASCII)

Outcome = Literal["open", "found", "given up"]


class Task(NamedTuple):
    """What came of one step's exercise, guess, or something to do."""

    step: Annotated[int, Field(ge=1, le=99)]
    """From 1."""
    tries: Annotated[int, Field(ge=0, le=10**6)] = 0
    """With the one that found it; 0 if it was found in an earlier session, as the browser says."""
    outcome: Outcome = "open"


def clean_name(text: str) -> str:
    """Return a name in one line, without what cannot be printed, cut at `MAX_NAME` letters."""
    printed = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printed.split())[:MAX_NAME].strip()


class Result(Record):
    """What one visitor found in a lesson."""

    lesson: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    """`lesson_hash`."""
    title: Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(clean_name)]
    visitor: Annotated[str, Field(pattern=r"^[0-9a-f]{6}$")]
    """Drawn for a session."""
    made: Annotated[int, Field(ge=0, le=2**35)]
    """Seconds since 1970, UTC."""
    tasks: Annotated[tuple[Task, ...], Field(min_length=1, max_length=_MAX_TASKS)]
    name: Annotated[str, AfterValidator(clean_name)] = ""

    @property
    def n_found(self) -> int:
        """How many tasks were found."""
        return sum(task.outcome == "found" for task in self.tasks)


class Received(NamedTuple):
    """A result that was read."""

    result: Result
    is_signed: bool
    """By this server."""


def lesson_hash(lesson: Lesson) -> str:
    """Return eight hexadecimal digits that tell a lesson from others, also of its title."""
    return hashlib.sha256(lesson.model_dump_json(exclude_defaults=True).encode()).hexdigest()[:8]


def write_code(result: Result, key: str = "") -> str:
    """Return a result as one word, signed with an operator's `key`, if there is one."""
    code = f"{_VERSION}.{pack(result, zdict=_DICTIONARY)}"
    return f"{code}.{_sign(code, key)}" if key else code


def _sign(code: str, key: str) -> str:
    signature = hmac.digest(key.encode(), code.encode(), "sha256")[:_SIGNATURE]
    return base64.urlsafe_b64encode(signature).decode().rstrip("=")


def read_code(code: str, key: str = "") -> Received:
    """Return what a code says; without a `key` no signature counts. Raises `InputError`."""
    if not _CODE.fullmatch(code):
        raise InputError(f"There is no code: one begins with {_VERSION} and a dot.")
    version, content, signature = [*code.split(".", 2), ""][:3]
    if version != _VERSION:
        raise InputError("Another version of the playground has made this code.")
    if key and signature and not hmac.compare_digest(signature, _sign(f"{version}.{content}", key)):
        raise InputError("The signature is not this server's: the code was changed, or another server has made it.")
    try:
        unpacked = unpack(content, _MAX_JSON, zdict=_DICTIONARY) if len(content) <= _MAX_CODE else None
        return Received(Result.model_validate_json(unpacked or b""), is_signed=bool(key and signature))
    except ValueError as error:  # pydantic's among them
        raise InputError("This code is damaged, or two stand in one word.") from error


def read_codes(text: str, key: str = "") -> tuple[list[Received], dict[int, str]]:
    """Return the codes of a text, such as a CSV file, and why lines (from 1) can't be read; raises `InputError`."""
    if len(text) > MAX_TEXT:
        raise InputError(f"These are {len(text):,} characters; at most {MAX_TEXT:,} are read. Take some lines away.")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    found = [(number, code) for number, line in lines for code in _CODE.findall(line) or [line]]
    if len(found) > MAX_CODES:
        raise InputError(f"These are {len(found):,} codes or lines; at most {MAX_CODES} are read. Take some away.")
    received, problems = list[Received](), dict[int, str]()
    for number, code in found:
        try:
            received.append(read_code(code, key))
        except InputError as error:
            problems[number] = str(error)
    return received, problems


# --- a class


def group_by_lesson(received: Iterable[Received]) -> list[list[Received]]:
    """Return one result of each visitor in each lesson, the lesson with the most first.

    A visitor is a name, or a session without a name. A signed result counts first, then the best, then the last.
    """
    lessons: dict[object, dict[object, Received]] = {}
    for each in sorted(received, key=lambda each: (each.is_signed, each.result.n_found, each.result.made)):
        result = each.result
        lesson = result.lesson, result.title, *(task.step for task in result.tasks)
        lessons.setdefault(lesson, {})[result.name.casefold(), "" if result.name else result.visitor] = each
    return sorted((list(best.values()) for best in lessons.values()), key=len, reverse=True)


FOUND_AT = ("1", "2", "3", "4", "earlier", "not")
"""At which try a task was found: `4` is that or later, `earlier` in a session before, `not` is not at all."""


def count_tries(received: Sequence[Received]) -> Mapping[str, Mapping[int, int]]:
    """Return how many found each task of a lesson, by `FOUND_AT` and the task's step."""
    tasks = [task for each in received for task in each.result.tasks]
    counts = Counter((_found_at(task), task.step) for task in tasks)
    return {at: {task.step: counts[at, task.step] for task in tasks} for at in FOUND_AT}


def _found_at(task: Task) -> str:
    if task.outcome != "found":
        return "not"
    return str(min(task.tries, 4)) if task.tries else "earlier"


def write_grade_book(received: Iterable[Received]) -> pd.DataFrame:
    """Return a row for each result, by name: how many tasks were found, the try that found each, or what came of it."""
    rows = []
    for result, is_signed in sorted(received, key=lambda each: (not each.result.name, each.result.name.casefold())):
        tasks = {f"step {task.step}": str(task.tries) if task.tries else "earlier" for task in result.tasks}
        tasks |= {f"step {task.step}": task.outcome for task in result.tasks if task.outcome != "found"}
        made, signed = f"{datetime.fromtimestamp(result.made, UTC):%Y-%m-%d %H:%M}", "yes" if is_signed else "no"
        rows.append({"name": result.name, "found": result.n_found, **tasks, "signed": signed, "made, UTC": made})
    return pd.DataFrame(rows)
