"""A run in workers ends with what one machine computes; an error or a lost worker there is one sentence here."""

import pickle
import threading
from collections.abc import Generator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from playground.errors import ClusterError, ConfigError
from playground.jobs import Request, cluster
from playground.jobs.cluster import LOST, ClusterPool, ClusterRun, RunWorker
from tests.jobs.test_pool import Count, Counting


def counting(n: int = 6, fails: BaseException | None = None) -> Request[Count]:
    return Request(Counting, (n, threading.Semaphore(10**6), fails))


class Machines(ClusterPool):
    """Workers in this process, which may all be lost."""

    def __init__(self) -> None:
        super().__init__("none")
        self.alive: list[RunWorker] = []
        self.are_lost = False

    def start(self, request: Request[Any]) -> Any:
        worker = RunWorker(request)
        self.alive.append(worker)
        calls = {name: SimpleNamespace(remote=getattr(worker, name).__call__) for name in ("advance", "stop")}
        later = {name: SimpleNamespace(remote=lambda call=each.remote: (call,)) for name, each in calls.items()}
        return SimpleNamespace(worker=worker, **later)

    def stop(self, worker: Any) -> None:
        if worker.worker in self.alive:
            self.alive.remove(worker.worker)

    def is_answered(self, pending: Any) -> bool:
        return True

    def answer(self, pending: Any) -> Any:
        if self.are_lost:
            raise ClusterError(LOST)
        return pending[0]()


@pytest.fixture(autouse=True)
def one_step_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice is one step."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(cluster, "SLICE", 1.5)
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))


def started(run: ClusterRun[Count], n: int) -> Generator[None]:
    steps = run.run()
    for _ in range(n):
        next(steps)
    return steps


def test_it_is_computed_and_its_worker_ends() -> None:
    machines = Machines()
    run = ClusterRun(counting(), machines)
    assert (run.state, len(machines.alive)) == (None, 1)
    for _ in run.run():
        pass
    run.close("finished")
    assert run.state == Count(6, 6, "finished")
    assert machines.alive == []


@pytest.mark.parametrize("are_lost", [False, True])
def test_whoever_stops_keeps_what_was_reached(are_lost: bool) -> None:
    machines = Machines()
    run = ClusterRun(counting(n=50), machines)
    started(run, 6)
    machines.are_lost = are_lost
    run.close("cancelled")
    assert run.state == Count(6, 50, "running" if are_lost else "cancelled")
    assert machines.alive == []


def test_a_run_that_loses_its_workers_for_good_says_so() -> None:
    machines = Machines()
    steps = started(ClusterRun(counting(), machines), 1)
    machines.are_lost = True
    with pytest.raises(ClusterError, match="lost this run's machine"):
        next(steps)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigError("n_heads", 3, "does not divide d_model=8", (2, 4)), "n_heads=3 does not divide d_model=8"),
        (MemoryError(), "too little memory"),
        (KeyError("secret"), "Something went wrong"),
    ],
)
def test_an_error_in_a_worker_is_one_sentence_here(error: Exception, sentence: str) -> None:
    run = ClusterRun(counting(fails=error), Machines())
    with pytest.raises(ClusterError, match=sentence):
        next(run.run())


def test_a_request_travels_without_what_is_there_already() -> None:
    asked = Request(Counting, (6,), threads=3)
    assert pickle.loads(pickle.dumps(replace(asked, data={}))) == asked
