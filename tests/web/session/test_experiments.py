"""A session's experiments: one at a time, in a thread that ends with them, found again, gone with the session."""

import gc
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.jobs.job import Seats, Status
from playground.web.server.settings import Settings
from playground.web.session import experiments, memory_budget
from playground.web.session.memory_budget import Room

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


def experiment(
    course: Count, on_end: Callable[[Count, Status], None] | None = None, room: Room | None = None
) -> experiments.Experiment[Count]:
    return experiments.Experiment(("about", course.n), lambda: course, on_end, room)


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "training"]


@pytest.fixture(autouse=True)
def _one_seat(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(experiments, "SEATS", Seats(1))
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
    desk, first, second = experiments.Desk(), experiment(Count(9, free=False)), experiment(Count(1))
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
    desk, course = experiments.Desk(), Count(9, free=False)
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
    desk = experiments.Desk()
    desk.clear("training")
    for free in (True, False):
        course = Count(10**6, free=free)
        desk.start("training", experiment(course))
        until(lambda course=course: course.thread is not None)  # type: ignore[misc]
        course.gate.release()
        desk.clear("training")
        assert desk.on("training") is None
        until(lambda: not threads())


def test_it_moves_until_its_last_step_is_done() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Count):
        def run(self) -> Iterator[int]:
            begun.set()
            go_on.wait()
            yield 1

    started = experiment(Slow(1))
    started.job.start()
    assert begun.wait(5)
    started.job.cancel(timeout=0)
    assert (started.job.status, started.live, started.moving) == ("cancelled", False, True)
    assert experiments.standing(started) == "Cancelling after the step at hand …"
    go_on.set()
    until(lambda: not started.moving)
    assert experiments.standing(started) == ""


# --- the memory of all together


@pytest.fixture
def in_use(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The bytes that are counted, of which there are 100 for the test."""
    gc.collect()
    before = sum(other.n_bytes for other in memory_budget.held())
    monkeypatch.setattr(memory_budget, "settings", lambda: Settings(max_own_weights=before + 100))

    def count() -> int:
        return sum(other.n_bytes for other in memory_budget.held()) - before

    return count


def fail(course: Count, _: experiments.Desk) -> None:
    course.n = -1


def finish(course: Count, _: experiments.Desk) -> None:
    course.gate.release(course.n)


def cancel(_: Count, desk: experiments.Desk) -> None:
    started = desk.on("training")
    assert started is not None
    started.job.cancel()


def clear(_: Count, desk: experiments.Desk) -> None:
    desk.clear("training")


def close(_: Count, desk: experiments.Desk) -> None:
    desk.close()


def drop(_: Count, desk: experiments.Desk) -> None:
    desk._experiments.clear()


class Breaking(Count):
    def run(self) -> Iterator[int]:
        yield from super().run()
        if self.n < 0:
            raise KeyError("x")


ENDS = [(end, paused) for end in (fail, finish, cancel, clear, close, drop) for paused in (False, True)]


@pytest.mark.parametrize(("end", "paused"), [each for each in ENDS if each not in ((fail, True), (finish, True))])
def test_a_live_run_takes_its_room_and_gives_it_back_however_it_ends(
    end: Callable[[Count, experiments.Desk], None], paused: bool, in_use: Callable[[], int]
) -> None:
    desk, course = experiments.Desk(), Breaking(9, free=False)
    desk.start("training", experiment(course, room=Room(60)))
    until(lambda: course.thread is not None)
    if paused:
        pause(desk)
    assert in_use() == 60
    end(course, desk)
    until(lambda: in_use() == 0)
    until(lambda: not threads())


def pause(desk: experiments.Desk) -> None:
    started = desk.on("training")
    assert started is not None
    started.job.pause()
    assert started.job.status == "paused"


@pytest.mark.parametrize(("end", "told"), [(clear, []), (cancel, ["cancelled"]), (close, ["cancelled"])])
def test_nothing_comes_of_what_is_cleared(end: Callable[[Count, experiments.Desk], None], told: list[Status]) -> None:
    desk, course, ends = experiments.Desk(), Count(9, free=False), list[Status]()
    desk.start("training", experiment(course, lambda _, status: ends.append(status)))
    until(lambda: course.thread is not None)
    end(course, desk)
    until(lambda: not threads())
    assert ends == told


def test_a_run_for_which_there_is_no_room_is_refused_and_leaves_its_seat(in_use: Callable[[], int]) -> None:
    desks = [experiments.Desk() for _ in range(3)]
    courses = [Count(9, free=False) for _ in desks]
    desks[0].start("training", experiment(courses[0], room=Room(60)))
    until(lambda: courses[0].thread is not None)
    pause(desks[0])
    refused = experiment(courses[1], room=Room(41))
    desks[1].start("training", refused)
    until(lambda: refused.job.status == "failed")
    assert refused.job.error == (
        "This server holds as many visitors' weights as it can right now; try again in some minutes, or with a smaller "
        "model."
    )
    assert (refused.course, in_use()) == (None, 60)
    desks[2].start("training", experiment(courses[2], room=Room(40)))
    until(lambda: courses[2].thread is not None)
    assert in_use() == 100
    for desk in desks:
        desk.close()
    until(lambda: in_use() == 0)


def test_what_a_run_leaves_takes_its_room(in_use: Callable[[], int]) -> None:
    room, left, other = Room(90), Room(20), Room(81)
    memory_budget.hold(room)
    with pytest.raises(ValueError, match="as many visitors' weights"):
        memory_budget.hold(left)
    memory_budget.hold(left, instead_of=room)
    assert in_use() == 20
    with pytest.raises(ValueError, match="as many visitors' weights"):
        memory_budget.hold(other, instead_of=room)
    memory_budget.release(room)
    memory_budget.release(left)
    assert in_use() == 0


def test_twenty_visitors_at_once_take_turns_and_all_of_them_finish() -> None:
    ends: list[int] = []
    desks = [experiments.Desk() for _ in range(20)]
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
    assert {n: experiments.place(n) for n in places} == places


# --- in a session


def script() -> None:
    """A page that watches its experiment."""
    import streamlit as st

    from playground.web.session import experiments
    from playground.web.shared import experiment_buttons

    st.session_state["runs"] = st.session_state.get("runs", 0) + 1

    def view() -> None:
        experiment = experiments.desk().on("training")
        st.text("nothing" if experiment is None else experiment.job.status)

    experiment_buttons.watch(view, "training")


def app() -> AppTest:
    return AppTest.from_function(script, default_timeout=20).run()


def status(page: AppTest) -> str:
    assert not page.exception
    (text,) = page.text
    return str(text.value)


def test_a_page_finds_its_experiment_again() -> None:
    page, course = app(), Count(2, free=False)
    assert status(page) == "nothing"
    with_session(lambda: experiments.desk().start("training", experiment(course)))
    until(lambda: course.thread is not None)
    assert status(page.run()) == "running"
    assert status(app()) == "running"
    course.gate.release(2)
    until(lambda: not threads())
    assert status(page.run()) == "finished"


def test_a_connection_that_breaks_ends_an_experiment_which_is_found_again() -> None:
    page, course = app(), Count(10**9)
    with_session(lambda: experiments.desk().start("training", experiment(course)))
    until(lambda: course.done > 5)
    clear_session_resource_cache(SESSION)  # as the server does when a tab is closed, or its connection broke
    until(lambda: not threads())
    assert course.done < 10**9
    assert status(page.run()) == "cancelled"
    desk = page.session_state[experiments.DESK]
    assert (
        experiments.why_cancelled(desk.on("training"))
        == "The connection to your browser broke, and the run was cancelled"
    )
    again = Count(10**9)
    with_session(lambda: experiments.desk().start("training", experiment(again)))
    assert status(page.run()) == "running"
    clear_session_resource_cache(SESSION)  # and another time
    until(lambda: not threads())
    assert status(page.run()) == "cancelled"


def test_a_connection_that_breaks_changes_nothing_of_what_has_ended() -> None:
    desk = experiments.Desk()
    desk.start("training", started := experiment(Count(9, free=False)))
    until(lambda: started.course is not None)
    started.job.cancel()
    desk.close()
    assert (started.cut_off, experiments.why_cancelled(started)) == (False, "Cancelled")


def with_session(action: Callable[[], None]) -> None:
    """Do something as a page's script does it."""

    def scripted() -> None:
        import streamlit as st

        st.session_state["action"]()

    runner = AppTest.from_function(scripted, default_timeout=20)
    runner.session_state["action"] = action
    assert not runner.run().exception
