"""Equal jobs are computed once, for everybody who asks; whoever stops leaves, and the last one ends the job."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from playground.errors import ConfigError
from playground.jobs import NICENESS, Computation, JobHandle, JobPool, JobStatus, Request
from tests.waiting import until


@dataclass(frozen=True)
class Count:
    """The state: how many steps of how many are done."""

    done: int
    n: int
    status: JobStatus = "running"
    n_bytes = 10

    @property
    def progress(self) -> float:
        return self.done / self.n


class Counting(Computation[Count]):
    """Some steps, each of which waits until the test allows it."""

    def __init__(self, n: int, gate: threading.Semaphore, fails: BaseException | None, device: str = "cpu") -> None:
        self._state, self._gate, self._fails = Count(0, n), gate, fails

    @property
    def state(self) -> Count:
        return self._state

    def run(self) -> Generator[None]:
        while self._state.done < self._state.n:
            if self._fails is not None:
                raise self._fails
            if self._gate.acquire(timeout=0.02):
                self._state = Count(self._state.done + 1, self._state.n)
            yield

    def close(self, status: JobStatus) -> None:
        self._state = Count(self._state.done, self._state.n, status)


class Broken(Counting):
    """One that cannot be closed."""

    def close(self, status: JobStatus) -> None:
        raise MemoryError


class Steps(Request[Count]):
    """To count to n; free to run, or one step for each that is allowed."""

    def __init__(self, n: int = 3, *, free: bool = True, fails: BaseException | None = None) -> None:
        super().__init__(Counting, ())
        self.__dict__ |= {"n": n, "gate": threading.Semaphore(10**6 if free else 0), "fails": fails, "thread": None}

    def build(self) -> Counting:
        self.__dict__["thread"] = threading.current_thread()
        self.__dict__["priority"] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        return Counting(self.n, self.gate, self.fails)  # type: ignore[attr-defined]

    def allow(self, n: int = 1) -> None:
        self.gate.release(n)  # type: ignore[attr-defined]


@pytest.fixture
def pool() -> Iterator[JobPool]:
    """One job at a time, and three results of ten bytes."""
    own = JobPool(1, max_results=3, max_bytes=30)
    yield own
    own.close()


class Visitors:
    """Those who ask for the job of one key, and what each was given in the end."""

    def __init__(self, pool: JobPool, request: Steps, key: object = "key", **options: Any) -> None:
        self.pool, self.request, self.key, self.options = pool, request, key, options
        self.given: list[tuple[int, Count, JobStatus]] = []

    def join(self, number: int = 0) -> JobHandle[Count]:
        def keep(state: Count, status: JobStatus) -> None:
            self.given.append((number, state, status))

        return self.pool.join(self.key, self.request, keep, **self.options)


def ended(*handles: JobHandle[Count]) -> None:
    until(lambda: all(handle.ended for handle in handles))


def test_who_asks_for_the_same_joins_it_and_everybody_gets_the_one_result(pool: JobPool) -> None:
    visitors = Visitors(pool, Steps(free=False))
    first, second = visitors.join(1), visitors.join(2)
    until(lambda: first.status == "running")
    assert first.job is second.job
    assert (first.others, second.others) == (1, 1)
    visitors.request.allow(2)
    until(lambda: second.progress == pytest.approx(2 / 3))
    visitors.request.allow()
    ended(first, second)
    done = Count(3, 3, "finished")
    assert visitors.given == [(1, done, "finished"), (2, done, "finished")]
    assert (first.status, first.others, first.state) == ("finished", 0, done)
    assert first.seconds > 0
    late = visitors.join(3)
    assert (late.state, visitors.given[-1]) == (done, (3, done, "finished"))


def test_jobs_run_in_order_in_a_thread_of_lower_priority_and_the_position_counts_those_who_wait(
    pool: JobPool,
) -> None:
    requests = [Steps(free=False) for _ in range(3)]
    handles = [pool.join(number, request) for number, request in enumerate(requests)]
    until(lambda: handles[0].status == "running")
    assert [handle.position for handle in handles] == [0, 1, 2]
    assert [handle.status for handle in handles[1:]] == ["waiting", "waiting"]
    handles[1].stop()
    assert (handles[1].status, handles[1].state, handles[2].position) == ("cancelled", None, 1)
    for request in requests:
        request.allow(3)
    ended(*handles)
    assert [handle.status for handle in handles] == ["finished", "cancelled", "finished"]
    assert requests[2].__dict__["thread"] is not threading.main_thread()
    if sys.platform == "linux":
        own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        assert requests[2].__dict__["priority"] == min(own + NICENESS, 19)


def test_the_last_who_stops_ends_the_job_and_who_asks_then_begins_anew(pool: JobPool) -> None:
    visitors = Visitors(pool, Steps(9, free=False))
    first, second = visitors.join(1), visitors.join(2)
    visitors.request.allow(2)
    until(lambda: first.state == Count(2, 9))
    first.stop()
    assert (first.status, first.ended, first.state, first.left) == ("cancelled", True, Count(2, 9), True)
    visitors.request.allow()
    until(lambda: second.state == Count(3, 9))
    assert (second.status, second.others, first.state) == ("running", 0, Count(2, 9))
    second.stop()
    assert (second.status, second.state) == ("cancelled", Count(3, 9, "cancelled"))
    assert visitors.given == [(2, Count(3, 9, "cancelled"), "cancelled")]
    third = visitors.join(3)
    assert third.job is not second.job


def test_a_job_in_a_slow_step_is_stopped_but_has_not_ended_and_what_is_discarded_is_given_to_nobody(
    pool: JobPool,
) -> None:
    begun, allowed = threading.Event(), threading.Event()

    class Slow(Steps):
        def build(self) -> Counting:
            begun.set()
            assert allowed.wait(10)
            return super().build()

    visitors = Visitors(pool, Slow(free=False))
    handle = visitors.join()
    assert begun.wait(5)
    handle.stop(timeout=0)
    assert (handle.status, handle.ended) == ("cancelled", False)
    again = visitors.join()
    again.discard()
    allowed.set()
    ended(handle, again)
    assert [status for _, _, status in visitors.given] == ["cancelled"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(MemoryError(), "too little memory"), (KeyError("secret"), "Something went wrong"),
     (ConfigError("n_heads", 3, "does not divide d_model=8", (2, 4)), "does not divide")],
)  # fmt: skip
def test_a_failure_is_one_sentence_for_everybody_and_lets_others_run(
    error: Exception, sentence: str, pool: JobPool
) -> None:
    handle = pool.join("key", Steps(fails=error))
    ended(handle)
    assert (handle.status, handle.state) == ("failed", Count(0, 3, "failed"))
    assert sentence in handle.error
    following = pool.join("key", Steps())
    ended(following)
    assert following.status == "finished"


@pytest.mark.parametrize(("max_results", "max_bytes", "kept"), [(2, 100, [0, 3]), (9, 20, [0, 3]), (9, 9, [])])
def test_kept_results_are_bounded_and_the_one_used_longest_ago_goes_first(
    max_results: int, max_bytes: int, kept: list[int]
) -> None:
    pool = JobPool(1, max_results, max_bytes)
    for key in (0, 1, 0, 2, 0, 3):
        ended(pool.join(key, Steps(1)))
    assert [key for key in range(4) if key in pool._jobs] == kept
    ended(pool.join("own", Steps(1), keep=False))
    assert "own" not in pool._jobs
    pool.forget_results()
    assert not pool._jobs


def test_what_surrounds_a_job_is_called_where_it_runs_and_may_refuse_it(pool: JobPool) -> None:
    calls: list[object] = []
    handle = pool.join(
        "key", Steps(1), lambda state, status: calls.append("end"), on_start=lambda: calls.append("start"),
        on_over=calls.append,
    )  # fmt: skip
    ended(handle)
    assert calls == ["start", Count(1, 1, "finished"), "end"]

    calls.clear()
    broken = Steps(1)
    broken.__dict__["build"] = lambda: Broken(1, broken.gate, None)  # type: ignore[attr-defined]
    failed = pool.join("broken", broken, on_over=calls.append)
    ended(failed)
    assert (failed.status, calls) == ("failed", [Count(1, 1)])


@pytest.mark.long
def test_python_shuts_down_in_the_middle_of_a_step(repository: Path) -> None:
    """A thread inside torch while Python ends would abort the process."""
    program = """
import time, torch
from playground.jobs import JobPool, Request
class Endless(Request):
    state = None
    def build(self):
        return self
    def run(self):
        numbers = torch.ones(600, 600)
        while True:
            numbers @ numbers
            yield
    def close(self, status):
        pass
pool = JobPool(1)
job, waiting = pool.join("one", Endless(None, ())), pool.join("another", Endless(None, ()))
while job.seconds < 0.1:
    time.sleep(0.01)
pool.close()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
