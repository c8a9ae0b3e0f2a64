"""Work for background jobs, one step at a time or without end."""

import os
import random
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from playground.jobs import JobHandle, JobQueue, Member
from playground.jobs.queue import _Job as Job


def priority() -> int:
    """The priority of this thread; threads have their own on Linux alone."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) if sys.platform == "linux" else 0


class Steps:
    """Work whose every step waits until the test allows it, or runs freely from the start."""

    def __init__(self, n: int = 1_000_000, *, free: bool = False) -> None:
        self.n, self.free = n, free
        self.permits = threading.Semaphore(0)
        self.begun = threading.Event()
        self.n_done = 0
        self.closed_in = ""
        self.priority: int | None = None

    def __call__(self) -> Generator[int]:
        self.priority = priority()
        try:
            for step in range(self.n):
                self.begun.set()
                if not self.free:
                    assert self.permits.acquire(timeout=10)
                self.n_done = step + 1
                yield step
        finally:
            self.closed_in = threading.current_thread().name

    def allow(self, n: int = 1) -> None:
        self.permits.release(n)


def submit(queue: JobQueue, work: Callable[[], Generator[object]], owner: object | None = None) -> Job:
    """Submit a job; it is inside its first step if it runs."""
    job = queue.submit(work, owner=owner)
    if isinstance(work, Steps) and job.status == "running":
        assert work.begun.wait(5)
    return job


def endless(queue: JobQueue) -> Job:
    return submit(queue, Steps(free=True))


def assert_free(queue: JobQueue) -> None:
    """The queue runs a new job at once."""
    job = endless(queue)
    assert job.status == "running"
    job.cancel()


def press_at_random(
    jobs: Sequence[JobHandle | Member[Any]], dice: random.Random, n_threads: int, n_presses: int
) -> None:
    """Pause, resume and cancel jobs from several threads at once, in any order; resuming comes up twice as often."""

    def press() -> None:
        for _ in range(n_presses):
            job = dice.choice(jobs)
            buttons: list[Callable[[], None]] = [partial(job.pause, 0), job.resume, job.resume, partial(job.cancel, 0)]
            dice.choice(buttons)()

    threads = [threading.Thread(target=press) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
