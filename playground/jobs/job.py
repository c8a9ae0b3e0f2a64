"""Long work in the background: it queues for a seat, and can be paused, resumed and cancelled."""

import logging
import threading
import weakref
from collections.abc import Callable, Iterator

from playground.jobs.queue import BROKEN, Seats, Status, Worker, WorkerThread

__all__ = ["Job", "Seats", "Status"]

logger = logging.getLogger(__name__)


class Job:
    """Work that runs step by step in a thread of its own, whenever it has a seat.

    It can be paused, resumed and cancelled from any thread; all of these take effect between two steps. A job that
    nobody holds any more is cancelled, so `work` and `on_end` must not refer to it. Once it has ended it holds on to
    neither.

    Args:
        work: called in the thread; every item that it yields is a step, the items themselves are dropped.
        seats: what it queues for.
        on_end: called once in the thread, with the status that the job is about to have, while it still has its seat;
            not called if the job has never started.
    """

    def __init__(
        self, work: Callable[[], Iterator[object]], seats: Seats, on_end: Callable[[Status], None] | None = None
    ) -> None:
        self._worker = Worker(work, seats, on_end)
        self._thread: WorkerThread | None = None
        weakref.finalize(self, self._worker.stop)

    @property
    def status(self) -> Status:
        """Where it stands; `paused` once its seat is free, `cancelled` as soon as that is sure."""
        return self._worker.status

    @property
    def ended(self) -> bool:
        """Whether it has ended, `on_end` included; a job that was cancelled may still be at its last step."""
        return self._worker.outcome is not None or (self._thread is None and self._worker.cancelled)

    @property
    def position(self) -> int:
        """Its place in the queue, 1 = next; 0 if it does not wait for a seat."""
        with self._worker.seats.lock:
            return self._worker.seats.position(self._worker)

    @property
    def error(self) -> str:
        """Why it failed, in one sentence; empty if it did not."""
        return self._worker.error

    @property
    def seconds(self) -> float:
        """How long it has run, waiting and pauses left out."""
        return self._worker.seconds

    def start(self) -> None:
        """Queue for a seat; a job starts once."""
        worker = self._worker
        try:
            with worker.seats.lock:
                if self._thread is not None or worker.cancelled or worker.ending:
                    return
                thread = WorkerThread(worker)
                thread.start()
                self._thread = thread
                worker.seats.join(worker)
        except RuntimeError:  # there are too many threads
            logger.exception("A job could not start")
            worker.forget()
            worker.end("failed", BROKEN)

    def pause(self, timeout: float = 1.0) -> None:
        """Give the seat back after the step at hand, or the place in the queue; wait `timeout` seconds for it."""
        worker = self._worker
        with worker.seats.lock:
            if self._thread is None or worker.outcome is not None:
                return
            worker.pausing = True
            if not worker.seated:
                worker.seats.leave(worker)
        worker.standing.wait(timeout)

    def resume(self) -> None:
        """Queue again, at the end; a job that has not given its seat back yet keeps it."""
        worker = self._worker
        with worker.seats.lock:
            if worker.pausing and worker.outcome is None:
                worker.pausing = False
                if not worker.seated:
                    worker.seats.join(worker)

    def cancel(self, timeout: float = 5.0) -> None:
        """End it after the step at hand, and wait `timeout` seconds for that."""
        worker = self._worker
        with worker.seats.lock:
            if not worker.ending:
                worker.stop()
        if self._thread is None:
            worker.forget()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout)
