"""What a computation offers that may run in another process, or on another machine."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from playground.jobs.backend import JobStatus


class PortableState(Protocol):
    """What is to be seen of a computation, in a form that can be sent; see `Computation.state`."""

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, in bytes."""

    def picture(self) -> Any:
        """The same, which does not grow."""

    def followed_by(self, later: Any) -> Any:
        """The state after an update, which may be of an earlier moment: then it stays where it is."""


class PortableComputation(Protocol):
    """A `Computation` that can tell another process what it does, and can go on there."""

    def run(self) -> Generator[object]:
        """Compute it; yields after every step."""

    def update(self, last: Any) -> Any:
        """What is to be seen by somebody who has `last` already, or nothing if that is None."""

    def checkpoint(self) -> Any:
        """All that an equal computation needs to go on from here; between two steps."""

    def restore(self, checkpoint: Any) -> None:
        """Go on from a checkpoint instead of from the start; before `run`."""

    def freeze(self, status: JobStatus) -> Any:
        """As `Computation.freeze`."""

    def close(self, status: JobStatus) -> None:
        """As `Computation.close`."""


@runtime_checkable
class PortableRequest(Protocol):
    """A request that can be sent, and whose parts, if it has several, can be computed side by side."""

    def build(self) -> Any:
        """The `PortableComputation` before its first step."""

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""

    def on_device(self, device: str) -> Any:
        """The same request for another kind of device."""

    @property
    def parts(self) -> Sequence[Any]:
        """Requests that together are this one, in order."""

    def join(self, states: Sequence[Any]) -> Any:
        """The state of the whole from that of the parts, None for those that have not begun; None if it has not."""


@dataclass(frozen=True)
class Report:
    """What a computation elsewhere says after a slice of time."""

    update: Any
    """Of its state; None where it failed before it had any."""
    done: bool = False
    error: str = ""
    """Why it failed, in one sentence; empty if it did not."""
    checkpoint: Any = None
    """A new one, now and then."""
