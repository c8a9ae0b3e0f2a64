"""What a view looks at: the present subject, the pinned one, the place."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from playground.link.opening import Focus

S = TypeVar("S")

_FIRST = Focus(0, 0, 0, 0)


@dataclass(frozen=True)
class Scene(Generic[S]):
    """What a view looks at."""

    now: S
    focus: Focus = _FIRST
    pinned: S | None = None
    pinned_name: str = ""
    """`pinned: 3 layers`"""
    now_name: str = ""
    same_tokens: bool = True

    @property
    def both(self) -> tuple[S, S]:
        """The pinned subject and the present one; raises ValueError without."""
        if self.pinned is None:
            raise ValueError("Nothing is pinned, so there is one subject alone.")
        return self.pinned, self.now


def note_nearest(asked: Focus, shown: Focus) -> str:
    """Say, after a space, which layer or head a run lacks."""
    places = {f"layer {asked.layer}": asked.layer != shown.layer, f"head {asked.head}": asked.head != shown.head}
    missing = [place for place, is_missing in places.items() if is_missing]
    return f" The nearest: it has no {' and no '.join(missing)}." if missing else ""


def note_other_tokens(what: str) -> str:
    """Say why `what`, a plural, is not shown of the pinned settings."""
    return f"The pinned settings read other tokens, so {what} are shown for the present settings alone."
