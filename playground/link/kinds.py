"""What a query parameter may be: a few kinds, each with a frozen default and a way to read a link's text."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from playground.limits import MAX_CHARACTERS

Reading = tuple[Any, str | None]
"""The value to use, and what is wrong with the link's text, where something is."""


@dataclass(frozen=True, kw_only=True)
class _Kind(ABC):
    """What a widget in the sidebar says of its parameter; a page's widgets are described where they are drawn."""

    label: str = ""
    """The parameter's key where it is empty."""
    help_text: str | None = None

    @abstractmethod
    def read(self, text: str) -> Reading:
        """Read one text of a link."""

    def read_all(self, texts: Sequence[str]) -> Reading:
        """Read a parameter that a link may repeat: the last one counts."""
        return self.read(texts[-1])


_MOST_NAMED = 20
"""Words of a choice that a sentence names all."""


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
        many = len(self.options) > _MOST_NAMED
        named = (*self.options[:3], f"{len(self.options) - 3} more") if many else self.options
        return self.default, f"is not one of {', '.join(named)}"


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
        if not self.wrong(texts):
            return known, None
        return known or self.default, "is not an option there"

    def wrong(self, texts: Sequence[str]) -> list[str]:
        """The words that are none of the options."""
        return [text for text in texts if text and text not in self.options]


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
    """Its `str` is the link's text, as that of every value."""
    parse: Callable[[str], Reading]
    """Reads it; what it says is wrong is a whole sentence."""

    def read(self, text: str) -> Reading:
        """Read the text, as far as it is in the notation."""
        return self.parse(text)


Param = Choice | Several | Size | Whole | Switch | Text | Notation
