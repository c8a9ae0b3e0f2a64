"""Experiments of a session, here and on a cluster."""

import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Self

import pytest
import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from playground.errors import BusyError, ClusterError, WeightsError
from playground.jobs import JobStatus
from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from playground.web.session import experiments
from playground.web.session.experiments import (
    Experiment,
    SessionExperiments,
    compute_on_cluster,
    training_bytes,
    validation_data,
)
from playground.web.session.memory_budget import MemoryBudget, MemoryReservation
from playground.web.session.services import other_services, services
from playground.web.shared.experiment_buttons import pending_sentence
from tests.waiting import running_jobs, until
from tests.web.experiment_pages import TEXT, recipe, run

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


class Count:
    """A computation of some steps, which does nothing until it is let go."""

    def __init__(self, n: int, free: bool = True) -> None:
        self.n, self.done = n, 0
        self.gate = threading.Semaphore(10**6 if free else 0)
        self.thread: threading.Thread | None = None

    def build(self) -> Self:
        return self

    @property
    def state(self) -> Self:
        return self

    @property
    def progress(self) -> float:
        return self.done / self.n

    @property
    def n_bytes(self) -> int:
        return 0

    def freeze(self, _status: JobStatus) -> Self:
        return self

    def suspend(self) -> None:
        pass

    def close(self, _status: JobStatus) -> None:
        pass

    def run(self) -> Generator[int]:
        self.thread = threading.current_thread()
        while self.done < self.n:
            self.done += self.gate.acquire(timeout=0.02)
            yield self.done
        if self.n < 0:
            raise KeyError("x")


def creator(count: Count, n_bytes: int = 0, ends: list[Any] | None = None) -> Callable[[], Experiment[Count]]:
    """Makes an experiment, which adds what it computed and its status to `ends`."""

    def on_end(state: Count, status: JobStatus) -> str:
        if ends is not None:
            ends.append((state, status))
        return ""

    return lambda: Experiment(("inputs", count.n), count, on_end, MemoryReservation(n_bytes))


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
    assert (experiment.state, experiment.inputs) == (count, ("inputs", 3))
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
        def run(self) -> Generator[int]:
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
def memory() -> Iterator[MemoryBudget]:
    """100 bytes for the test, of which nobody has any."""
    with other_services(memory=MemoryBudget(100, [services().runs.forget_results])) as here:
        yield here.memory


ENDS: dict[str, Callable[[Count, SessionExperiments], object]] = {
    "fail": lambda count, _: setattr(count, "n", -1),
    "finish": lambda count, _: count.gate.release(count.n),
    "cancel": lambda _, experiments: experiments._experiments["training"].job.cancel(),
    "discard": lambda _, experiments: experiments.discard("training"),
    "disconnect": lambda _, experiments: experiments.disconnect(),
    "forget": lambda _, experiments: experiments._experiments.clear(),
}


@pytest.mark.parametrize(("end", "paused"), [*((end, False) for end in ENDS), *((end, True) for end in list(ENDS)[2:])])
def test_an_experiment_releases_its_memory_however_it_ends(end: str, paused: bool, memory: MemoryBudget) -> None:
    experiments, count = SessionExperiments(), Count(9, free=False)
    job = start(experiments, count, n_bytes=60).job.run.job  # whoever held the visitor's own would keep it alive
    if paused:
        job.pause()
    assert (job.status, memory.n_bytes) == ("paused" if paused else "running", 60)
    ENDS[end](count, experiments)
    until(lambda: memory.n_bytes == 0)


@pytest.mark.parametrize(("end", "calls"), [("discard", []), ("cancel", ["cancelled"]), ("disconnect", ["cancelled"])])
def test_nothing_comes_of_a_discarded_experiment(end: str, calls: list[JobStatus]) -> None:
    experiments, count, ends = SessionExperiments(), Count(9, free=False), list[tuple[Count, JobStatus]]()
    experiments.discard("training")  # there is none yet
    start(experiments, count, ends=ends)
    ENDS[end](count, experiments)
    until(lambda: not running_jobs())
    assert (experiments.get("training") is None) == (end == "discard")
    assert [status for _, status in ends] == calls


def test_an_experiment_without_memory_is_refused_and_lets_others_run(memory: MemoryBudget) -> None:
    sessions = [SessionExperiments() for _ in range(3)]
    start(sessions[0], Count(9, free=False), n_bytes=60).job.pause()
    refused = start(sessions[1], Count(9, free=False), n_bytes=41)
    until(lambda: refused.job.status == "failed")
    assert refused.job.error.startswith("This server holds as many visitors' weights as it can right now; ")
    assert (refused.state, memory.n_bytes) == (None, 60)
    start(sessions[2], Count(9, free=False), n_bytes=40)
    assert memory.n_bytes == 100
    for session in sessions:
        session.disconnect()
    until(lambda: memory.n_bytes == 0)


def test_a_shared_result_counts_once_and_gives_way_where_nobody_holds_it(memory: MemoryBudget) -> None:
    class Network(Count):
        def close(self, _status: JobStatus) -> None:
            self.result = MemoryReservation(50)

    def train() -> Experiment[Network]:
        kept: Callable[[Network], MemoryReservation] = attrgetter("result")
        return Experiment("inputs", Network(1), reservation=MemoryReservation(60), key="one", kept=kept)

    needed = MemoryReservation(60)
    for held in (False, True):
        visitors = [train(), train()]
        until(lambda found=visitors: all(each.job.ended for each in found))  # type: ignore[misc]
        assert visitors[0].state is visitors[1].state
        assert memory.n_bytes == 50
        if held:
            with pytest.raises(WeightsError):
                memory.reserve(needed)
            assert memory.n_bytes == 50
        else:
            visitors.clear()
            assert memory.n_bytes == 50
            memory.reserve(needed)
            assert memory.n_bytes == 60
            memory.release(needed)


def test_a_reservation_is_replaced_by_the_result(memory: MemoryBudget) -> None:
    reservation, result, too_large = MemoryReservation(90), MemoryReservation(20), MemoryReservation(101)
    memory.reserve(reservation)
    with pytest.raises(WeightsError):
        memory.reserve(result)
    memory.reserve(result, replacing=reservation)
    assert memory.n_bytes == 20
    with pytest.raises(WeightsError):
        memory.reserve(too_large, replacing=result)
    memory.release(reservation)
    assert memory.n_bytes == 20
    memory.release(result)
    assert memory.n_bytes == 0


def test_a_broken_connection_changes_nothing_of_what_has_ended() -> None:
    experiments = SessionExperiments()
    experiment = start(experiments, Count(9, free=False))
    experiment.job.cancel()
    experiments.disconnect()
    assert not experiment.disconnected


def test_tabs_of_one_browser_are_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's cookie hides its token behind another mask each time."""
    masked = {"_streamlit_xsrf": "", "": ""}
    context = SimpleNamespace(cookies=masked, ip_address="192.0.2.7")
    monkeypatch.setattr(st, "context", context)
    clients = []
    for token in (b"one", b"one", b"two"):
        masked["_streamlit_xsrf"] = generate_xsrf_token_string(token, 1_700_000_000)
        clients.append(experiments.current_client())
    assert clients[0] == clients[1] != clients[2]
    masked["_streamlit_xsrf"] = "2|junk"
    assert experiments.current_client() == "192.0.2.7"


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_a_run_counts_all_that_it_holds(task: Any) -> None:
    trainer = run(recipe(task=task, distill=0.5))
    assert trainer.teacher is not None
    networks = (trainer.network, trainer.teacher.network)
    n = sum(parameter.numel() for network in networks for parameter in network.parameters())
    examples = (trainer.data.train, trainer.data.validation)
    n_data = sum(part.nbytes for each in examples for part in vars(each).values() if part is not None)
    assert training_bytes(trainer.config, trainer.recipe, trainer.data) == 6 * 4 * n + n_data


@pytest.mark.parametrize("task", ["copy", "characters", "masked", "seq2seq-copy"])
def test_questions_are_those_of_the_whole_data(task: Any) -> None:
    asked = Recipe(task=task, text=TEXT * (task in ("characters", "masked")), length=6, n_train=300, n_validation=20)
    whole, few = make_data(asked), validation_data(asked)
    assert (few.labels, few.vocabulary, few.example) == (whole.labels, whole.vocabulary, whole.example)
    for name, part in vars(whole.validation).items():
        theirs = getattr(few.validation, name)
        assert (part is None and theirs is None) or part.equal(theirs)


def test_it_gets_the_last_state() -> None:
    assert compute_on_cluster("three", Count(3)).done == 3


def test_it_says_what_failed() -> None:
    with pytest.raises(ClusterError) as failure:
        compute_on_cluster("failing", Count(-1))
    assert str(failure.value)


def test_it_gives_up_and_so_does_the_run() -> None:
    hurried = replace(services().settings, busy_timeout=0.2)
    with other_services(settings=hurried), pytest.raises(BusyError):
        compute_on_cluster("slow", Count(9, free=False))
    until(lambda: not running_jobs())
