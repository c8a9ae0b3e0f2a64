"""What each of the five tutorials teaches, and the mistakes found in it: tutorial_texts.yaml as records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.text.data import load_data
from playground.tutorials import demonstrations
from playground.tutorials.demonstrations import Numbers

Settings = Mapping[str, bool | int | str]
"""Values of the link's parameters, by their keys."""


@dataclass(frozen=True)
class Topic:
    """Something that a tutorial teaches, and the page that shows it."""

    text: str
    page: str
    target: str | None = None
    """Key of the container that the page scrolls to."""
    settings: Settings = field(default_factory=dict)
    """What the page is opened with beside the tutorial's preset."""


@dataclass(frozen=True)
class Mistake:
    """Something that a tutorial gets wrong."""

    where: str
    """The part of its code or text."""
    printed: str
    """What it says there."""
    happens: str = ""
    """What comes of it."""
    demonstration: Callable[[], Numbers] | None = None
    """Return numbers that show it; None where there is nothing to compute."""
    evidence: str = "{0}"
    """The sentence with these numbers."""
    keys: Sequence[str] = ()
    """The same mistakes in the registry."""

    def demonstrate(self) -> str:
        """Return the sentence of evidence, computed; empty without a demonstration."""
        return "" if self.demonstration is None else self.evidence.format(*self.demonstration())


@dataclass(frozen=True)
class Tutorial:
    """One of the five; its architecture is the preset of its letter."""

    what: str
    topics: Sequence[Topic]
    mistakes: Sequence[Mistake]


def _read_mistake(values: Mapping[str, Any]) -> Mistake:
    name = values.get("demonstration")
    return Mistake(**{**values, "demonstration": getattr(demonstrations, name) if name else None})


TUTORIALS: Mapping[str, Tutorial] = {
    letter: Tutorial(
        texts["what"],
        tuple(Topic(**topic) for topic in texts["topics"]),
        tuple(_read_mistake(mistake) for mistake in texts["mistakes"]),
    )
    for letter, texts in load_data(__file__).items()
}
"""By letter."""
