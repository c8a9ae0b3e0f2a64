"""Equal runs are computed once: who asks for one that is under way joins it, who comes later gets the result."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from playground.jobs.backend import JobBackend, JobStatus, Request, S
from playground.jobs.member import Member
from playground.jobs.shared_run import SharedRun


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
                self._follow(key, run, keep, on_over)
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

    def _follow(self, key: Hashable, run: SharedRun[S], keep: bool, on_over: Callable[[S | None], None] | None) -> None:
        """List a run until it is over, and keep its result after that."""
        steps, reference = run.steps, weakref.ref(run)  # whoever calls back must not keep the run alive

        def is_over(status: JobStatus) -> None:
            ended: SharedRun[S] | None = reference()
            computation = steps.computation
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
