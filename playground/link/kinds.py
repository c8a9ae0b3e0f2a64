"""What a query parameter may be: a few kinds, each with a frozen default and a way to read a link's text."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.limits import MAX_CHARACTERS
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change
from playground.text.wording import quote_text

Reading = tuple[Any, str | None]
"""The value to use, and what is wrong with the link's text, if anything is."""


@dataclass(frozen=True, kw_only=True)
class _Kind:
    label: str = ""
    """Of the parameter's widget in the sidebar; its key if empty."""
    help_text: str | None = None


@dataclass(frozen=True)
class Choice(_Kind):
    """One of a few words, with what is shown below each."""

    default: str
    options: Sequence[str]
    captions: Sequence[str] = ()
    former: Mapping[str, str] = field(default_factory=dict)
    """Words that links once had, and the nearest option."""


@dataclass(frozen=True)
class Several(_Kind):
    """Any number of a few words, also none; a link repeats its key for each."""

    default: tuple[str, ...]
    options: Sequence[str]


@dataclass(frozen=True)
class Size(_Kind):
    """One of the numbers that a slider stops at, smallest first."""

    default: float
    options: Sequence[float]


@dataclass(frozen=True)
class Whole(_Kind):
    """A whole number between two bounds."""

    default: int
    low: int
    high: int


@dataclass(frozen=True)
class Switch(_Kind):
    """On or off."""

    default: bool


@dataclass(frozen=True)
class Text(_Kind):
    """Typed text of at most `longest` characters."""

    default: str
    longest: int = MAX_CHARACTERS


@dataclass(frozen=True)
class Notation(_Kind):
    """Text in a notation of its own, which is read into a value that can be hashed and whose `str` it is."""

    default: Any
    parse: Callable[[str], Reading]
    """Reads it; what it says is wrong is a whole sentence."""


Param = Choice | Several | Size | Whole | Switch | Text | Notation

_MOST_NAMED = 20
"""Options that a sentence lists."""


def read_param(param: Param, texts: Sequence[str]) -> Reading:
    """Read a parameter's texts in a link: of several the last counts; a number becomes the nearest inside."""
    text = texts[-1]
    match param:
        case Choice(default, options, _, former):
            listed = options if len(options) <= _MOST_NAMED else (*options[:3], "…")
            return (
                (text, None) if text in options else (former.get(text, default), f"is not one of {', '.join(listed)}")
            )
        case Several(default, options):
            known = tuple(dict.fromkeys(word for word in texts if word in options))
            is_good = all(not word or word in options for word in texts)
            return (known, None) if is_good else (known or default, "is not an option there")
        case Size(default, options):
            number = _read_number(text)
            if math.isnan(number):
                return default, "is not a number"
            inside = min(max(number, options[0]), options[-1])
            nearest = min(options, key=lambda option: abs(option - inside))
            return nearest, None if nearest == number else "is not a stop of its slider"
        case Whole(default, low, high):
            if not re.fullmatch("-?[0-9]{1,20}", text):
                return default, "is not a whole number"
            whole = min(max(int(text), low), high)
            return whole, None if whole == int(text) else f"is not between {low:,} and {high:,}"
        case Switch(default):
            is_good = text.lower() in {"true", "false"}
            return (text.lower() == "true", None) if is_good else (default, "is neither true nor false")
        case Text(_, longest):
            too_long = f"has {len(text):,} characters; only the first {longest:,} are kept"
            return text[:longest], too_long if len(text) > longest else None
        case Notation(_, parse):
            return parse(text)


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


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
