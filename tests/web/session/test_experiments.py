"""Experiments of a session: one at a time, each with the memory that it takes."""

import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from playground.jobs import JobStatus
from playground.web.session.experiments import Experiment, join_experiment, training_bytes
from playground.web.session.own_models import SessionExperiments
from playground.web.session.services import MemoryBudget, MemoryReservation, other_services, services
from tests.waiting import running_jobs, until
from tests.web.experiment_pages import recipe, run

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


class Count:
    """A request, its computation and its state in one: some steps, which do nothing until they are let go."""

    n_bytes = 0

    def __init__(self, n: int, free: bool = True) -> None:
        self.n, self.done = n, 0
        self.gate = threading.Semaphore(10**6 if free else 0)
        self.begun = threading.Event()
        self.result = MemoryReservation(50)

    def build(self) -> Any:
        return self

    @property
    def state(self) -> "Count":
        return self

    @property
    def progress(self) -> float:
        return self.done / self.n

    def close(self, _status: JobStatus) -> None:
        pass

    def run(self) -> Generator[int]:
        self.begun.set()
        while self.done < self.n:
            self.done += self.gate.acquire(timeout=0.02)
            yield self.done
        if self.n < 0:
            raise KeyError("x")


def start(
    experiments: SessionExperiments, count: Any, page: str = "training", n_bytes: int = 0, ends: list[Any] | None = None
) -> Experiment[Any]:
    """Start an experiment, which adds how it ended to `ends`, and wait until it runs."""

    def on_end(_state: object, status: JobStatus) -> None:
        if ends is not None:
            ends.append(status)

    experiments.start(page, lambda: join_experiment(("inputs", count.n), count, on_end, n_bytes=n_bytes, key=object()))
    experiment = experiments.get(page)
    assert experiment is not None
    until(lambda: count.begun.is_set() or experiment.ended)
    return experiment


def test_one_experiment_at_a_time_in_a_session() -> None:
    experiments = SessionExperiments()
    first = start(experiments, Count(9, free=False))
    assert (first.active, not first.ended, experiments.active_page()) == (True, True, "training")
    for page in ("regularisers", "training"):
        experiments.start(page, lambda: join_experiment("x", Count(1), n_bytes=0, key="x"))  # type: ignore[arg-type]
    assert (experiments.get("training"), experiments.get("regularisers")) == (first, None)
    first.stop()
    assert experiments.active_page() is None
    second = start(experiments, Count(1), page="regularisers")
    until(lambda: second.status == "finished")
    assert experiments.get("training") is first


# --- the memory of all together


@pytest.fixture
def memory() -> Iterator[MemoryBudget]:
    """100 bytes for the test, of which nobody has any."""
    with other_services(memory=MemoryBudget(100, services().pool.forget_results)) as here:
        yield here.memory


ENDS: dict[str, Callable[[Count, SessionExperiments], object]] = {
    "fail": lambda count, _: setattr(count, "n", -1),
    "finish": lambda count, _: count.gate.release(count.n),
    "stop": lambda _, experiments: experiments._experiments["training"].stop(),
    "discard": lambda _, experiments: experiments.discard("training"),
    "disconnect": lambda _, experiments: experiments.disconnect(),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_experiment_releases_its_memory_however_it_ends(end: str, memory: MemoryBudget) -> None:
    experiments, count, ends = SessionExperiments(), Count(9, free=False), list[JobStatus]()
    experiments.discard("training")  # there is none yet
    start(experiments, count, n_bytes=60, ends=ends)
    assert memory.n_bytes == 60
    ENDS[end](count, experiments)
    until(lambda: memory.n_bytes == 0 and not running_jobs())
    assert ends == {"fail": ["failed"], "finish": ["finished"], "discard": []}.get(end, ["cancelled"])
    assert (experiments.get("training") is None) == (end == "discard")


def test_an_experiment_without_memory_is_refused_and_lets_others_run(memory: MemoryBudget) -> None:
    held = MemoryReservation(60)
    memory.reserve(held)
    refused = start(SessionExperiments(), Count(9, free=False), n_bytes=41)
    until(lambda: refused.status == "failed")
    assert refused.error.startswith("This server holds as many visitors' weights as it can right now; ")
    assert (refused.state, memory.n_bytes) == (None, 60)
    session = SessionExperiments()
    start(session, Count(9, free=False), n_bytes=40)
    assert memory.n_bytes == 100
    session.disconnect()
    until(lambda: memory.n_bytes == 60)


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_a_run_counts_all_that_it_holds(task: Any) -> None:
    trainer = run(recipe(task=task, distill=0.5))
    assert trainer.teacher is not None
    networks = (trainer.network, trainer.teacher.network)
    n = sum(parameter.numel() for network in networks for parameter in network.parameters())
    examples = (trainer.data.train, trainer.data.validation)
    n_data = sum(part.nbytes for each in examples for part in vars(each).values() if part is not None)
    assert training_bytes(trainer.config, trainer.recipe, trainer.data) == 6 * 4 * n + n_data
