"""A run in workers goes on when some are lost, leaves them when it pauses, and ends with what one machine computes."""

import pickle
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from playground.errors import ClusterError, ConfigError
from playground.jobs import JobStatus, PortableRequest, cluster
from playground.jobs.cluster import MAX_LOSSES, ClusterQueue, ClusterRun, Report, RunWorker, _Part
from playground.jobs.job import ResumableComputation


@dataclass(frozen=True)
class Sum:
    """The state: how many numbers were added, and what they make."""

    n: int
    done: int = 0
    total: int = 0
    kept: bool = False
    array: Any = None
    """One that stays the same."""
    n_bytes = 8

    @property
    def progress(self) -> float:
        return self.done / self.n


class Adding(ResumableComputation[Sum]):
    """Adds 0, 1, 2, …, step by step."""

    def __init__(self, state: Sum, fails: BaseException | None = None) -> None:
        self._state, self.fails = state, fails

    @property
    def state(self) -> Sum:
        return self._state

    def run(self) -> Generator[int]:
        while self._state.done < self._state.n:
            if self.fails:
                raise self.fails
            self._state = replace(self._state, done=self._state.done + 1, total=self._state.total + self._state.done)
            yield self._state.done

    def checkpoint(self) -> Sum:
        return self._state

    def restore(self, checkpoint: Sum) -> None:
        self._state = checkpoint

    def freeze(self, status: JobStatus) -> Sum:
        return replace(self._state, kept=True)

    def close(self, status: JobStatus) -> None:
        self._state = self.freeze(status)


@dataclass(frozen=True)
class Request(PortableRequest[Sum]):
    """To add n numbers, several times."""

    n: int = 6
    n_parts: int = 1
    fails: BaseException | None = None

    @property
    def parts(self) -> list["Request"]:
        return [replace(self, n_parts=1)] * self.n_parts

    def build(self) -> Adding:
        return Adding(Sum(self.n, array=self.data), self.fails)

    def join(self, states: Any) -> Sum | None:
        begun = [state for state in states if state is not None]
        if not begun:
            return None
        done, total = (sum(getattr(state, name) for state in begun) for name in ("done", "total"))
        return Sum(self.n * self.n_parts, done, total, all(state.kept for state in begun))


class Machines(ClusterQueue):
    """Workers in this process, each of which may be lost."""

    def __init__(self, room: int = 1) -> None:
        super().__init__("none", cpus=1, gpus=0, max_running=1)
        self.room = room
        self.alive: list[RunWorker] = []
        self.most = self.n_started = 0
        self.begun_at: list[int] = []
        self.is_cursed = False

    def has_room(self) -> bool:
        return len(self.alive) < self.room

    def start(self, request: PortableRequest[Any], checkpoint: Any) -> RunWorker:
        worker = RunWorker(request, checkpoint)
        self.alive.append(worker)
        self.begun_at.append(0 if checkpoint is None else checkpoint.done)
        self.most, self.n_started = max(self.most, len(self.alive)), self.n_started + 1
        return worker

    def stop(self, worker: RunWorker) -> None:
        if worker in self.alive:
            self.alive.remove(worker)

    def call(self, worker: RunWorker, method: str, *arguments: Any) -> Any:
        return worker, method, arguments

    def wait(self, pending: list[Any], timeout: float) -> list[Any]:
        assert timeout > 0
        return pending[:1]

    def answer(self, pending: Any) -> Any:
        worker, method, arguments = pending
        return None if self.is_cursed or worker not in self.alive else getattr(worker, method)(*arguments)


@pytest.fixture(autouse=True)
def one_step_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice is one step, and after every other step there is a checkpoint."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(cluster, "SLICE", 1.5)
    monkeypatch.setattr(cluster, "CHECKPOINT_EVERY", 5)
    monkeypatch.setattr(cluster, "SHARE", 0)
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))


def started(run: ClusterRun[Sum], n: int) -> Generator[None]:
    steps = run.run()
    for _ in range(n):
        next(steps)
    return steps


def finish(run: ClusterRun[Sum], steps: Generator[None]) -> Sum:
    for _ in steps:
        pass
    run.close("finished")
    return state_of(run)


def state_of(run: ClusterRun[Sum]) -> Sum:
    assert run.state is not None
    return run.state


@pytest.mark.parametrize(("n_parts", "room", "most"), [(1, 3, 1), (4, 1, 1), (4, 3, 3), (2, 8, 2)])
def test_parts_are_computed_side_by_side_where_there_is_room(n_parts: int, room: int, most: int) -> None:
    machines = Machines(room)
    run = ClusterRun(Request(n_parts=n_parts), machines)
    assert (run.state, run.progress, run.n_bytes) == (None, 0.0, 0)
    assert finish(run, run.run()) == Sum(6 * n_parts, 6 * n_parts, 15 * n_parts, kept=True)
    assert (run.progress, machines.most, machines.n_started, machines.alive) == (1.0, most, n_parts, [])


@pytest.mark.parametrize("when", [1, 3, 5])
def test_a_part_whose_worker_is_lost_goes_on_from_its_last_checkpoint(when: int) -> None:
    machines = Machines()
    run = ClusterRun(Request(n=12), machines)
    steps = started(run, when)
    machines.alive.clear()
    seen = [state_of(run).done, *(state_of(run).done for _ in steps)]
    run.close("finished")
    assert run.state == Sum(12, 12, 66, kept=True)
    assert seen == sorted(seen), "what was shown is never taken back"
    assert machines.n_started == 2
    assert 0 <= machines.begun_at[1] <= when
    assert when < 5 or machines.begun_at[1] > 0


def test_a_run_that_loses_its_workers_again_and_again_says_so() -> None:
    machines = Machines()
    run = ClusterRun(Request(), machines)
    steps = started(run, 1)
    machines.alive.clear()
    machines.is_cursed = True
    with pytest.raises(ClusterError, match="lost the machine"):
        finish(run, steps)
    run.close("failed")
    assert machines.n_started == MAX_LOSSES + 1


@pytest.mark.parametrize("lost", [False, True])
def test_a_paused_run_has_no_workers_and_goes_on_where_it_was(lost: bool) -> None:
    machines = Machines(2)
    run = ClusterRun(Request(n_parts=2), machines)
    steps = started(run, 4)
    before = state_of(run)
    if lost:
        machines.alive.clear()
    run.suspend()
    run.suspend()
    assert (machines.alive, run.state) == ([], before)
    assert finish(run, steps).total == 30
    assert machines.n_started == 4
    assert lost or sum(machines.begun_at[2:]) == before.done


@pytest.mark.parametrize("how", ["running", "paused", "lost"])
def test_whoever_cancels_keeps_what_was_reached(how: str) -> None:
    machines = Machines()
    run = ClusterRun(Request(n=50), machines)
    started(run, 6)
    presses: dict[str, Callable[[], object]] = {
        "running": lambda: None, "paused": run.suspend, "lost": machines.alive.clear
    }  # fmt: skip
    presses[how]()
    picture, kept = run.freeze("paused"), run.freeze("cancelled")
    assert picture is not None
    assert kept is not None
    assert (picture.kept, kept.kept) == (False, True)
    assert (0 < kept.done <= 6) if how == "lost" else kept.done == picture.done == 6
    run.close("cancelled")
    assert (run.state, machines.alive) == (kept, [])


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigError("n_heads", 3, "does not divide d_model=8", (2, 4)), "n_heads=3 does not divide d_model=8"),
        (MemoryError(), "too little memory"),
        (KeyError("secret"), "Something went wrong"),
    ],
)
def test_an_error_in_a_worker_is_one_sentence_here(error: Exception, sentence: str) -> None:
    machines = Machines()
    run = ClusterRun(Request(fails=error), machines)
    with pytest.raises(ClusterError, match=sentence):
        next(run.run())
    run.close("failed")
    assert (run.state, machines.alive) == (None, [])


def test_a_state_travels_without_the_arrays_that_its_worker_has_sent() -> None:
    array = np.arange(1000.0)
    array.flags.writeable = False
    sender, reports, part = RunWorker(Request(data={"first": array, "again": array})), list[Report](), _Part(Request())
    while not reports or not reports[-1].done:
        reports.append(sender.advance())
        run = ClusterRun(Request(), Mock(answer=Mock(return_value=reports[-1])))
        run._take_report(part, None)
    assert [[sent is not None for _, sent in report.arrays] for report in reports] == [[True], *[[False]] * 6]
    assert all(len(report.state) < 1000 for report in reports)
    assert all((part.state.array[name] == array).all() for name in ("first", "again"))
    assert not part.state.array["first"].flags.writeable


def test_a_request_travels_without_what_is_there_already() -> None:
    assert pickle.loads(pickle.dumps(Request(n=3, data={}, threads=3))) == Request(n=3, threads=3)
