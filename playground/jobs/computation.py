"""What is computed in the background, here or on other machines."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

JobStatus = Literal["waiting", "running", "finished", "cancelled", "failed"]


S = TypeVar("S")
"""What is to be seen of a computation: a record with `progress` and `n_bytes` that never changes and can be pickled."""
S_co = TypeVar("S_co", covariant=True)


class Computation(Protocol[S_co]):
    """Something that is computed step by step, while others look at it."""

    @property
    def state(self) -> S_co | None:
        """Return what is to be seen by now, in any thread; None before there is anything."""

    def run(self) -> Generator[object]:
        """Compute it; yields after every step."""

    def close(self, status: JobStatus) -> None:
        """Make the last state after the end, and free everything else."""


@dataclass(frozen=True, kw_only=True)
class Request(Generic[S]):
    """A computation in words, which may be sent to another machine."""

    device: str = "cpu"
    """As torch names it."""
    threads: int = 1
    """CPU threads, on which the last digits depend."""
    data: Any = None
    """What the words ask for, if it is there already; it does not travel."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "data": None}

    def build(self) -> Computation[S]:
        """Return the computation before its first step, in this process."""
        raise NotImplementedError

    @property
    def parts(self) -> Sequence["Request[S]"]:
        """Return requests that together are this one and need nothing of each other, in order."""
        return (self,)

    def join(self, states: Sequence[S | None]) -> S | None:
        """Return the state of the whole from that of its parts, None for those that have not begun."""
        return states[0]
