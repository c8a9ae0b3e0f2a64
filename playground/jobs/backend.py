"""What every backend for background jobs offers: threads here, later perhaps processes or a cluster."""

from collections.abc import Callable, Generator
from typing import Literal, Protocol

JobStatus = Literal["waiting", "running", "paused", "finished", "cancelled", "failed"]

Work = Callable[[], Generator[object]]
"""Called where the job runs. Every item that it yields is a step; the items themselves are dropped."""

OnEnd = Callable[[JobStatus], None]
"""Called once where the job ran, with its final status, before it counts as ended and makes room for others."""


class JobHandle(Protocol):
    """One job. Every method may be called from any thread, and takes effect between two steps."""

    seconds: float
    """How long its steps have taken, without waiting and pauses."""
    error: str
    """Why the job failed, in one sentence; empty if it did not."""

    @property
    def status(self) -> JobStatus:
        """`paused` once others may run instead; `cancelled` as soon as that is certain."""

    @property
    def ended(self) -> bool:
        """Whether the job is over, `on_end` included; a cancelled job may still be in its last step."""

    @property
    def position(self) -> int:
        """Place in the queue, 1 = next; 0 if the job does not wait."""

    def pause(self, timeout: float = 1.0) -> None:
        """Pause after the current step, and wait at most `timeout` seconds for that."""

    def resume(self) -> None:
        """Queue again, at the end; a job that has not paused yet just goes on."""

    def cancel(self, timeout: float = 5.0) -> None:
        """Cancel after the current step, and wait at most `timeout` seconds for the end."""


class JobBackend(Protocol):
    """Runs a bounded number of jobs at once; the others wait, first come, first served."""

    def submit(self, work: Work, on_end: OnEnd | None = None, owner: object | None = None) -> JobHandle:
        """Queue a job; it is cancelled once `owner` is garbage, so neither `work` nor `on_end` may refer to that."""
