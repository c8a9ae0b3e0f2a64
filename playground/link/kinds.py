"""What a query parameter may be: a few kinds, each with a frozen default and a way to read a link's text."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.limits import MAX_CHARACTERS
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change
from playground.text.wording import quote_text

Reading = tuple[Any, str | None]
"""The value to use, and what is wrong with the link's text, if anything is."""


@dataclass(frozen=True, kw_only=True)
class _Kind(ABC):
    label: str = ""
    """Of the parameter's widget in the sidebar; its key if empty."""
    help_text: str | None = None

    @abstractmethod
    def read(self, text: str) -> Reading:
        """Read one text of a link."""

    def read_all(self, texts: Sequence[str]) -> Reading:
        """Read a parameter that a link may repeat: the last one counts."""
        return self.read(texts[-1])


_MOST_NAMED = 20
"""Options that a sentence lists."""


@dataclass(frozen=True)
class Choice(_Kind):
    """One of a few words."""

    default: str
    options: Sequence[str]
    captions: Sequence[str] = ()
    """What is shown below each option."""

    def read(self, text: str) -> Reading:
        """Read the word."""
        if text in self.options:
            return text, None
        listed = self.options if len(self.options) <= _MOST_NAMED else (*self.options[:3], "…")
        return self.default, f"is not one of {', '.join(listed)}"


@dataclass(frozen=True)
class Several(_Kind):
    """Any number of a few words, also none; a link repeats its key for each."""

    default: tuple[str, ...]
    options: Sequence[str]

    def read(self, text: str) -> Reading:
        """Read a single word."""
        return self.read_all([text])

    def read_all(self, texts: Sequence[str]) -> Reading:
        """Read the words that are options, each once; an empty text is no word."""
        known = tuple(dict.fromkeys(word for word in texts if word in self.options))
        if all(not text or text in self.options for text in texts):
            return known, None
        return known or self.default, "is not an option there"


@dataclass(frozen=True)
class Size(_Kind):
    """One of the numbers that a slider stops at, smallest first."""

    default: float
    options: Sequence[float]

    def read(self, text: str) -> Reading:
        """Read the number; one between two stops becomes the nearer stop."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            return self.default, "is not a number"
        inside = min(max(value, self.options[0]), self.options[-1])
        nearest = min(self.options, key=lambda option: abs(option - inside))
        return nearest, None if nearest == value else "is not a stop of its slider"


@dataclass(frozen=True)
class Whole(_Kind):
    """A whole number between two bounds."""

    default: int
    low: int
    high: int

    def read(self, text: str) -> Reading:
        """Read the number; one outside the bounds becomes the nearer bound."""
        if not re.fullmatch("-?[0-9]{1,20}", text):
            return self.default, "is not a whole number"
        value = min(max(int(text), self.low), self.high)
        return value, None if value == int(text) else f"is not between {self.low:,} and {self.high:,}"


@dataclass(frozen=True)
class Switch(_Kind):
    """On or off."""

    default: bool

    def read(self, text: str) -> Reading:
        """Read true or false."""
        if text.lower() in {"true", "false"}:
            return text.lower() == "true", None
        return self.default, "is neither true nor false"


@dataclass(frozen=True)
class Text(_Kind):
    """Typed text of at most `longest` characters."""

    default: str
    longest: int = MAX_CHARACTERS

    def read(self, text: str) -> Reading:
        """Read the text, as long as it may be."""
        if len(text) > self.longest:
            return text[: self.longest], f"has {len(text):,} characters; only the first {self.longest:,} are kept"
        return text, None


@dataclass(frozen=True)
class Notation(_Kind):
    """Text in a notation of its own, which is read into a value that can be hashed."""

    default: Any
    """Its `str` is the link's text."""
    parse: Callable[[str], Reading]
    """Reads it; what it says is wrong is a whole sentence."""

    def read(self, text: str) -> Reading:
        """Read the text, as far as it is in the notation."""
        return self.parse(text)


Param = Choice | Several | Size | Whole | Switch | Text | Notation

MAX_CHANGES = 64
"""Changes of the computation that one link may hold."""

_SEPARATOR, _OFF = ",", "-"
"""Between changes; before one that is switched off."""

_LONGEST_QUOTED = 24


class MadeChange(NamedTuple):
    """A change of the computation as the visitor has it: switched on, or kept to be switched on again."""

    change: Change
    is_on: bool = True


@dataclass(frozen=True)
class Changes:
    """The visitor's changes in their order: the value of `do`. As a string it is the link's text."""

    made: tuple[MadeChange, ...] = ()

    def __str__(self) -> str:
        return _SEPARATOR.join(f"{'' if is_on else _OFF}{write_change(change)}" for change, is_on in self.made)

    def __bool__(self) -> bool:
        return bool(self.made)


def write_changes(changes: Iterable[Change]) -> str:
    """Return the text of a link's `do` for changes in their order, all of them on."""
    return str(Changes(tuple(map(MadeChange, changes))))


def read_changes(text: str) -> tuple[Changes, str | None]:
    """Return the changes of a link's `do`, each once, and sentences on what is no change."""
    found: dict[Change, MadeChange] = {}
    sentences: list[str] = []
    items = [item for item in text.split(_SEPARATOR, MAX_CHANGES) if item]
    if len(items) > MAX_CHANGES:
        sentences.append(f"The link has more than {MAX_CHANGES} changes; only the first ones are made.")
    for item in items[:MAX_CHANGES]:
        change = read_change(item.removeprefix(_OFF))
        if change is None:
            quoted = _quote(item.removeprefix(_OFF))
            sentences.append(f"The link's do={quoted} is not a change that the playground knows.")
        else:
            found.setdefault(change, MadeChange(change, not item.startswith(_OFF)))
    return Changes(tuple(found.values())), " ".join(sentences) or None


def _quote(text: str) -> str:
    """Return a text in quotation marks; with its `:` and `@` if these can make no link and no icon."""
    if len(text) <= _LONGEST_QUOTED and re.fullmatch(r"[0-9a-z_.]*:[0-9a-z_.]*(?:@[0-9.]*)?", text, re.ASCII):
        return f"“{text}”"
    return quote_text(text, longest=_LONGEST_QUOTED)
