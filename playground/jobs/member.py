"""One visitor's part in a run that others may take part in, too."""

import logging
import threading
from collections.abc import Callable
from typing import Generic

from playground.errors import explain
from playground.jobs.backend import JobStatus, S
from playground.jobs.shared_run import SharedRun

logger = logging.getLogger(__name__)


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
