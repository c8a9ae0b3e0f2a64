"""A session's experiments: one at a time, in a thread that ends with them, found again, gone with the session."""

import gc
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.errors import WeightsError
from playground.jobs import JobStatus
from playground.web.server.settings import Settings
from playground.web.session import memory_budget
from playground.web.session.experiments import EXPERIMENTS, Experiment, SessionExperiments, session_experiments
from playground.web.session.memory_budget import MemoryReservation
from playground.web.shared.experiment_status import cancelled_clause, ordinal, pending_sentence
from tests.waiting import job_threads, until
from tests.web.app_test import SESSION, working

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


class Count:
    """A computation of some steps, which does nothing until it is let go."""

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
        if self.n < 0:
            raise KeyError("x")


def creator(count: Count, n_bytes: int = 0, ends: list[Any] | None = None) -> Callable[[], Experiment[Count]]:
    """Makes an experiment, which adds what it computed and its status to `ends`."""
    on_end = None if ends is None else lambda *end: ends.append(end)
    return lambda: Experiment(("inputs", count.n), lambda: count, on_end, MemoryReservation(n_bytes))


def start(experiments: SessionExperiments, count: Count, page: str = "training", **options: Any) -> Experiment[Count]:
    """Start an experiment and wait until it runs."""
    experiments.start(page, creator(count, **options))
    experiment = experiments.get(page)
    assert experiment is not None
    until(lambda: count.thread is not None or experiment.job.ended)
    return experiment


def test_a_computation_is_built_and_run_in_a_thread_of_its_own() -> None:
    ends: list[tuple[Count, JobStatus]] = []
    count = Count(3)
    experiment = creator(count, ends=ends)()
    until(lambda: not experiment.active)
    assert (experiment.computation, experiment.inputs) == (count, ("inputs", 3))
    assert (count.done, experiment.progress, experiment.in_progress) == (3, 1, False)
    assert ends == [(count, "finished")]
    assert count.thread is not threading.main_thread()


def test_one_experiment_at_a_time_in_a_session() -> None:
    experiments, count = SessionExperiments(), Count(9, free=False)
    first = start(experiments, count)
    first.job.pause(timeout=0)
    count.gate.release()
    until(lambda: first.job.status == "paused")
    assert (first.active, first.in_progress, experiments.active_page()) == (True, False, "training")
    for page in ("regularisers", "training"):
        experiments.start(page, creator(Count(1)))
    assert (experiments.get("training"), experiments.get("regularisers")) == (first, None)
    first.job.cancel()
    assert experiments.active_page() is None
    second = start(experiments, Count(1), page="regularisers")
    until(lambda: second.job.status == "finished")
    assert experiments.get("training") is first


def test_a_cancelled_experiment_is_in_progress_until_its_last_step_is_done() -> None:
    begun, allowed = threading.Event(), threading.Event()

    class Slow(Count):
        def run(self) -> Iterator[int]:
            begun.set()
            allowed.wait()
            yield 1

    experiment = creator(Slow(1))()
    assert begun.wait(5)
    experiment.job.cancel(timeout=0)
    assert (experiment.job.status, experiment.active, experiment.in_progress) == ("cancelled", False, True)
    assert pending_sentence(experiment) == "Cancelling after the current step …"
    allowed.set()
    until(lambda: not experiment.in_progress)
    assert pending_sentence(experiment) == ""


# --- the memory of all together


@pytest.fixture
def used_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The bytes that are reserved, of which there are 100 for the test."""
    gc.collect()
    before = sum(other.n_bytes for other in memory_budget.memory_users())
    monkeypatch.setattr(memory_budget, "settings", lambda: Settings(max_own_weights=before + 100))
    return lambda: sum(other.n_bytes for other in memory_budget.memory_users()) - before


ENDS: dict[str, Callable[[Count, SessionExperiments], object]] = {
    "fail": lambda count, _: setattr(count, "n", -1),
    "finish": lambda count, _: count.gate.release(count.n),
    "cancel": lambda _, experiments: experiments._experiments["training"].job.cancel(),
    "discard": lambda _, experiments: experiments.discard("training"),
    "disconnect": lambda _, experiments: experiments.disconnect(),
    "forget": lambda _, experiments: experiments._experiments.clear(),
}


@pytest.mark.parametrize(("end", "paused"), [*((end, False) for end in ENDS), *((end, True) for end in list(ENDS)[2:])])
def test_an_experiment_releases_its_memory_however_it_ends(
    end: str, paused: bool, used_memory: Callable[[], int]
) -> None:
    experiments, count = SessionExperiments(), Count(9, free=False)
    job = start(experiments, count, n_bytes=60).job
    if paused:
        job.pause()
    assert (job.status, used_memory()) == ("paused" if paused else "running", 60)
    ENDS[end](count, experiments)
    until(lambda: used_memory() == 0)


@pytest.mark.parametrize(("end", "calls"), [("discard", []), ("cancel", ["cancelled"]), ("disconnect", ["cancelled"])])
def test_nothing_comes_of_a_discarded_experiment(end: str, calls: list[JobStatus]) -> None:
    experiments, count, ends = SessionExperiments(), Count(9, free=False), list[tuple[Count, JobStatus]]()
    experiments.discard("training")  # there is none yet
    start(experiments, count, ends=ends)
    ENDS[end](count, experiments)
    until(lambda: not job_threads())
    assert (experiments.get("training") is None) == (end == "discard")
    assert [status for _, status in ends] == calls


def test_an_experiment_without_memory_is_refused_and_lets_others_run(used_memory: Callable[[], int]) -> None:
    sessions = [SessionExperiments() for _ in range(3)]
    start(sessions[0], Count(9, free=False), n_bytes=60).job.pause()
    refused = start(sessions[1], Count(9, free=False), n_bytes=41)
    until(lambda: refused.job.status == "failed")
    assert refused.job.error.startswith("This server holds as many visitors' weights as it can right now; ")
    assert (refused.computation, used_memory()) == (None, 60)
    start(sessions[2], Count(9, free=False), n_bytes=40)
    assert used_memory() == 100
    for session in sessions:
        session.disconnect()
    until(lambda: used_memory() == 0)


def test_a_reservation_is_replaced_by_the_result(used_memory: Callable[[], int]) -> None:
    reservation, result, too_large = MemoryReservation(90), MemoryReservation(20), MemoryReservation(101)
    memory_budget.reserve(reservation)
    with pytest.raises(WeightsError):
        memory_budget.reserve(result)
    memory_budget.reserve(result, replacing=reservation)
    assert used_memory() == 20
    with pytest.raises(WeightsError):
        memory_budget.reserve(too_large, replacing=result)
    memory_budget.release(reservation)
    assert used_memory() == 20
    memory_budget.release(result)
    assert used_memory() == 0


# --- sentences


@pytest.mark.parametrize(
    ("status", "computation", "ended", "sentence"),
    [
        ("waiting", None, False, "Waiting for a seat: 2nd in the queue. It starts by itself, on any page."),
        ("waiting", Count(1), False, "Waiting for a seat: 2nd in the queue. It continues by itself, on any page."),
        ("running", None, False, "Getting ready."),
        ("paused", None, False, "Paused before the first step."),
        ("cancelled", None, True, "Cancelled before the first step."),
        ("running", Count(1), False, ""),
        ("failed", None, True, ""),
    ],
)
def test_what_is_said_while_there_is_nothing_to_show(
    status: str, computation: Count | None, ended: bool, sentence: str
) -> None:
    job = SimpleNamespace(status=status, position=2, ended=ended)
    experiment: Any = SimpleNamespace(job=job, computation=computation, cancelling=False, disconnected=False)
    assert pending_sentence(experiment) == sentence


def test_a_place_in_the_queue() -> None:
    places = {1: "next", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"}
    assert {n: ordinal(n) for n in places} == places


# --- in a session


def script() -> None:
    """A page that follows its experiment."""
    from typing import Any

    import streamlit as st

    from playground.web.session.experiments import Experiment, session_experiments
    from playground.web.shared import experiment_buttons

    def view(experiment: Experiment[Any]) -> None:
        st.text(experiment.job.status)

    experiment_buttons.follow(view, "training")
    if session_experiments().get("training") is None:
        st.text("nothing")


def shown_status(app: AppTest | None = None) -> str:
    """What the page shows when it is drawn again; without an app, in a new tab."""
    (text,) = working((app or AppTest.from_function(script, default_timeout=20)).run()).text
    return str(text.value)


def in_session(action: Callable[[], object]) -> None:
    """Do something as a page's script does it."""

    def scripted() -> None:
        import streamlit as st

        st.session_state["action"]()

    runner = AppTest.from_function(scripted, default_timeout=20)
    runner.session_state["action"] = action
    working(runner.run())


def start_in_session(count: Count) -> None:
    in_session(lambda: session_experiments().start("training", creator(count)))
    until(lambda: count.thread is not None)


def test_a_page_finds_its_experiment_again() -> None:
    app, count = AppTest.from_function(script, default_timeout=20), Count(2, free=False)
    assert shown_status(app) == "nothing"
    start_in_session(count)
    assert [shown_status(app), shown_status()] == ["running", "running"]
    count.gate.release(2)
    until(lambda: not job_threads())
    assert shown_status(app) == "finished"


def test_a_broken_connection_ends_an_experiment_which_is_found_again() -> None:
    app = AppTest.from_function(script, default_timeout=20).run()
    for _ in range(2):  # who comes back starts another one
        count = Count(10**9)
        start_in_session(count)
        assert shown_status(app) == "running"
        clear_session_resource_cache(SESSION)  # as the server does when a tab is closed, or its connection broke
        until(lambda: not job_threads())
        assert count.done < 10**9
        assert shown_status(app) == "cancelled"
    experiment = app.session_state[EXPERIMENTS].get("training")
    assert experiment.disconnected
    assert cancelled_clause(experiment) == "The connection to your browser broke, and the run was cancelled"


def test_a_broken_connection_changes_nothing_of_what_has_ended() -> None:
    experiments = SessionExperiments()
    experiment = start(experiments, Count(9, free=False))
    experiment.job.cancel()
    experiments.disconnect()
    assert (experiment.disconnected, cancelled_clause(experiment)) == (False, "Cancelled")
