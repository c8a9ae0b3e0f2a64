"""What a visitor has found of the exercises: kept in the browser, and in a file that can be taken along."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from playground.errors import InputError
from playground.learn.reading import Key, Record

MAX_PROGRESS = 200_000
"""Characters of a file."""


class Result(Record):
    """What became of one exercise, over all of its variants."""

    found: bool = False
    given_up: bool = False
    tries: int = Field(default=0, ge=0, le=100_000)

    @property
    def status(self) -> Literal["found", "given up", "tried", "new"]:
        """The best that became of it."""
        return "found" if self.found else "given up" if self.given_up else "tried" if self.tries else "new"

    def join(self, other: "Result") -> "Result":
        """Both records of one exercise, such as the browser's and a file's, as one."""
        return Result(
            found=self.found or other.found,
            given_up=self.given_up or other.given_up,
            tries=max(self.tries, other.tries),
        )


Results = Mapping[str, Result]
"""By the exercise's key."""


class _File(Record):
    version: Literal[1]
    exercises: dict[Key, Result] = Field(max_length=1_000)


def read_progress(text: str) -> Results:
    """The results that a file, or the browser's storage, holds.

    Raises:
        InputError: it holds none; the message says what is wrong first.
    """
    if len(text) > MAX_PROGRESS:
        raise InputError(f"This file has {len(text):,} characters; progress has at most {MAX_PROGRESS:,}.")
    try:
        return _File.model_validate_json(text).exercises
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"])
        problem = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise InputError(f"This is no progress that the exercises have saved ({problem}).") from error


def write_progress(results: Results) -> str:
    """The text of a file that `read_progress` reads."""
    return _File(version=1, exercises=dict(results)).model_dump_json()


def join_results(one: Results, other: Results) -> dict[str, Result]:
    """Both, each exercise once."""
    keys = dict.fromkeys([*one, *other])
    return {key: one.get(key, Result()).join(other.get(key, Result())) for key in keys}
