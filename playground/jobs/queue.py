"""Who may run: a bounded number of seats, and the threads that queue for them; `job` is the face of both."""

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from queue import SimpleQueue
from typing import Literal

from playground.errors import PlaygroundError

Status = Literal["waiting", "running", "paused", "finished", "cancelled", "failed"]

NICENESS = 10
"""How far a job's thread, and those that torch starts for it, stand back behind the pages' own (Linux alone)."""

LAST_STEP = 5.0
"""Seconds that a server which shuts down waits for the steps at hand."""

BROKEN = "Something went wrong while this was computed; what is behind it is in the server's log."
NO_MEMORY = "The server has too little memory for this; a smaller model or batch needs less."

_TORCHS_WORDS = ("can't allocate memory", "out of memory")
"""What a RuntimeError of torch says where memory is short, on the CPU and on a GPU."""

logger = logging.getLogger(__name__)


class Seats:
    """How many jobs run at once; the others wait, first come, first served."""

    def __init__(self, n: int) -> None:
        """Let `n` run."""
        self.lock = threading.Lock()
        self._free = n
        self._queue: deque[Worker] = deque()

    def join(self, worker: "Worker") -> None:
        """Queue for a seat; the caller holds the lock, here and in the other methods."""
        self._queue.append(worker)
        self._hand_out()

    def leave(self, worker: "Worker") -> None:
        """Give the seat back, or the place in the queue."""
        if worker.seated:
            worker.stand_up()
            self._free += 1
            self._hand_out()
        elif worker in self._queue:
            self._queue.remove(worker)

    def position(self, worker: "Worker") -> int:
        """The worker's place in the queue, 1 = next, without those who have been cancelled; 0 outside of it."""
        if worker not in self._queue:
            return 0
        return 1 + sum(not other.cancelled for other in list(self._queue)[: self._queue.index(worker)])

    def _hand_out(self) -> None:
        while self._free and self._queue:
            worker = self._queue.popleft()
            if not worker.cancelled:
                self._free -= 1
                worker.sit_down()


class Worker:
    """What the thread of a job knows: not the job itself, which would then never be garbage."""

    def __init__(
        self, work: Callable[[], Iterator[object]], seats: Seats, on_end: Callable[[Status], None] | None
    ) -> None:
        self.seats = seats
        self._work: Callable[[], Iterator[object]] | None = work
        self._on_end = on_end
        self._calls: SimpleQueue[None] = SimpleQueue()
        self.standing = threading.Event()
        self.standing.set()
        self.seated = self.pausing = self.cancelled = self.ending = False
        self.outcome: Status | None = None
        self.error = ""
        self._spent, self._since = 0.0, 0.0

    @property
    def status(self) -> Status:
        """As `Job.status`."""
        with self.seats.lock:
            if self.outcome is not None:
                return self.outcome
            if self.cancelled:
                return "cancelled"
            if self.seated:
                return "running"
            return "paused" if self.pausing else "waiting"

    @property
    def seconds(self) -> float:
        """As `Job.seconds`."""
        with self.seats.lock:
            return self._spent + (time.monotonic() - self._since if self.seated else 0)

    def sit_down(self) -> None:
        """Take the seat that was handed out."""
        self.seated, self._since = True, time.monotonic()
        self.standing.clear()
        self._calls.put(None)

    def stand_up(self) -> None:
        """Be without a seat."""
        self.seated = False
        self._spent += time.monotonic() - self._since
        self.standing.set()

    def stop(self) -> None:
        """Ask the thread to end.

        The garbage collector calls this too, in any thread and at any line, the lock held or not: so it takes none, and
        `SimpleQueue.put` is the one way to wake a thread that may interrupt itself.
        """
        self.cancelled = True
        self._calls.put(None)

    def forget(self) -> None:
        """Let go of what the work needs."""
        self._work = self._on_end = None

    def live(self) -> None:
        """The thread's whole life."""
        _stand_back()
        outcome: Status = "failed"
        error = BROKEN
        try:
            outcome, error = self._take_steps(), ""
        except BaseException as problem:  # whatever it is, it ends this thread alone
            error = _in_words(problem)
            logger.log(logging.ERROR if error == BROKEN else logging.WARNING, "A job failed", exc_info=True)
        finally:
            self.end(outcome, error)

    def end(self, outcome: Status, error: str) -> None:
        """Tell whoever wants to know, then let go of everything."""
        on_end = self._on_end
        self.forget()
        with self.seats.lock:
            self.ending = True  # from here on it is too late to cancel
            outcome = "cancelled" if self.cancelled and outcome == "finished" else outcome
        try:
            if on_end is not None:
                on_end(outcome)
        except Exception:
            logger.exception("What was to be done after a job failed")
            outcome, error = "failed", BROKEN
        finally:
            with self.seats.lock:
                self.outcome, self.error = outcome, error
                self.seats.leave(self)

    def _take_steps(self) -> Status:
        """Work until it is done or cancelled."""
        if self._work is None or not self._may_go_on():
            return "cancelled"
        steps = iter(self._work())
        try:
            while self._may_go_on():
                try:
                    next(steps)
                except StopIteration:
                    return "finished"
            return "cancelled"
        finally:
            if isinstance(steps, Generator):
                steps.close()  # here, in its own thread, and now

    def _may_go_on(self) -> bool:
        """Between two steps: give the seat back where a pause is wanted, wait for one; False if all is over."""
        with self.seats.lock:
            if self.pausing and self.seated:
                self.seats.leave(self)
        while not self.seated and not self.cancelled:
            self._calls.get()
        return not self.cancelled


class WorkerThread(threading.Thread):
    """A job's thread; daemon, so that a step which takes for ever does not keep the server from shutting down."""

    def __init__(self, worker: Worker) -> None:
        super().__init__(target=worker.live, name="training", daemon=True)
        self.worker = worker


@atexit.register
def _end_all() -> None:
    """End every job: a thread that is inside torch while Python shuts down would abort the process."""
    threads = [thread for thread in threading.enumerate() if isinstance(thread, WorkerThread)]
    for thread in threads:
        thread.worker.stop()
    deadline = time.monotonic() + LAST_STEP
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))


def _stand_back() -> None:
    """Lower the priority of this thread; the threads that it starts inherit it (setpriority(2))."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a hardened container may refuse it
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(own + NICENESS, 19))


def _in_words(problem: BaseException) -> str:
    """What a visitor is told of an exception, in one sentence."""
    if isinstance(problem, PlaygroundError):
        return str(problem)
    of_torch = isinstance(problem, RuntimeError) and any(words in str(problem) for words in _TORCHS_WORDS)
    return NO_MEMORY if of_torch or isinstance(problem, MemoryError) else BROKEN
