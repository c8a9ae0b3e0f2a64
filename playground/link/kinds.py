"""What a query parameter may be, and how a link's text is read."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

from playground.limits import MAX_CHARACTERS
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change
from playground.text.wording import quote_text
from playground.words import say

Reading = tuple[Any, str | None]
"""The value to use, and what is wrong with the link's text, if anything is."""


@dataclass(frozen=True)
class Param:
    """A query parameter."""

    kind: Literal["choice", "several", "size", "whole", "switch", "text", "notation"]
    default: Any
    options: Sequence[Any] = ()
    """Words, a slider's stops, smallest first, or the range of whole numbers; a link repeats the key for `several`."""
    captions: Sequence[str] = ()
    longest: int = MAX_CHARACTERS
    """Characters of a text."""
    parse: Callable[[str], Reading] = lambda text: (text, None)
    """Reads a notation, whose `str` is its text; complains in whole sentences."""
    words: str = ""
    """Its key in `words/en/settings.ftl`, if it has words of its own."""

    @cached_property
    def label(self) -> str:
        """Its widget's label; empty without words."""
        return say("settings", f"setting-{self.words}") if self.words else ""

    @cached_property
    def help_text(self) -> str | None:
        """What it is, if it has words."""
        return say("settings", f"setting-{self.words}.help") if self.words else None


choice, several, size, text = (partial(Param, kind) for kind in ("choice", "several", "size", "text"))
notation, switch = partial(Param, "notation"), partial(Param, "switch", options=(False, True))


def whole(default: int, low: int, high: int) -> Param:
    """Return a whole number between two bounds."""
    return Param("whole", default, range(low, high + 1))


_NO_VALUE = "is not one of its values"


def read_param(param: Param, texts: Sequence[str]) -> Reading:
    """Read a parameter's texts in a link: of several the last counts; a number becomes the nearest inside."""
    text, options = texts[-1], param.options
    match param.kind:
        case "text":
            too_long = f"has {len(text):,} characters; only the first {param.longest:,} are kept"
            return text[: param.longest], too_long if len(text) > param.longest else None
        case "notation":
            return param.parse(text)
        case "several":
            known = tuple(dict.fromkeys(word for word in texts if word in options))
            is_good = all(not word or word in options for word in texts)
            return (known, None) if is_good else (known or param.default, _NO_VALUE)
        case "choice" | "switch":
            found = {write(option): option for option in options}
            text = text.lower() if param.kind == "switch" else text
            return (found[text], None) if text in found else (param.default, _NO_VALUE)
    number = _read_number(text, is_whole=param.kind == "whole")
    if math.isnan(number):
        return param.default, _NO_VALUE
    nearest = min(max(number, options[0]), options[-1])
    if param.kind == "size":
        nearest = min(options, key=lambda option: abs(option - nearest))
    return nearest, None if nearest == number else _NO_VALUE


def _read_number(text: str, *, is_whole: bool) -> float:
    if is_whole:
        return int(text) if re.fullmatch("-?[0-9]{1,20}", text) else math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def write(value: object) -> str:
    """Return a value's text in a link."""
    return str(value).lower() if isinstance(value, bool) else str(value)


MAX_CHANGES = 64
"""Changes of the computation that one link may hold."""

_SEPARATOR, _OFF = ",", "-"
"""Between changes; before one that is switched off."""


class MadeChange(NamedTuple):
    """A change of the computation, on or off."""

    change: Change
    is_on: bool = True


@dataclass(frozen=True)
class Changes:
    """The visitor's changes in their order: `do`, whose text is its `str`."""

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
    for item in (item.strip().lower() for item in items[:MAX_CHANGES]):
        change = read_change(item.removeprefix(_OFF))
        if change is None:
            quoted = quote_text(item.removeprefix(_OFF), longest=24)
            sentences.append(f"The link's do={quoted} is not a change that the playground knows.")
        else:
            found.setdefault(change, MadeChange(change, not item.startswith(_OFF)))
    return Changes(tuple(found.values())), " ".join(sentences) or None
