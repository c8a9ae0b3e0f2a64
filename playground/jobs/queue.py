"""Background jobs in threads of this process."""

import contextlib
import heapq
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Hashable, Iterable, Iterator, Sequence

from playground.errors import PlaygroundError, explain
from playground.jobs.job import Computation, JobStatus, OnEnd, OnPause, Remaining, Request, S, Work

NICENESS = 10
"""How far the priority of a job's thread, and of those that torch starts for it, is lowered (Linux only)."""

LAST_STEP = 5.0
"""Seconds that a server which shuts down waits for the current steps."""

OWNER_CHECK = 0.2
"""Seconds after which a job that waits or is paused notices at the latest that its owner is garbage."""

logger = logging.getLogger(__name__)


class JobQueue:
    """The backend that runs jobs in threads, `max_running` at once."""

    is_remote = False

    def __init__(self, max_running: int) -> None:
        self.max_running = max_running
        self.condition = threading.Condition()
        """Guards the queue and the state of all its jobs; notified at every change."""
        self.jobs: list[_Job] = []
        """Those that run, at most `max_running`, then those that wait, the next first; a paused job is in neither."""
        self.threaded: weakref.WeakSet[_Job] = weakref.WeakSet()
        """Those whose thread may still be alive."""
        weakref.finalize(
            self, _cancel_all, self.threaded
        )  # when Python shuts down: a job holds its queue until it ends

    def connect(self) -> None:
        """Nothing: this process is ready."""

    def build(self, request: Request[S]) -> Computation[S]:
        """The computation itself, which runs in this process."""
        return request.build()

    def submit(
        self,
        work: Work,
        on_end: OnEnd | None = None,
        owner: object | None = None,
        remaining: Remaining | None = None,
        on_pause: OnPause | None = None,
        client: Hashable = None,
    ) -> "_Job":
        """Queue a job, and start its thread; see `JobBackend.submit`."""
        job = _Job(self, work, on_end, remaining or _unknown, on_pause or _do_nothing, client)
        if owner is not None:
            weakref.finalize(owner, job.abandon)
        job.resume()
        try:
            job.thread.start()
        except RuntimeError as error:  # there are too many threads
            logger.exception("A job could not start")
            job.end(on_end, "failed", explain(error))
        return job

    def enter(self, job: "_Job") -> None:
        """With the condition held: let a job wait before the first whose client has more before it than its own has."""
        n_before = [sum(other.client == each.client for other in self.jobs[:i]) for i, each in enumerate(self.jobs)]
        n_own = sum(other.client == job.client for other in self.jobs)
        waiting = range(self.max_running, len(self.jobs))
        self.jobs.insert(next((i for i in waiting if n_before[i] > n_own), len(self.jobs)), job)
        self.condition.notify_all()


class _Job:
    """A job and its thread; see `JobHandle`. Once it has ended, nothing holds what was handed to `submit`."""

    def __init__(
        self,
        queue: JobQueue,
        work: Work,
        on_end: OnEnd | None,
        remaining: Remaining,
        on_pause: OnPause,
        client: Hashable,
    ) -> None:
        self.error, self.seconds = "", 0.0
        self.client = object() if client is None else client
        self.remaining, self._on_pause = remaining, on_pause
        self._queue, self._condition = queue, queue.condition
        self._outcome: JobStatus | None = None
        self._pausing = self._cancelled = self._ending = False
        # A daemon, so that a step which never ends does not keep the server from shutting down.
        self.thread = threading.Thread(target=self._run, args=(work, on_end), name="job", daemon=True)
        queue.threaded.add(self)

    @property
    def status(self) -> JobStatus:
        with self._condition:
            if self._outcome is not None:
                return self._outcome
            if self._cancelled:
                return "cancelled"
            if self not in self._queue.jobs:
                return "paused"
            return "running" if self._may_run() else "waiting"

    @property
    def ended(self) -> bool:
        return self._outcome is not None

    @property
    def position(self) -> int:
        with self._condition:
            waiting = [job for job in self._queue.jobs if job.status == "waiting"]
            return waiting.index(self) + 1 if self in waiting else 0

    @property
    def expected_wait(self) -> float:
        with self._condition:
            if self.status != "waiting":
                return 0.0
            n, before = self._queue.max_running, self._queue.jobs[: self._queue.jobs.index(self)]
            return waiting_time([job.remaining() for job in before if not job._cancelled], n)

    def pause(self, timeout: float = 1.0) -> None:
        with self._condition:
            self._pausing = True
            if self.status == "waiting":
                self._leave_queue()
        self.wait(timeout)

    def wait(self, timeout: float) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self.status != "running", timeout)

    def resume(self) -> None:
        with self._condition:
            self._pausing = False
            if self.status == "paused":
                self._queue.enter(self)

    def hasten_for(self, client: Hashable) -> None:
        with self._condition:
            if client is None or self.status != "waiting":
                return
            jobs, place, before = self._queue.jobs, self._queue.jobs.index(self), self.client
            jobs.remove(self)
            self.client = client
            self._queue.enter(self)
            if jobs.index(self) >= place:  # it came no further
                jobs.remove(self)
                jobs.insert(place, self)
                self.client = before

    def cancel(self, timeout: float = 5.0) -> None:
        with self._condition:
            if not self._ending:
                self._cancelled = True
                self._condition.notify_all()
            if self.thread is not threading.current_thread():
                self._condition.wait_for(lambda: self.ended, timeout)

    def abandon(self) -> None:
        """Cancel without a lock: the garbage collector calls this in any thread, at any line, locked or not."""
        self._cancelled = True

    def end(self, on_end: OnEnd | None, outcome: JobStatus, error: str) -> None:
        """Call `on_end`, and leave the queue for good; a job that was cancelled in time has not finished."""
        with self._condition:
            self._ending = True  # from here on it is too late to cancel
            outcome = "cancelled" if self._cancelled and outcome == "finished" else outcome
        try:
            if on_end is not None:
                on_end(outcome)
        except Exception as problem:
            logger.exception("The end of a job failed")
            outcome, error = "failed", explain(problem)
        with self._condition:
            self._outcome, self.error = outcome, error
            self.remaining, self._on_pause = _unknown, _do_nothing
            self._leave_queue()

    def _run(self, work: Work, on_end: OnEnd | None) -> None:
        """Thread entry point: runs steps until the work is done, fails or is cancelled."""
        _lower_priority()
        outcome: JobStatus = "finished"
        error = ""
        try:
            if self._may_continue():
                with contextlib.closing(work()) as steps:
                    while self._take_step(steps) and self._may_continue():
                        pass
        except BaseException as problem:  # whatever it is, it ends this thread alone
            outcome, error = "failed", explain(problem)
            level = logging.WARNING if isinstance(problem, PlaygroundError) else logging.ERROR
            logger.log(level, "A job failed", exc_info=True)
        self.end(on_end, outcome, error)

    def _take_step(self, steps: Iterator[object]) -> bool:
        """Take one step; False where none was left."""
        begun, nothing = time.monotonic(), object()
        item = next(steps, nothing)
        self.seconds += time.monotonic() - begun
        return item is not nothing

    def _may_continue(self) -> bool:
        """Between two steps: pauses where that is wanted, waits for its place among the running; False if cancelled."""
        with self._condition:
            pauses = self._pausing
            if pauses:
                self._leave_queue()
        if pauses:
            self._on_pause()
        with self._condition:
            while not (self._cancelled or self._may_run()):
                self._condition.wait(OWNER_CHECK)
            return not self._cancelled

    def _may_run(self) -> bool:
        return self in self._queue.jobs[: self._queue.max_running]

    def _leave_queue(self) -> None:
        if self in self._queue.jobs:
            self._queue.jobs.remove(self)
        self._condition.notify_all()


def waiting_time(seconds_before: Sequence[float], n_places: int) -> float:
    """Seconds until the next in a queue begins, where each of those before it takes the first place that is free.

    Args:
        seconds_before: what those who run or wait still have to run, in their order; seconds.
        n_places: how many run at once.
    """
    free_at = [0.0] * n_places
    for seconds in seconds_before:
        heapq.heapreplace(free_at, free_at[0] + seconds)
    return free_at[0]


def _unknown() -> float:
    return 0.0


def _do_nothing() -> None:
    pass


def _cancel_all(threaded: Iterable[_Job]) -> None:
    """Cancel every job: a thread that is inside torch while Python shuts down would abort the process."""
    jobs, deadline = list(threaded), time.monotonic() + LAST_STEP
    for job in jobs:
        job.cancel(timeout=0)
    for job in jobs:
        job.cancel(timeout=max(0, deadline - time.monotonic()))


def _lower_priority() -> None:
    """Lower the priority of this thread; the threads that it starts inherit it (setpriority(2))."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a hardened container may refuse it
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(own + NICENESS, 19))
