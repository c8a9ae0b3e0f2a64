"""What is told of a tutorial: its topics, and the mistakes found in it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """Something that a tutorial teaches, and the page that shows it."""

    text: str
    page: str


@dataclass(frozen=True)
class Mistake:
    """Something that a tutorial gets wrong."""

    where: str
    """The part of its code or text."""
    printed: str
    """What stands there."""
    happens: str
    """What comes of it."""
    demonstration: Callable[[], str] | None
    """Computes one sentence of evidence; None where there is nothing to compute."""


@dataclass(frozen=True)
class Tutorial:
    """One of the five; its architecture is the preset of its letter."""

    what: str
    topics: tuple[Topic, ...]
    mistakes: tuple[Mistake, ...]
