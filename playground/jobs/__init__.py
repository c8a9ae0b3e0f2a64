"""Background jobs in threads: equal ones are computed once, for everybody."""

import contextlib
import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

from playground.errors import PlaygroundError, explain

NICENESS = 10

LAST_STEP = 5.0
"""Seconds to wait for a stopped job's step."""

JobStatus = Literal["waiting", "running", "finished", "cancelled", "failed"]

S = TypeVar("S")
"""What is to be seen: an immutable record with `progress` and `n_bytes` that can be pickled."""
S_co = TypeVar("S_co", covariant=True)

OnEnd = Callable[[S, JobStatus], None]
"""Called once with the last state and how the job ended."""

logger = logging.getLogger(__name__)


class Computation(Protocol[S_co]):
    """Something computed step by step."""

    @property
    def state(self) -> S_co | None:
        """What is to be seen by now, in any thread."""

    def run(self) -> Generator[object]:
        """Compute; yields after every step."""

    def close(self, status: JobStatus) -> None:
        """Make the last state, and free everything else."""


@dataclass(frozen=True)
class Request(Generic[S]):
    """A computation that may be sent to another machine."""

    kind: Callable[..., Computation[S]]
    """Takes the arguments, `device`, and `data` if there are any."""
    arguments: tuple[Any, ...]
    device: str = "cpu"
    threads: int = 1
    """The last digits depend on them."""
    data: Any = None
    """What the arguments ask for, if at hand; it does not travel."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "data": None}

    def build(self) -> Computation[S]:
        """Return the computation before its first step."""
        return self.kind(*self.arguments, device=self.device, **({} if self.data is None else {"data": self.data}))


class Job(Generic[S]):
    """A computation, and the handles of all who take part."""

    def __init__(self, request: Request[S], on_start: Callable[[], None], on_over: Callable[[S | None], None]) -> None:
        self.request, self.on_start, self.on_over = request, on_start, on_over
        self.status: JobStatus = "waiting"
        self.error = ""
        self.stopping, self.over = threading.Event(), threading.Event()
        self.computation: Computation[S] | None = None
        self.handles: list[JobHandle[S]] = []
        self.future: Future[None] | None = None
        self._started = self._ended = 0.0

    @property
    def state(self) -> S | None:
        """What is to be seen."""
        return None if self.computation is None else self.computation.state

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._ended or time.monotonic()) - self._started if self._started else 0.0

    def compute(self, build: Callable[[Request[S]], Computation[S]]) -> JobStatus:
        """Take steps; return how it ended."""
        self._started, status = time.monotonic(), self.status
        try:
            self.status = "running"
            self.on_start()
            self.computation = build(self.request)
            with contextlib.closing(self.computation.run()) as steps:
                status = "cancelled" if any(self.stopping.is_set() for _ in steps) else "finished"
        except BaseException as problem:  # whatever it is, it ends this job alone
            status, self.error = "failed", explain(problem)
            level = logging.WARNING if isinstance(problem, PlaygroundError) else logging.ERROR
            logger.log(level, "A job failed", exc_info=True)
        try:
            if self.computation is not None:
                self.computation.close(status)
        except Exception as problem:
            logger.exception("The end of a job failed")
            status, self.error = "failed", explain(problem)
        self.on_over(self.state)
        self._ended = time.monotonic()
        return status


class JobHandle(Generic[S]):
    """A job as one visitor sees it; the last one to leave ends it."""

    def __init__(self, pool: "JobPool", job: Job[S], on_end: OnEnd[S] | None) -> None:
        self.job, self.left = job, False
        self._pool, self._on_end = pool, on_end
        self.reached: tuple[S | None, float] = (None, 0.0)  # when this visitor left
        self.inputs: Any = None  # what the visitor asked for

    @property
    def status(self) -> JobStatus:
        """How it stands for this visitor."""
        return "cancelled" if self.left or (self.job.stopping.is_set() and not self.ended) else self.job.status

    @property
    def active(self) -> bool:
        """Whether it can still go on."""
        return self.status in ("waiting", "running")

    @property
    def ended(self) -> bool:
        """Whether nothing can change any more."""
        return self.left or self.job.over.is_set()

    @property
    def error(self) -> str:
        """Why it failed, in one sentence."""
        return self.job.error

    @property
    def state(self) -> S | None:
        """What is to be seen."""
        return self.reached[0] if self.left else self.job.state

    @property
    def progress(self) -> float:
        """The share that is done."""
        state: Any = self.state
        return 0.0 if state is None else float(state.progress)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return self.reached[1] if self.left else self.job.seconds

    @property
    def position(self) -> int:
        """The place in the queue, 1 = next; 0 if it does not wait."""
        return self._pool.position(self.job)

    @property
    def others(self) -> int:
        """For how many others the job goes on."""
        return 0 if self.job.over.is_set() else sum(not each.left for each in self.job.handles if each is not self)

    def stop(self, timeout: float = LAST_STEP) -> None:
        """Leave with what is reached."""
        self._pool.leave(self)
        if not self.left:
            self.job.over.wait(timeout)

    def discard(self) -> None:
        """Stop, and keep nothing of it."""
        self._on_end = None
        self.stop()

    def deliver(self, status: JobStatus) -> None:
        """Hand over the last state, once."""
        on_end, self._on_end = self._on_end, None
        if on_end is None or (state := self.state) is None:
            return
        try:
            on_end(state, status)
        except Exception:
            logger.exception("The end of a job failed for one visitor")


class JobPool:
    """The jobs of all visitors, `max_running` at once; finished ones are kept for others within two bounds."""

    def __init__(self, max_running: int, max_results: int = 0, max_bytes: int = 0) -> None:
        self.max_results, self.max_bytes = max_results, max_bytes
        self._lock = threading.RLock()
        self._jobs: OrderedDict[Hashable, Job[Any]] = OrderedDict()
        lower_priority = partial(os.nice, NICENESS) if sys.platform == "linux" else None  # there it is of one thread
        self._threads = ThreadPoolExecutor(max_running, "job", initializer=lower_priority)

    def connect(self) -> None:
        """Be ready for the first job; ClusterError if the machines cannot be reached."""

    def build(self, request: Request[S]) -> Computation[S]:
        """Build a request where the job runs."""
        return request.build()

    def join(
        self,
        key: Hashable,
        request: Request[S],
        on_end: OnEnd[S] | None = None,
        *,
        keep: bool = True,
        on_start: Callable[[], None] = lambda: None,
        on_over: Callable[[S | None], None] = lambda _: None,
    ) -> JobHandle[S]:
        """Take part in the job of this key, all that its numbers depend on; without `keep` it ends with its visitors.

        The job's thread calls `on_start`, which may refuse it, and in the end `on_over`, then everybody's `on_end`.
        """
        with self._lock:
            job: Job[S] | None = self._jobs.get(key)
            is_new = job is None or job.stopping.is_set()
            if job is None or is_new:
                job = self._jobs[key] = Job(request, on_start, on_over)
            handle, is_over = JobHandle(self, job, on_end), job.over.is_set()
            if is_new or is_over:
                self._jobs.move_to_end(key)
            if not is_over:
                job.handles.append(handle)
            if is_new:
                job.future = self._threads.submit(self._run, job, keep)
        if is_over:
            handle.deliver(job.status)
        return handle

    def leave(self, handle: JobHandle[Any]) -> None:
        """Let a visitor out; stop a job that goes on for nobody else."""
        job = handle.job
        with self._lock:
            if handle.ended:
                return
            if handle.others:
                handle.reached, handle.left = (job.state, job.seconds), True
                return
            job.stopping.set()
            if job.future is not None and job.future.cancel():
                self._end(job, "cancelled")

    def position(self, job: Job[Any]) -> int:
        """Return a job's place in the queue."""
        with self._lock:
            waiting = [each for each in self._jobs.values() if each.status == "waiting"]
            return waiting.index(job) + 1 if job in waiting else 0

    def forget_results(self) -> None:
        """Keep no finished job but for its own visitors."""
        self._trim(0, 0)

    def close(self) -> None:
        """Stop every job, and wait for the current steps: Python must not end while a thread is inside torch."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + LAST_STEP
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.status == "running"]
        for job in jobs:
            job.stopping.set()
        for job in jobs:
            job.over.wait(max(0.0, deadline - time.monotonic()))

    def _run(self, job: Job[Any], keep: bool) -> None:
        outcome = job.compute(self.build)
        with self._lock:  # nobody joins or leaves meanwhile
            for handle in job.handles:
                if not handle.left:
                    handle.deliver(outcome)
            self._end(job, outcome, keep=keep)

    def _end(self, job: Job[Any], status: JobStatus, *, keep: bool = False) -> None:
        """Let a job be over; with the lock held."""
        job.status = status
        if not keep or status != "finished":
            for key in [key for key, each in self._jobs.items() if each is job]:
                del self._jobs[key]
        job.handles.clear()  # a finished job is freed with the last handle, without the garbage collector
        job.over.set()
        self._trim(self.max_results, self.max_bytes)

    def _trim(self, max_results: int, max_bytes: int) -> None:
        with self._lock:
            over = [(key, job.state) for key, job in self._jobs.items() if job.over.is_set()]
            sizes = [0 if state is None else state.n_bytes for _, state in over]
            for number, (key, _) in enumerate(over):
                if len(over) - number > max_results or sum(sizes[number:]) > max_bytes:
                    del self._jobs[key]
