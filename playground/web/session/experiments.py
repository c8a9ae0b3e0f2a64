"""The visitor's experiments: trained in the background, found again on every page, ended with the connection."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from playground.jobs.job import Job, Seats, Status
from playground.web.server.settings import settings
from playground.web.session import memory_budget
from playground.web.session.memory_budget import Room

DESK = "_desk"
"""Session key of the `Desk`."""

SEATS = Seats(settings().max_trainings)
"""Of all visitors together."""

LIVE = ("waiting", "running", "paused")


class Course(Protocol):
    """What can be run: a `Lesson`, an `Ablation`."""

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""

    def run(self) -> Iterator[object]:
        """Do it, step by step."""


C = TypeVar("C", bound=Course)


class Experiment(Generic[C]):
    """A course and the job that runs it.

    Args:
        about: everything that the course depends on, to tell later whether it is what is asked for now.
        build: makes the course, in the job's thread.
        on_end: told, in the job's thread, what has become of the course; not if it was never built, or is forgotten.
        room: what it takes, paused or not, from its first seat to its end; the job fails where the server has less.

    Attributes:
        cut_off: whether it was live when the connection to the visitor broke.
    """

    def __init__(
        self,
        about: Any,
        build: Callable[[], C],
        on_end: Callable[[C, Status], None] | None = None,
        room: Room | None = None,
    ) -> None:
        self.about, self.cut_off = about, False
        self._built = built = list[C]()
        self._forgotten = forgotten = threading.Event()
        taken = Room(0) if room is None else room

        def steps() -> Iterator[object]:
            memory_budget.hold(taken)
            built.append(build())
            yield None
            yield from built[0].run()

        def end(status: Status) -> None:
            try:
                if built and on_end is not None and not forgotten.is_set():
                    on_end(built[0], status)
            finally:
                memory_budget.release(taken)

        self.job = Job(steps, SEATS, end)  # its thread must not know `self`, which would then never be garbage

    @property
    def course(self) -> C | None:
        """The course; None until a seat is free."""
        return self._built[0] if self._built else None

    @property
    def live(self) -> bool:
        """Whether it can still go on."""
        return self.job.status in LIVE

    @property
    def ending(self) -> bool:
        """Whether it is cancelled, but still at its last step."""
        return self.job.status == "cancelled" and not self.job.ended

    @property
    def moving(self) -> bool:
        """Whether it changes without the visitor's doing."""
        return self.job.status in ("waiting", "running") or self.ending

    def cut(self) -> None:
        """End it, as its visitor is gone; the thread is not waited for."""
        self.cut_off = self.cut_off or self.live
        self.job.cancel(timeout=0)

    def forget(self) -> None:
        """End it, and let nothing come of it."""
        self._forgotten.set()
        self.job.cancel()


class Desk:
    """One session's experiments, by page; one of them at a time is live."""

    def __init__(self) -> None:
        self._experiments: dict[str, Experiment[Any]] = {}

    def on(self, page: str) -> Experiment[Any] | None:
        """The page's experiment, whatever has become of it."""
        return self._experiments.get(page)

    def busy_elsewhere(self, page: str) -> str | None:
        """The other page whose experiment is live."""
        return next((name for name, other in self._experiments.items() if name != page and other.live), None)

    def start(self, page: str, experiment: Experiment[Any]) -> None:
        """Begin an experiment in the place of the page's last one; nothing happens while any is live."""
        last = self.on(page)
        if (last is None or not last.live) and self.busy_elsewhere(page) is None:
            self._experiments[page] = experiment
            experiment.job.start()

    def clear(self, page: str) -> None:
        """End a page's experiment and forget it."""
        experiment = self._experiments.pop(page, None)
        if experiment is not None:
            experiment.forget()

    def close(self) -> None:
        """End everything; what was reached stays on the desk."""
        for experiment in self._experiments.values():
            experiment.cut()


def desk() -> Desk:
    """The session's desk; whenever the connection breaks it is closed, and who comes back in time finds it again."""
    found: Desk = _connected(st.session_state.setdefault(DESK, Desk()))
    return found


@st.cache_resource(scope="session", max_entries=1, on_release=Desk.close, show_spinner=False)
def _connected(_desk: Desk) -> Desk:
    return _desk


def standing(run: Experiment[Any]) -> str:
    """Where a run stands that is in no state of its own: it waits, gets ready, or ends; empty if it is another."""
    status, begun = run.job.status, run.course is not None
    if status == "waiting":
        go_on = "goes on" if begun else "starts"
        return f"Waiting for a seat: {place(run.job.position)} in the queue. It {go_on} by itself, on any page."
    if run.ending:
        return "Cancelling after the step at hand …"
    if begun or status == "failed":
        return ""
    if status == "cancelled":
        return f"{why_cancelled(run)} before the first step."
    return "Paused before the first step." if status == "paused" else "Getting ready."


def why_cancelled(run: Experiment[Any]) -> str:
    """How a sentence begins on a run that was cancelled."""
    return "The connection to your browser broke, and the run was cancelled" if run.cut_off else "Cancelled"


def place(position: int) -> str:
    """A place in the queue: `next`, `2nd`, `3rd`, `4th` …."""
    if position == 1:
        return "next"
    ending = "th" if position % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th")
    return f"{position}{ending}"
