"""One computation in one job, for all who asked for it."""

import contextlib
import logging
import threading
import weakref
from collections.abc import Callable, Generator, Hashable
from typing import Generic, Protocol

from playground.jobs.backend import Computation, JobBackend, JobHandle, JobStatus, Request, S

logger = logging.getLogger(__name__)

_NO_STEP = object()


class Participant(Protocol):
    """A `Member`, as the run sees it."""

    paused: bool
    aside: bool
    left: bool
    served: threading.Event

    def freeze(self, status: JobStatus) -> None:
        """Let what the member sees stand still."""

    def deliver(self, status: JobStatus) -> None:
        """Give the member what it keeps."""

    def fail(self, problem: Exception) -> None:
        """Say to this member alone that something went wrong."""


class RunSteps(Generic[S]):
    """What a run's job does: builds the computation, takes its steps, and serves those who leave in between.

    It does not refer to the `SharedRun`, so that the job is cancelled once nobody holds that any more.

    Attributes:
        lock: guards members and `over`, of all runs; held for moments only, and never while a step is waited for.
        step_lock: held during a step, so that whoever has it is between two.
        members: everybody who takes part, those who left included.
        leaving: those who left and have not got what was reached yet.
        over: whether the last state is there; nobody can leave after that.
    """

    def __init__(self, lock: "threading.RLock", build: Callable[[], Computation[S]], seconds: float) -> None:
        self.lock, self.step_lock = lock, threading.Lock()
        self.members: weakref.WeakSet[Participant] = weakref.WeakSet()
        self.leaving: list[Participant] = []
        self.over = False
        self.status: JobStatus = "waiting"
        """How it ended, once it is over."""
        self.computation: Computation[S] | None = None
        self.job: JobHandle | None = None
        self._build, self._seconds = build, seconds
        self.on_over: list[Callable[[JobStatus], None]] = []
        """Called once it is over, the lock held, before the members get the result."""

    def work(self) -> Generator[object]:
        """The job's steps."""
        with self.step_lock:
            self.computation = self._build()
        self.serve_leaving()
        yield None
        with contextlib.closing(self.computation.run()) as steps:
            while self._take_step(steps):
                yield None

    def suspend(self) -> None:
        """The job pauses: free what it can do without."""
        with self.step_lock:
            if self.computation is not None:
                self.computation.suspend()

    def end(self, status: JobStatus) -> None:
        """Make the last state, and give it to all who still take part."""
        with self.step_lock:
            try:
                if self.computation is not None:
                    self.computation.close(status)
            except BaseException:
                status = "failed"
                raise
            finally:
                with self.lock:
                    self.over, self.status = True, status
                    receiving = [member for member in self.members if not member.aside and not member.left]
                    calls, self.on_over = self.on_over, []  # what is kept must not refer to itself
                    for call in calls:
                        call(status)
                self._serve()
                for member in receiving:
                    member.deliver(status)

    def remaining(self) -> float:
        """Seconds that it still has to run: as estimated, later as its own steps so far let expect."""
        done = 0.0 if self.computation is None else self.computation.progress
        if self.job is None or done <= 0.02:
            return self._seconds
        return self.job.seconds * (1 / done - 1)

    def serve_leaving(self) -> None:
        """Give those who leave what was reached, unless a step is being taken: then its end does that."""
        while self.leaving and self.step_lock.acquire(blocking=False):
            try:
                self._serve()
            finally:
                self.step_lock.release()

    def _take_step(self, steps: Generator[object]) -> bool:
        with self.step_lock:
            is_last = next(steps, _NO_STEP) is _NO_STEP
            self._serve()
        self.serve_leaving()  # who came after that, and found the lock taken
        return not is_last

    def _serve(self) -> None:
        while self.leaving:
            member = self.leaving.pop(0)
            try:
                member.freeze("cancelled")
            except Exception as problem:
                logger.exception("What was reached could not be kept")
                member.fail(problem)
            member.deliver("cancelled")
            member.served.set()


class SharedRun(Generic[S]):
    """A run as its members hold it: once none of them does, its job is cancelled."""

    def __init__(
        self,
        backend: JobBackend,
        request: Request[S],
        lock: "threading.RLock",
        seconds: float,
        on_start: Callable[[], None],
        client: Hashable = None,
    ) -> None:
        def build() -> Computation[S]:
            on_start()
            return backend.build(request)

        self.steps = RunSteps[S](lock, build, seconds)
        self.job = self.steps.job = backend.submit(
            self.steps.work,
            self.steps.end,
            owner=self,
            remaining=self.steps.remaining,
            on_pause=self.steps.suspend,
            client=client,
        )

    def members_active(self, *, besides: Participant | None = None) -> int:
        """How many take part and have not paused; call it with the lock held."""
        return sum(not member.left and not member.paused for member in self.steps.members if member is not besides)

    def members_present(self, *, besides: Participant | None = None) -> int:
        """How many take part, paused or not; call it with the lock held."""
        return sum(not member.left for member in self.steps.members if member is not besides)
