"""A count as named terms, each with its formula; nothing is hidden in a sum."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

Component = Literal["embeddings", "attention", "feed_forward", "norms"]
K = TypeVar("K", bound=Hashable)

LABELS = {
    "embeddings": "embeddings",
    "attention": "attention",
    "feed_forward": "feed-forward",
    "norms": "norms",
}
"""How the components are called on a page."""


@dataclass(frozen=True)
class Term:
    """One addend of a count."""

    name: str
    """Of parameters, the name that the built model's own parameters start with."""
    component: Component
    part: str
    """Of the component, such as `Q` or `W₁`."""
    layer: int | None
    """From 0; None outside the blocks."""
    formula: str
    """The count in the config's names."""
    count: int
    """Parameters or floating-point operations."""


@dataclass(frozen=True)
class Count:
    """Terms and their sum."""

    terms: tuple[Term, ...]

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    @property
    def total(self) -> int:
        """The sum of all terms."""
        return sum(term.count for term in self.terms)

    def by(self, key: Callable[[Term], K]) -> dict[K, int]:
        """Sum up by any property of a term, in the order of first appearance."""
        sums: dict[K, int] = {}
        for term in self.terms:
            sums[key(term)] = sums.get(key(term), 0) + term.count
        return sums
