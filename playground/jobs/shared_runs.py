"""Equal runs are computed once, in one job: who asks for one that is under way takes part in it.

`SharedRuns` holds the runs of all visitors, a `SharedRun` is one job for all who asked for the same, and a `Member`
is one visitor's part in it.
"""

import contextlib
import logging
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from typing import Any, Generic

from playground.errors import explain
from playground.jobs.job import Computation, JobBackend, JobHandle, JobStatus, Request, S

logger = logging.getLogger(__name__)

LEAST_EXPECTED = 0.5
"""Seconds that a run is expected to take at least, for its real time to say something of the next one's."""

USUAL_DELAY = 2.0
"""Of a run, before one has finished: its thread has the lower priority, and pages are drawn beside it."""

MOST_DELAY = 5.0
"""Of a run that took even longer, something else is to blame."""

_NO_STEP = object()


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

    def __init__(self, lock: threading.RLock, build: Callable[[], Computation[S]], seconds: float) -> None:
        self.lock, self.step_lock = lock, threading.Lock()
        self.members: weakref.WeakSet[Member[S]] = weakref.WeakSet()
        self.leaving: list[Member[S]] = []
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
        lock: threading.RLock,
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

    def members_active(self, *, besides: "Member[S] | None" = None) -> int:
        """How many take part and have not paused; call it with the lock held."""
        return sum(not member.left and not member.paused for member in self.steps.members if member is not besides)

    def members_present(self, *, besides: "Member[S] | None" = None) -> int:
        """How many take part, paused or not; call it with the lock held."""
        return sum(not member.left for member in self.steps.members if member is not besides)


class Member(Generic[S]):
    """A run as one visitor sees it; see `JobHandle`. Pausing and cancelling take this visitor alone out of it.

    The run itself pauses once all who take part have paused, and is cancelled once the last has left.

    Attributes:
        joined: the run's status when this visitor asked for it; None for the first, who started it.
        paused: whether this visitor wants a pause.
        aside: whether the visitor paused while the run went on for others; the state then stands still.
        left: whether the visitor cancelled while the run went on for others.
        served: set once who left has what was reached until then.
        note: what `on_end` had to say, in one sentence or none.
    """

    def __init__(
        self, run: SharedRun[S], on_end: Callable[[S, JobStatus], str | None] | None, joined: JobStatus | None
    ) -> None:
        self.run, self.joined, self.note = run, joined, ""
        self.paused = self.aside = self.left = False
        self.served = threading.Event()
        self._on_end, self._failure = on_end, ""
        self._still: tuple[S | None, float, float] | None = None

    @property
    def status(self) -> JobStatus:
        """As `JobHandle.status`, for this visitor."""
        if self._failure:
            return "failed"
        if self.left:
            return "cancelled"
        return "paused" if self.aside and self.run.job.status != "failed" else self.run.job.status

    @property
    def ended(self) -> bool:
        """Whether nothing can change any more."""
        return self.served.is_set() if self.left else self.run.job.ended

    @property
    def error(self) -> str:
        """Why it failed, in one sentence; empty if it did not."""
        return self._failure or self.run.job.error

    @property
    def position(self) -> int:
        """Place in the queue; 0 if it does not wait."""
        return self.run.job.position if self.status == "waiting" else 0

    @property
    def expected_wait(self) -> float:
        """Seconds until it runs; 0 if it does not wait."""
        return self.run.job.expected_wait if self.status == "waiting" else 0.0

    @property
    def others(self) -> int:
        """How many others take part and have not paused: for them the run goes on without this visitor."""
        with self.run.steps.lock:
            return 0 if self.run.steps.over else self.run.members_active(besides=self)

    @property
    def missed_end(self) -> bool:
        """Whether the run came to its end while this visitor had stepped aside."""
        return self.aside and self.run.steps.over

    @property
    def state(self) -> S | None:
        """What is to be seen; None until the job runs."""
        still = self._still
        if still is not None:
            return still[0]
        computation = self.run.steps.computation
        return None if computation is None else computation.state

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""
        still = self._still
        if still is not None:
            return still[1]
        computation = self.run.steps.computation
        return 0.0 if computation is None else computation.progress

    @property
    def seconds(self) -> float:
        """How long the run's steps have taken."""
        still = self._still
        return self.run.job.seconds if still is None else still[2]

    def pause(self, timeout: float = 1.0) -> None:
        """Pause the run if nobody else wants it now; else step aside, and leave it to the others."""
        run = self.run
        with run.steps.lock:
            if self.left or self.paused or run.steps.over:
                return
            self.paused, self.aside = True, run.members_active(besides=self) > 0
            if self.aside:
                self.freeze("paused")
                return
            run.job.pause(timeout=0)
        run.job.wait(timeout)

    def resume(self) -> None:
        """Take part again, wherever the run is by now; if it paused, it queues again."""
        with self.run.steps.lock:
            if self.left:
                return
            missed = self.missed_end
            self.paused = self.aside = False
            self._still = None
            if not self.run.steps.over:
                self.run.job.resume()
        if missed:
            self.deliver(self.run.steps.status)

    def cancel(self, timeout: float = 5.0) -> None:
        """Leave with what is reached; the run is cancelled if nobody else takes part, and pauses if they all have."""
        run = self.run
        with run.steps.lock:
            if self.left:
                return
            over = run.steps.over
            if not over and run.members_present(besides=self):
                self.left, self.aside = True, False
                run.steps.leaving.append(self)
                if not run.members_active():
                    run.job.pause(timeout=0)
            elif not over:
                self.paused = self.aside = False
                self._still = None
                run.job.cancel(timeout=0)
        if over:
            self.resume()  # who had stepped aside gets the result after all
        elif self.left:
            run.steps.serve_leaving()
            self.served.wait(timeout)
        else:
            run.job.cancel(timeout)

    def discard(self) -> None:
        """Cancel, and keep nothing of it."""
        self._on_end = None
        self.cancel()

    def freeze(self, status: JobStatus) -> None:
        """Let the state stand still as it is now; for who leaves, between two steps only."""
        computation = self.run.steps.computation
        state = None if computation is None else computation.freeze(status)
        self._still = state, self.progress, self.run.job.seconds

    def fail(self, problem: Exception) -> None:
        """Say to this visitor alone that something went wrong."""
        self._failure = explain(problem)

    def deliver(self, status: JobStatus) -> None:
        """Call `on_end` with the state and its status, once, unless there is none."""
        on_end, self._on_end = self._on_end, None
        state = self.state
        if on_end is None or state is None:
            return
        try:
            self.note = on_end(state, status) or ""
        except Exception as problem:
            logger.exception("The end of a run failed for one visitor")
            self.fail(problem)


def _nothing() -> None:
    pass


class SharedRuns:
    """The runs of all visitors, by all that they depend on.

    Args:
        backend: runs them.
        max_results: how many finished runs are kept for whoever asks for the same; the one used longest ago goes first.
        max_bytes: how much memory their states may take; a larger one is not kept at all.
    """

    def __init__(self, backend: JobBackend, max_results: int, max_bytes: int) -> None:
        self.backend, self.max_results, self.max_bytes = backend, max_results, max_bytes
        self.delay = USUAL_DELAY
        """How many times as long as a measurement lets expect a run takes, by the latest that has finished."""
        self._lock = threading.RLock()
        self._under_way: weakref.WeakValueDictionary[Hashable, SharedRun[Any]] = weakref.WeakValueDictionary()
        self._results: OrderedDict[Hashable, SharedRun[Any]] = OrderedDict()

    def join(
        self,
        key: Hashable,
        request: Request[S],
        on_end: Callable[[S, JobStatus], str | None] | None = None,
        *,
        seconds: float = 0.0,
        keep: bool = True,
        on_start: Callable[[], None] = _nothing,
        on_over: Callable[[S | None], None] | None = None,
        client: Hashable = None,
    ) -> Member[S]:
        """Take part in the run of this key; the first who asks for it starts it.

        Args:
            key: all that the run's numbers depend on; equal keys come with equal requests.
            request: what to compute.
            on_end: called once with what this visitor keeps, and how it ended: in the job's thread, or here at once.
            seconds: how long the whole run is likely to take.
            keep: whether the result may stay for others, after all who took part have gone.
            on_start: called where the job runs, before the computation is built; where it raises, the job fails.
            on_over: called where the job ran, with the last state or None, before anybody gets it.
            client: who asks; the runs that one client starts take turns with those of others.
        """
        with self._lock:
            run: SharedRun[S] | None = self._results.get(key, self._under_way.get(key))
            joined = None if run is None else run.job.status
            if run is None or joined == "cancelled":
                joined, run = None, SharedRun(self.backend, request, self._lock, seconds, on_start, client)
                self._follow(key, run, keep, on_over, expected=seconds / self.delay)
            elif key in self._results:
                self._results.move_to_end(key)
            member = Member(run, on_end, joined)
            run.steps.members.add(member)
            over = run.steps.over
            if joined is not None and not over:
                run.job.resume()
                run.job.hasten_for(client)
        if over:
            member.deliver(run.steps.status)
        return member

    def has_result(self, key: Hashable) -> bool:
        """Whether the finished run of this key is kept, so that who joins it has its result at once."""
        with self._lock:
            return key in self._results

    def forget_results(self) -> None:
        """Keep no finished run but for those who took part in it."""
        with self._lock:
            self._results.clear()

    def _follow(
        self,
        key: Hashable,
        run: SharedRun[S],
        keep: bool,
        on_over: Callable[[S | None], None] | None,
        *,
        expected: float,
    ) -> None:
        """List a run until it is over; keep its result after that, and how much longer than `expected` it took."""
        steps, reference = run.steps, weakref.ref(run)  # whoever calls back must not keep the run alive

        def is_over(status: JobStatus) -> None:
            ended: SharedRun[S] | None = reference()
            computation = steps.computation
            if steps.job is not None and status == "finished" and expected >= LEAST_EXPECTED:
                self.delay = min(max(1.0, steps.job.seconds / expected), MOST_DELAY)
            if self._under_way.get(key) is ended and ended is not None:
                del self._under_way[key]
                if keep and status == "finished":
                    self._keep(key, ended)
            if on_over is not None:
                on_over(None if computation is None else computation.state)

        with self._lock:
            if steps.over:
                is_over(steps.status)
            else:
                self._under_way[key] = run
                steps.on_over.append(is_over)

    def _keep(self, key: Hashable, run: SharedRun[Any]) -> None:
        """Keep a finished run, and let go of those that pass the bounds by that."""
        self._results[key] = run
        while self._results and (len(self._results) > self.max_results or self._n_bytes() > self.max_bytes):
            self._results.popitem(last=False)

    def _n_bytes(self) -> int:
        """Memory that all kept states take."""
        computations = (run.steps.computation for run in self._results.values())
        return sum(computation.n_bytes for computation in computations if computation is not None)
