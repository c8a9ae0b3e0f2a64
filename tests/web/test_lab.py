"""A session's experiments: one at a time, in a thread that ends with them, found again, gone with the session."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.training.job import Seats, Status
from playground.web import lab

SESSION = "test session id"
"""What AppTest calls every session."""


class Count:
    """A course of some steps, which does nothing until it is let go."""

    def __init__(self, n: int, free: bool = True) -> None:
        self.n, self.done = n, 0
        self.gate = threading.Semaphore(10**6 if free else 0)
        self.thread: threading.Thread | None = None

    @property
    def progress(self) -> float:
        return self.done / self.n

    def run(self) -> Iterator[int]:
        self.thread = threading.current_thread()
        while self.done < self.n:
            self.done += self.gate.acquire(timeout=0.02)
            yield self.done


def experiment(course: Count, on_end: Callable[[Count, Status], None] | None = None) -> lab.Experiment[Count]:
    return lab.Experiment(("about", course.n), lambda: course, on_end)


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "training"]


@pytest.fixture(autouse=True)
def _one_seat(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lab, "SEATS", Seats(1))
    yield
    clear_session_resource_cache(SESSION)
    until(lambda: not threads())


def test_a_course_is_built_and_run_in_a_thread_of_its_own() -> None:
    told: list[tuple[Count, Status]] = []
    course = Count(3)
    started = experiment(course, lambda course, status: told.append((course, status)))
    assert (started.course, started.about, started.live) == (None, ("about", 3), True)
    started.job.start()
    until(lambda: not started.live)
    assert started.course is course
    assert (course.done, course.progress, started.moving) == (3, 1, False)
    assert told == [(course, "finished")]
    assert course.thread is not threading.main_thread()


def test_one_at_a_time_on_a_desk() -> None:
    desk, first, second = lab.Desk(), experiment(Count(9, free=False)), experiment(Count(1))
    desk.start("training", first)
    assert desk.on("training") is first
    assert (desk.busy_elsewhere("regularisers"), desk.busy_elsewhere("training")) == ("training", None)
    desk.start("regularisers", second)
    desk.start("training", second)
    assert (desk.on("training"), desk.on("regularisers")) == (first, None)
    first.job.cancel()
    assert desk.busy_elsewhere("regularisers") is None
    desk.start("regularisers", second)
    until(lambda: second.job.status == "finished")
    assert desk.on("training") is first


def test_paused_is_live_but_does_not_move() -> None:
    desk, course = lab.Desk(), Count(9, free=False)
    desk.start("training", experiment(course))
    started = desk.on("training")
    assert started is not None
    until(lambda: started.job.status == "running" and course.thread is not None)
    started.job.pause(timeout=0)
    course.gate.release()
    until(lambda: started.job.status == "paused")
    assert (started.live, started.moving) == (True, False)
    assert desk.busy_elsewhere("regularisers") == "training"
    desk.clear("training")
    assert desk.on("training") is None


def test_clearing_ends_and_forgets_and_may_be_done_at_any_time() -> None:
    desk = lab.Desk()
    desk.clear("training")
    for free in (True, False):
        course = Count(10**6, free=free)
        desk.start("training", experiment(course))
        until(lambda course=course: course.thread is not None)  # type: ignore[misc]
        course.gate.release()
        desk.clear("training")
        assert desk.on("training") is None
        until(lambda: not threads())


def test_twenty_visitors_at_once_take_turns_and_all_of_them_finish() -> None:
    ends: list[int] = []
    desks = [lab.Desk() for _ in range(20)]
    blocked = Count(1, free=False)
    desks[0].start("training", experiment(blocked))
    for i, desk in enumerate(desks[1:], 1):
        desk.start("training", experiment(Count(2), lambda _, status, i=i: ends.append(i)))  # type: ignore[misc]
    waiting = [desk.on("training") for desk in desks[1:]]
    until(lambda: blocked.thread is not None)
    assert [each.job.position for each in waiting if each is not None] == list(range(1, 20))
    blocked.gate.release()
    until(lambda: len(ends) == 19)
    assert ends == list(range(1, 20))
    until(lambda: not threads())


def test_a_place_in_the_queue() -> None:
    places = {1: "next", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"}
    assert {n: lab.place(n) for n in places} == places


# --- in a session


def script() -> None:
    """A page that watches its experiment."""
    import streamlit as st

    from playground.web import lab

    st.session_state["runs"] = st.session_state.get("runs", 0) + 1

    def view() -> None:
        experiment = lab.desk().on("training")
        st.text("nothing" if experiment is None else experiment.job.status)

    lab.watch(view, "training")


def app() -> AppTest:
    return AppTest.from_function(script, default_timeout=20).run()


def status(page: AppTest) -> str:
    assert not page.exception
    (text,) = page.text
    return str(text.value)


def test_a_page_finds_its_experiment_again() -> None:
    page, course = app(), Count(2, free=False)
    assert status(page) == "nothing"
    with_session(lambda: lab.desk().start("training", experiment(course)))
    until(lambda: course.thread is not None)
    assert status(page.run()) == "running"
    assert status(app()) == "running"
    course.gate.release(2)
    until(lambda: not threads())
    assert status(page.run()) == "finished"


def test_a_session_that_ends_ends_its_experiment() -> None:
    page, course = app(), Count(10**9)
    with_session(lambda: lab.desk().start("training", experiment(course)))
    until(lambda: course.done > 5)
    clear_session_resource_cache(SESSION)  # as the server does when a tab is closed
    until(lambda: not threads())
    assert course.done < 10**9
    assert status(page.run()) == "nothing"


def with_session(action: Callable[[], None]) -> None:
    """Do something as a page's script does it."""

    def scripted() -> None:
        import streamlit as st

        st.session_state["action"]()

    runner = AppTest.from_function(scripted, default_timeout=20)
    runner.session_state["action"] = action
    assert not runner.run().exception
