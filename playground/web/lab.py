"""The visitor's experiments: trained in the background, found again on every page, ended with the session."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from playground.training.job import Job, Seats, Status
from playground.web.settings import settings

SEATS = Seats(settings().max_trainings)
"""Of all visitors together."""

INTERVAL = 0.8
"""Seconds between two looks at what goes on."""

LIVE = ("waiting", "running", "paused")


class Course(Protocol):
    """What can be run: a `Trainer`, an `Ablation`."""

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
        on_end: told, in the job's thread, what has become of the course; not if it was never built.
    """

    def __init__(self, about: Any, build: Callable[[], C], on_end: Callable[[C, Status], None] | None = None) -> None:
        self.about = about
        self._built = built = list[C]()

        def steps() -> Iterator[object]:
            built.append(build())
            yield None
            yield from built[0].run()

        def end(status: Status) -> None:
            if built and on_end is not None:
                on_end(built[0], status)

        self.job = Job(steps, SEATS, end)  # it must not refer to itself, so `steps` and `end` know the list alone

    @property
    def course(self) -> C | None:
        """The course; None until a seat is free."""
        return self._built[0] if self._built else None

    @property
    def live(self) -> bool:
        """Whether it can still go on."""
        return self.job.status in LIVE

    @property
    def moving(self) -> bool:
        """Whether it changes without the visitor's doing."""
        return self.job.status in ("waiting", "running")


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
            experiment.job.cancel()

    def close(self) -> None:
        """End everything; the threads are not waited for."""
        for experiment in self._experiments.values():
            experiment.job.cancel(timeout=0)


@st.cache_resource(scope="session", max_entries=1, on_release=Desk.close, show_spinner=False)
def desk() -> Desk:
    """The session's desk; closed with it."""
    return Desk()


def watch(view: Callable[[], None], page: str, every: float = INTERVAL) -> None:
    """Draw a view of a page's experiment, again and again while it moves; it is a fragment of its own.

    The whole page follows once the experiment stops moving, or starts to: then its other parts change too.
    """
    experiment = desk().on(page)
    moving = experiment is not None and experiment.moving

    def look() -> None:
        now = desk().on(page)
        if (now is not None and now.moving) != moving:
            st.rerun()
        view()

    look.__qualname__ = f"watch.{page}.{view.__qualname__}"  # what Streamlit tells fragments apart by
    st.fragment(look, run_every=every if moving else None)()


def place(position: int) -> str:
    """A place in the queue: `next`, `2nd`, `3rd`, `4th` …."""
    if position == 1:
        return "next"
    ending = "th" if position % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th")
    return f"{position}{ending}"
