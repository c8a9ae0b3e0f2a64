"""What is computed in the background, and what every backend for it offers: threads here, or other machines."""

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

JobStatus = Literal["waiting", "running", "paused", "finished", "cancelled", "failed"]

S = TypeVar("S")
"""What is to be seen of a computation."""
S_co = TypeVar("S_co", covariant=True)

Work = Callable[[], Generator[object]]
"""Called where the job runs. Every item that it yields is a step; the items themselves are dropped."""

OnEnd = Callable[[JobStatus], None]
"""Called once where the job ran, with its final status, before it counts as ended and makes room for others."""

OnPause = Callable[[], None]
"""Called where the job runs, once it has paused; another one may run in its place by then."""

Remaining = Callable[[], float]
"""Seconds that a job still has to run, as far as that is known; called in any thread, and waits for nothing."""


class Computation(Protocol[S_co]):
    """Something that is computed step by step, while others look at it. Subclasses inherit what most need not say."""

    @property
    def state(self) -> S_co:
        """What is to be seen of it, or None while that is nothing.

        It may grow while it is read, but nothing in it is ever changed or taken away.
        """

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""
        return 0.0 if self.state is None else float(cast(Any, self.state).progress)

    @property
    def n_bytes(self) -> int:
        """Memory that its state takes after the end, in bytes."""
        return 0 if self.state is None else int(cast(Any, self.state).n_bytes)

    def run(self) -> Generator[object]:
        """Compute it; yields after every step."""

    def suspend(self) -> None:
        """Free what it can do without while it is paused; between two steps, any number of times."""
        return

    def freeze(self, status: JobStatus) -> S_co:
        """What it has reached, which does not grow: while it is `paused` for one of several visitors.

        For one who leaves, `cancelled`, with all that such a visitor keeps; this between two steps only.
        """
        return self.state

    def close(self, status: JobStatus) -> None:
        """Make the last state after the end, as `freeze` does, and free everything else."""
        return


class ResumableComputation(Computation[S_co], Protocol[S_co]):
    """A computation that an equal one can go on with, in another process or on another machine.

    Its state can be pickled, and has `progress` and `n_bytes`.
    """

    def checkpoint(self) -> Any:
        """All that an equal computation needs to go on from here; between two steps."""

    def restore(self, checkpoint: Any) -> None:
        """Go on from a checkpoint instead of from the start; before `run`."""


class Request(Protocol[S_co]):
    """A computation in words: what it depends on."""

    def build(self) -> Computation[S_co]:
        """The computation before its first step, in this process."""


@dataclass(frozen=True, kw_only=True)
class PortableRequest(Generic[S]):
    """A request that may be sent to another machine, and whose parts, if it has several, need nothing of each other."""

    device: str = "cpu"
    """As torch names it."""
    threads: int = 1
    """CPU threads, on which the last digits depend."""
    data: Any = None
    """What the words ask for, where it is there already; it does not travel."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "data": None}

    def build(self) -> ResumableComputation[S]:
        """The computation before its first step, in this process."""
        raise NotImplementedError

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""

    @property
    def parts(self) -> Sequence["PortableRequest[S]"]:
        """Requests that together are this one, in order; itself alone where its steps follow from each other."""
        return (self,)

    def join(self, states: Sequence[S | None]) -> S | None:
        """The state of the whole from that of the parts, None for those that have not begun; None if it has not."""
        return states[0]


class JobHandle(Protocol):
    """One job. Every method may be called from any thread, and takes effect between two steps."""

    @property
    def seconds(self) -> float:
        """How long its steps have taken, without waiting and pauses."""

    @property
    def error(self) -> str:
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

    @property
    def expected_wait(self) -> float:
        """Seconds until it runs, by what is known of those before it; 0 if the job does not wait."""

    def pause(self, timeout: float = 1.0) -> None:
        """Pause after the current step, and wait at most `timeout` seconds for that."""

    def resume(self) -> None:
        """Queue again, at the end; a job that has not paused yet just goes on."""

    def wait(self, timeout: float) -> None:
        """Wait until it does not run, at most `timeout` seconds."""

    def hasten_for(self, client: Hashable) -> None:
        """Wait as a job of this client, who asks for it too, where that is shorter."""

    def cancel(self, timeout: float = 5.0) -> None:
        """Cancel after the current step, and wait at most `timeout` seconds for the end."""


class JobBackend(Protocol):
    """Runs a bounded number of jobs at once; the others wait, those of one client behind the first of every other."""

    is_remote: bool
    """Whether other machines compute."""

    def connect(self) -> None:
        """Be ready for the first job; ClusterError where the machines can't be reached, which every job tries again."""

    def build(self, request: Request[S]) -> Computation[S]:
        """The computation of a request, for a job of this backend; called where the job runs."""

    def submit(
        self,
        work: Work,
        on_end: OnEnd | None = None,
        owner: object | None = None,
        remaining: Remaining | None = None,
        on_pause: OnPause | None = None,
        client: Hashable = None,
    ) -> JobHandle:
        """Queue a job; it is cancelled once `owner` is garbage, so no other argument may refer to that.

        Clients take turns: the second job of one waits until the first of every other has begun. None is a client of
        its own each time.
        """
