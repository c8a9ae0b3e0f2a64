"""What a view looks at: the present subject, the pinned one beside it, and the place; notes where the two differ."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from playground.link.opening import Focus

S = TypeVar("S")
"""The subject that a page's numbers are of: a run of the encoder on most pages."""

T = TypeVar("T")

_FIRST = Focus(0, 0, 0, 0)


@dataclass(frozen=True)
class Scene(Generic[S]):
    """What a view looks at."""

    now: S
    focus: Focus = _FIRST
    """The place that is chosen; on pages without one, the first."""
    pinned: S | None = None
    """The subject with the settings that are pinned; None where nothing is, or where they cannot be run."""
    pinned_name: str = ""
    """What the pinned settings are called, as `pinned: 3 layers`: a plain text."""
    now_name: str = ""
    """What the present ones are called beside them."""
    same_tokens: bool = True
    """Whether both read the same tokens: what belongs to a token has no counterpart else."""

    @property
    def both(self) -> tuple[S, S]:
        """The pinned subject and the present one; raises `ValueError` where nothing is pinned."""
        if self.pinned is None:
            raise ValueError("Nothing is pinned, so there is one subject alone.")
        return self.pinned, self.now

    def with_subjects(self, now: T, pinned: T | None) -> "Scene[T]":
        """The scene of what was made of its two subjects; the place and the names stay."""
        return Scene(now, self.focus, pinned, self.pinned_name, self.now_name, self.same_tokens)


def list_missing(asked: Focus, shown: Focus) -> list[tuple[str, int, int]]:
    """The layer and the head that a run lacks: which of the two, the number that is asked for, the nearest there is."""
    places = (("layer", asked.layer, shown.layer), ("head", asked.head, shown.head))
    return [place for place in places if place[1] != place[2]]


def note_nearest(asked: Focus, shown: Focus) -> str:
    """That a run lacks the layer or the head that is asked for, after a space; empty where it has both."""
    missing = [f"{place} {number}" for place, number, _ in list_missing(asked, shown)]
    return f" The nearest: it has no {' and no '.join(missing)}." if missing else ""


def note_other_tokens(what: str) -> str:
    """One sentence on why `what`, a plural, is not shown of the pinned settings."""
    return f"The pinned settings read other tokens, so {what} are shown for the present settings alone."
