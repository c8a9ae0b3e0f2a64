"""Background jobs in threads of this process."""

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
import weakref

from playground.errors import PlaygroundError, explain
from playground.jobs.backend import JobStatus, OnEnd, Work

NICENESS = 10
"""How far the priority of a job's thread, and of those that torch starts for it, is lowered (Linux only)."""

LAST_STEP = 5.0
"""Seconds that a server which shuts down waits for the current steps."""

OWNER_CHECK = 0.2
"""Seconds after which a job that waits or is paused notices at the latest that its owner is garbage."""

logger = logging.getLogger(__name__)


class JobQueue:
    """The backend that runs jobs in threads, `max_running` at once."""

    def __init__(self, max_running: int) -> None:
        self.max_running = max_running
        self.condition = threading.Condition()
        """Guards the queue and the state of all its jobs; notified at every change."""
        self._jobs: list[Job] = []  # those that wait or run, in the order in which they queued

    def submit(self, work: Work, on_end: OnEnd | None = None, owner: object | None = None) -> "Job":
        """Queue a job; see `JobBackend.submit`."""
        job = Job(self, work, on_end)
        if owner is not None:
            weakref.finalize(owner, job.abandon)
        job.start()
        return job

    def position(self, job: "Job") -> int:
        """As `JobHandle.position`; the caller holds the condition."""
        waiting = self._waiting()
        return waiting.index(job) + 1 if job in waiting else 0

    def set_status(self, job: "Job", status: JobStatus) -> None:
        """Move a job to another state, and let others run if it made room; the caller holds the condition."""
        job.record_status(status)
        if job in self._jobs:
            self._jobs.remove(job)
        if status == "waiting":
            self._jobs.append(job)
        n_free = self.max_running - sum(each.state == "running" for each in self._jobs)
        for each in self._waiting()[:n_free]:
            each.record_status("running")
        self.condition.notify_all()

    def _waiting(self) -> list["Job"]:
        return [job for job in self._jobs if job.status == "waiting"]


class Job:
    """A job and its thread; see `JobHandle`. Once it has ended it holds neither `work` nor `on_end`."""

    def __init__(self, queue: JobQueue, work: Work, on_end: OnEnd | None) -> None:
        self.error = ""
        self.state: JobStatus = "paused"  # as the thread knows it; `status` knows of a cancelling before
        self._queue, self._condition = queue, queue.condition
        self._work: Work | None = work
        self._on_end = on_end
        self._pausing = self._cancelled = self._ending = False
        self._seconds, self._since = 0.0, 0.0
        # A daemon, so that a step which never ends does not keep the server from shutting down.
        self._thread = threading.Thread(target=self._run, name="job", daemon=True)

    def start(self) -> None:
        """Queue the job and start its thread; called once, by the queue."""
        with self._condition:
            self._queue.set_status(self, "waiting")
        try:
            self._thread.start()
        except RuntimeError as error:  # there are too many threads
            logger.exception("A job could not start")
            self._end("failed", explain(error))
        else:
            _JOBS.add(self)

    @property
    def status(self) -> JobStatus:
        """As `JobHandle.status`."""
        return "cancelled" if self._cancelled and not self.ended else self.state

    @property
    def ended(self) -> bool:
        """As `JobHandle.ended`."""
        return self.state in ("finished", "cancelled", "failed")

    @property
    def position(self) -> int:
        """As `JobHandle.position`."""
        with self._condition:
            return self._queue.position(self)

    @property
    def seconds(self) -> float:
        """As `JobHandle.seconds`."""
        with self._condition:
            return self._seconds + (time.monotonic() - self._since if self.state == "running" else 0)

    def pause(self, timeout: float = 1.0) -> None:
        """As `JobHandle.pause`."""
        with self._condition:
            self._pausing = True
            if self.state == "waiting":
                self._queue.set_status(self, "paused")
            self._condition.wait_for(lambda: self.state != "running", timeout)

    def resume(self) -> None:
        """As `JobHandle.resume`."""
        with self._condition:
            self._pausing = False
            if self.state == "paused":
                self._queue.set_status(self, "waiting")

    def cancel(self, timeout: float = 5.0) -> None:
        """As `JobHandle.cancel`."""
        with self._condition:
            if not self._ending:
                self._cancelled = True
                self._condition.notify_all()
            if self._thread is not threading.current_thread():
                self._condition.wait_for(lambda: self.ended, timeout)

    def abandon(self) -> None:
        """Cancel without a lock: the garbage collector calls this in any thread, at any line, locked or not."""
        self._cancelled = True

    def record_status(self, status: JobStatus) -> None:
        """Set the state and count the seconds; called by the queue alone."""
        self._seconds, self._since = self.seconds, time.monotonic()
        self.state = status

    def _run(self) -> None:
        """Thread entry point: runs steps until the work is done, fails or is cancelled."""
        _lower_priority()
        outcome: JobStatus = "failed"
        error = ""
        try:
            outcome = self._run_steps()
        except BaseException as problem:  # whatever it is, it ends this thread alone
            error = explain(problem)
            level = logging.WARNING if isinstance(problem, PlaygroundError) else logging.ERROR
            logger.log(level, "A job failed", exc_info=True)
        self._end(outcome, error)

    def _run_steps(self) -> JobStatus:
        if self._work is not None and self._may_continue():
            with contextlib.closing(self._work()) as steps:
                for _ in steps:
                    if not self._may_continue():
                        return "cancelled"
            return "finished"
        return "cancelled"

    def _may_continue(self) -> bool:
        """Between two steps: pauses where that is wanted, waits for its place among the running; False if cancelled."""
        with self._condition:
            if self._pausing and self.state == "running":
                self._queue.set_status(self, "paused")
            while self.state != "running" and not self._cancelled:
                self._condition.wait(OWNER_CHECK)
            return not self._cancelled

    def _end(self, outcome: JobStatus, error: str) -> None:
        on_end, self._on_end, self._work = self._on_end, None, None
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
            self.error = error
            self._queue.set_status(self, outcome)


_JOBS: weakref.WeakSet[Job] = weakref.WeakSet()


@atexit.register
def _cancel_all() -> None:
    """Cancel every job: a thread that is inside torch while Python shuts down would abort the process."""
    jobs = list(_JOBS)
    for job in jobs:
        job.cancel(timeout=0)
    deadline = time.monotonic() + LAST_STEP
    for job in jobs:
        job.cancel(timeout=max(0, deadline - time.monotonic()))


def _lower_priority() -> None:
    """Lower the priority of this thread; the threads that it starts inherit it (setpriority(2))."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a hardened container may refuse it
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(own + NICENESS, 19))
