"""A visitor's experiments: run in the background, shown on every page, cancelled when the connection breaks."""

import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from playground.jobs import JobBackend, JobQueue, JobStatus
from playground.web.server.settings import settings
from playground.web.session import memory_budget
from playground.web.session.memory_budget import MemoryReservation

EXPERIMENTS = "_experiments"
"""Session key of the `SessionExperiments`."""

BACKEND: JobBackend = JobQueue(settings().max_trainings)
"""Runs the experiments of all visitors."""

ACTIVE = ("waiting", "running", "paused")
"""Statuses of an experiment that can still go on."""


class Computation(Protocol):
    """What an experiment computes: a `TrainingRun`, an `Ablation`."""

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""

    def run(self) -> Iterator[object]:
        """Compute it, step by step."""


C = TypeVar("C", bound=Computation)


class Experiment(Generic[C]):
    """A computation and the job that runs it; creating one submits the job.

    Args:
        inputs: everything that the computation depends on, to be compared with the page's settings later.
        build: makes the computation, where the job runs.
        on_end: called with the computation and its outcome; not if it was never built, or the experiment is discarded.
        reservation: the memory that it takes, paused or not, from its first step to its end; the job fails where the
            server has less.
    """

    disconnected = False
    """Whether the connection to the visitor broke while it was active."""

    def __init__(
        self,
        inputs: Any,
        build: Callable[[], C],
        on_end: Callable[[C, JobStatus], None] | None = None,
        reservation: MemoryReservation | None = None,
    ) -> None:
        self.inputs = inputs
        self._built = built = list[C]()
        self._discarded = discarded = threading.Event()
        memory = MemoryReservation(0) if reservation is None else reservation

        def work() -> Generator[object]:
            memory_budget.reserve(memory)
            built.append(build())
            yield None
            yield from built[0].run()

        def end(status: JobStatus) -> None:
            try:
                if built and on_end is not None and not discarded.is_set():
                    on_end(built[0], status)
            finally:
                memory_budget.release(memory)

        self.job = BACKEND.submit(work, end, owner=self)

    @property
    def computation(self) -> C | None:
        """The computation; None until the job runs."""
        return self._built[0] if self._built else None

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""
        if self.job.status == "finished":
            return 1.0
        return self.computation.progress if self.computation else 0.0

    @property
    def active(self) -> bool:
        """Whether it can still go on."""
        return self.job.status in ACTIVE

    @property
    def cancelling(self) -> bool:
        """Whether it is cancelled, but still in its last step."""
        return self.job.status == "cancelled" and not self.job.ended

    @property
    def in_progress(self) -> bool:
        """Whether it changes without the visitor's doing."""
        return self.job.status in ("waiting", "running") or self.cancelling

    def disconnect(self) -> None:
        """Cancel it, as its visitor is gone, without waiting."""
        self.disconnected = self.disconnected or self.active
        self.job.cancel(timeout=0)

    def discard(self) -> None:
        """Cancel it, and keep nothing of its results."""
        self._discarded.set()
        self.job.cancel()


class SessionExperiments:
    """One session's experiments, by page; at most one of them is active."""

    def __init__(self) -> None:
        self._experiments: dict[str, Experiment[Any]] = {}

    def get(self, page: str) -> Experiment[Any] | None:
        """The page's latest experiment, whatever its status."""
        return self._experiments.get(page)

    def active_page(self) -> str | None:
        """The page whose experiment is active."""
        return next((page for page, experiment in self._experiments.items() if experiment.active), None)

    def start(self, page: str, create: Callable[[], Experiment[Any]]) -> None:
        """Replace the page's experiment by a new one; nothing happens while any is active."""
        if self.active_page() is None:
            self._experiments[page] = create()

    def discard(self, page: str) -> None:
        """Cancel a page's experiment and forget it."""
        experiment = self._experiments.pop(page, None)
        if experiment is not None:
            experiment.discard()

    def disconnect(self) -> None:
        """Cancel everything; the results so far stay."""
        for experiment in self._experiments.values():
            experiment.disconnect()


def session_experiments() -> SessionExperiments:
    """The session's experiments; they are cancelled when the connection breaks, and found again by who comes back."""
    experiments: SessionExperiments = _until_disconnect(st.session_state.setdefault(EXPERIMENTS, SessionExperiments()))
    return experiments


@st.cache_resource(scope="session", max_entries=1, on_release=SessionExperiments.disconnect, show_spinner=False)
def _until_disconnect(_experiments: SessionExperiments) -> SessionExperiments:
    return _experiments
