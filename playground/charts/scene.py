"""What a view looks at: the present subject, the pinned one beside it, and the place that is chosen."""

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

    def with_subjects(self, now: T, pinned: T | None) -> "Scene[T]":
        """The scene of what was made of its two subjects; the place and the names stay."""
        return Scene(now, self.focus, pinned, self.pinned_name, self.now_name, self.same_tokens)
