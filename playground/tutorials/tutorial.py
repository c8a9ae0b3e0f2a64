"""What is told of a tutorial: its topics, and the mistakes found in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Settings = Mapping[str, bool | int | str]
"""Values of the link's parameters, by their keys."""


@dataclass(frozen=True)
class Topic:
    """Something that a tutorial teaches, and the page that shows it."""

    text: str
    page: str
    target: str | None = None
    """The part of the page that shows it, by its container's key, to which the page scrolls; None: the page's top."""
    settings: Settings = field(default_factory=dict)
    """What the page is opened with beside the tutorial's preset, by the link's keys."""


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
    order_in_text: str = ""
    """What its text says of the order of norms and sublayers, where its code has another."""
