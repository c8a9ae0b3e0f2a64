"""Jobs queue, pause, go on, end and fail in order, whoever presses what when; nothing of them stays behind."""

import gc
import logging
import os
import random
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch

from playground.errors import ConfigError
from playground.jobs import queue as module
from playground.jobs.job import Job, Seats


class Work:
    """Work whose every step waits until the test lets it go, or runs freely from the start."""

    def __init__(self, n: int = 1_000_000, *, free: bool = False) -> None:
        self.n, self.free = n, free
        self.permits = threading.Semaphore(0)
        self.begun = threading.Event()
        self.done = 0
        self.closed = False
        self.niceness: int | None = None

    def __call__(self) -> Iterator[int]:
        self.niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        try:
            for step in range(self.n):
                self.begun.set()
                if not self.free:
                    assert self.permits.acquire(timeout=10)
                self.done = step + 1
                yield step
        finally:
            self.closed = True

    def let(self, n: int = 1) -> None:
        """Let some steps go."""
        for _ in range(n):
            self.permits.release()


def until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.001)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "training"]


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    until(lambda: not threads())
    yield
    gc.collect()
    until(lambda: not threads())


def started(work: Callable[[], Iterator[object]], seats: Seats) -> Job:
    """A job that has been started, and is inside its first step if it has a seat."""
    job = Job(work, seats)
    job.start()
    if isinstance(work, Work) and job.status == "running":
        assert work.begun.wait(5)
    return job


# --- the queue


def test_twenty_jobs_on_one_seat_finish_in_order_one_at_a_time() -> None:
    seats, events = Seats(1), list[tuple[int, str]]()

    def numbered(number: int) -> Callable[[], Iterator[None]]:
        def work() -> Iterator[None]:
            events.append((number, "begins"))
            for _ in range(3):
                time.sleep(0.001)
                yield
            events.append((number, "ends"))

        return work

    first = Work()
    holder = started(first, seats)
    jobs = [started(numbered(number), seats) for number in range(20)]
    assert [job.position for job in jobs] == list(range(1, 21))
    assert {job.status for job in jobs} == {"waiting"}
    holder.cancel(timeout=0)
    first.let()
    until(lambda: all(job.status == "finished" for job in jobs))
    assert events == [(number, what) for number in range(20) for what in ("begins", "ends")]


def test_as_many_run_at_once_as_there_are_seats() -> None:
    seats, works = Seats(3), [Work() for _ in range(5)]
    jobs = [started(work, seats) for work in works]
    assert [job.status for job in jobs] == ["running"] * 3 + ["waiting"] * 2
    assert [job.position for job in jobs] == [0, 0, 0, 1, 2]
    jobs[1].cancel(timeout=0)
    works[1].let()
    until(lambda: jobs[3].status == "running")
    assert jobs[4].position == 1
    for job, work in zip(jobs, works, strict=True):
        job.cancel(timeout=0)
        work.let()


def test_the_position_counts_those_alone_who_still_wait() -> None:
    seats = Seats(1)
    holder, *waiting = (started(Work(free=True), seats) for _ in range(5))
    assert [job.position for job in waiting] == [1, 2, 3, 4]
    waiting[1].cancel()
    assert [job.position for job in waiting] == [1, 0, 2, 3]
    waiting[0].pause()
    assert [job.position for job in waiting] == [0, 0, 1, 2]
    waiting[0].resume()
    assert [job.position for job in waiting] == [3, 0, 1, 2]
    holder.cancel()
    assert [job.position for job in waiting] == [2, 0, 0, 1]
    for job in waiting:
        job.cancel()


def test_one_who_was_cancelled_but_has_not_left_yet_is_not_counted() -> None:
    seats = Seats(1)
    holder, second, third = (started(Work(free=True), seats) for _ in range(3))
    second._worker.cancelled = True  # between its cancelling and its thread's waking
    assert third.position == 1
    holder.cancel()
    assert third.status == "running"
    second.cancel()
    third.cancel()


# --- pausing


def test_a_pause_gives_the_seat_away_and_resuming_queues_again_where_it_was_left() -> None:
    seats, works = Seats(1), [Work(n=4), Work(n=2)]
    first, second = (started(work, seats) for work in works)
    works[0].let(2)
    until(lambda: works[0].done == 2)
    threading.Timer(0.02, works[0].let).start()
    first.pause()
    assert (first.status, second.status) == ("paused", "running")
    assert works[0].done == 3
    first.resume()
    assert (first.status, first.position) == ("waiting", 1)
    works[1].let(2)
    until(lambda: second.status == "finished")
    until(lambda: first.status == "running")
    works[0].let()
    until(lambda: first.status == "finished")
    assert works[0].done == 4


def test_a_pause_waits_for_the_step_at_hand_but_not_for_ever() -> None:
    work = Work()
    job = started(work, Seats(1))
    before = time.monotonic()
    job.pause(timeout=0.02)
    assert 0.02 <= time.monotonic() - before < 2
    assert job.status == "running", "the step is still being done, in its seat"
    work.let()
    until(lambda: job.status == "paused")
    assert work.done == 1
    job.cancel()


def test_a_pause_taken_back_before_it_came_changes_nothing() -> None:
    seats, work = Seats(1), Work()
    job, other = started(work, seats), started(Work(free=True), seats)
    job.pause(timeout=0)
    job.resume()
    work.let(3)
    until(lambda: work.done == 3)
    assert (job.status, other.status) == ("running", "waiting")
    for each in (other, job):
        each.cancel(timeout=0)
    work.let()


def test_what_makes_no_sense_has_no_effect() -> None:
    seats, work = Seats(1), Work(n=3)
    job = Job(work, seats)
    job.pause()
    job.resume()
    assert (job.status, job.position) == ("waiting", 0)
    job.start()
    job.start()
    job.resume()
    assert (job.status, len(threads())) == ("running", 1)
    assert work.begun.wait(5)
    job.pause(timeout=0)
    job.pause(timeout=0)
    work.let()
    until(lambda: job.status == "paused")
    job.pause()
    job.resume()
    job.resume()
    work.let(2)
    until(lambda: job.status == "finished")
    for press in (job.start, job.pause, job.resume, job.cancel, job.cancel):
        press()
        assert (job.status, job.position, job.error, work.done) == ("finished", 0, "", 3)
    after = started(Work(n=1, free=True), seats)
    until(lambda: after.status == "finished")


def test_seconds_count_running_alone() -> None:
    seats, work = Seats(1), Work(free=True)
    job = Job(work, seats)
    assert job.seconds == 0
    job.start()
    until(lambda: job.seconds > 0.05)
    job.pause()
    spent = job.seconds
    time.sleep(0.03)
    assert job.seconds == spent
    other = started(Work(free=True), seats)
    job.resume()
    time.sleep(0.02)
    assert job.seconds == spent, "it waits"
    other.cancel()
    until(lambda: job.seconds > spent)
    job.cancel()
    spent = job.seconds
    time.sleep(0.02)
    assert job.seconds == spent


# --- cancelling


def before_start(_: Seats) -> Job:
    return Job(Work(free=True), Seats(1))


def waiting(seats: Seats) -> Job:
    return started(Work(free=True), seats)


def running(_: Seats) -> Job:
    return started(Work(free=True), Seats(1))


def paused(_: Seats) -> Job:
    job = started(Work(free=True), Seats(1))
    job.pause()
    return job


def paused_while_waiting(seats: Seats) -> Job:
    job = started(Work(free=True), seats)
    job.pause()
    return job


@pytest.mark.parametrize("state", [before_start, waiting, running, paused, paused_while_waiting])
def test_a_job_is_cancelled_at_once_from_any_state(state: Callable[[Seats], Job]) -> None:
    taken = Seats(1)
    holder = started(Work(free=True), taken)
    job = state(taken)
    before = time.monotonic()
    job.cancel()
    assert time.monotonic() - before < 3
    assert (job.status, job.position, job.error, job.ended) == ("cancelled", 0, "", True)
    assert len(threads()) == 1, "the holder's"
    for press in (job.cancel, job.start, job.pause, job.resume):
        press()
    assert job.status == "cancelled"
    assert len(threads()) == 1
    holder.cancel()


def test_cancelling_closes_the_work_in_its_own_thread() -> None:
    closing: list[str] = []

    def work() -> Iterator[None]:
        try:
            while True:
                yield
        finally:
            closing.append(threading.current_thread().name)

    job = started(work, Seats(1))
    until(lambda: job.seconds > 0.01)
    job.cancel()
    assert closing == ["training"]


def test_work_that_is_slow_to_begin_is_cancelled_when_it_has_begun() -> None:
    called, begin, done = threading.Event(), threading.Event(), []

    def work() -> Iterator[None]:
        called.set()
        begin.wait()
        for step in range(3):
            done.append(step)
            yield

    seats = Seats(1)
    job = started(work, seats)
    assert called.wait(5)
    before = time.monotonic()
    job.cancel(timeout=0.02)
    assert time.monotonic() - before < 2
    assert (job.status, job.ended) == ("cancelled", False)
    begin.set()
    until(lambda: job.ended)
    until(lambda: not threads())
    assert done == [0]
    assert started(Work(free=True), seats).status == "running"


def test_work_that_does_its_slow_part_before_it_is_iterated_is_no_different() -> None:
    begin = threading.Event()

    def work() -> Iterator[int]:
        begin.wait()
        return iter([1, 2, 3])

    job = started(work, Seats(1))
    job.cancel(timeout=0)
    begin.set()
    until(lambda: not threads())
    assert job.status == "cancelled"


def test_any_order_of_presses_ends_with_every_seat_free_and_no_thread() -> None:
    dice, seats = random.Random(0), Seats(2)
    jobs = [Job(Work(n=dice.randrange(1, 200), free=True), seats) for _ in range(12)]

    def press_all(_: int) -> None:
        for _ in range(100):
            job = dice.choice(jobs)
            buttons: list[Callable[[], None]] = [job.start, job.start, partial(job.pause, 0), job.resume, job.cancel]
            dice.choice(buttons)()

    hands = [threading.Thread(target=press_all, args=(hand,)) for hand in range(4)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    for job in jobs:
        job.cancel()
    assert {job.status for job in jobs} <= {"finished", "cancelled"}
    assert not threads()
    after = [started(Work(free=True), seats) for _ in range(3)]
    assert [job.status for job in after] == ["running", "running", "waiting"]


# --- the end


def test_the_end_is_told_once_in_the_thread_before_it_shows() -> None:
    told: list[tuple[str, str, str]] = []
    kept: list[Job] = []

    def told_end(status: str) -> None:
        told.append((status, kept[0].status, threading.current_thread().name))
        kept[0].cancel()  # too late, and no deadlock

    for work in (Work(n=2, free=True), Work(free=True), broken(KeyError("x"))):
        kept[:] = [Job(work, Seats(1), told_end)]
        kept[0].start()
        if isinstance(work, Work) and work.n > 2:
            until(lambda: kept[0].seconds > 0.01)
            kept[0].cancel()
        until(lambda: not threads())
    assert told == [
        ("finished", "running", "training"),
        ("cancelled", "cancelled", "training"),
        ("failed", "running", "training"),
    ]
    assert kept[0].status == "failed"


def test_a_job_that_never_started_has_no_end_to_tell() -> None:
    told: list[str] = []
    job = Job(Work(), Seats(1), told.append)
    job.cancel()
    assert not told


def broken(error: BaseException) -> Callable[[], Iterator[None]]:
    def work() -> Iterator[None]:
        yield
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigError("n_heads", 3, "does not divide d_model=8", (2, 4)), "n_heads=3 does not divide d_model=8; 2 or 4"),
        (MemoryError(), module.NO_MEMORY),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), module.NO_MEMORY),
        (RuntimeError("index out of range in self\n at Foo.cpp:12"), module.BROKEN),
        (SystemExit(3), module.BROKEN),
    ],
)
def test_an_exception_is_one_sentence_and_frees_the_seat(
    error: BaseException, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    seats = Seats(1)
    with caplog.at_level(logging.WARNING):
        job = started(broken(error), seats)
        until(lambda: not threads())
    assert job.status == "failed"
    assert job.error.startswith(sentence)
    assert "\n" not in job.error
    if isinstance(error, Exception):
        assert caplog.records[-1].exc_info is not None
    caplog.clear()
    after = started(Work(n=1, free=True), seats)
    until(lambda: after.status == "finished")


def test_torch_without_memory_is_no_riddle() -> None:
    def work() -> Iterator[None]:
        torch.empty(10**14)
        yield

    job = started(work, Seats(1))
    until(lambda: not threads())
    assert (job.status, job.error) == ("failed", module.NO_MEMORY)


def test_an_exception_at_the_end_is_a_failure_that_frees_the_seat() -> None:
    def complain(_: str) -> None:
        raise RuntimeError("no room")

    seats = Seats(1)
    job = Job(Work(n=1, free=True), seats, complain)
    job.start()
    until(lambda: job.status == "failed")
    assert job.error == module.BROKEN
    assert started(Work(free=True), seats).status == "running"


def test_where_no_thread_can_be_had_the_job_fails_and_leaves_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    seats = Seats(1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        job = started(Work(), seats)
    assert (job.status, job.error, job.position) == ("failed", module.BROKEN, 0)
    job.cancel()
    assert started(Work(free=True), seats).status == "running"


def test_once_it_has_ended_a_job_holds_on_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.logger, "disabled", True)  # pytest keeps what is logged, and the traceback with it
    for end in ("finished", "cancelled", "failed", "never started"):
        work = Work(n=2, free=True) if end == "finished" else Work(free=True)
        seen = weakref.ref(work)

        def steps(work: Work = work, end: str = end) -> Iterator[None]:
            for _ in work():
                yield
                if end == "failed":
                    raise KeyError("x")

        job = Job(steps, Seats(1))
        if end != "never started":
            job.start()
        if end in {"cancelled", "never started"}:
            job.cancel()
        until(lambda: not threads())
        del work, steps
        gc.collect()
        assert seen() is None, end


def test_a_job_that_nobody_holds_any_more_gives_its_seat_back() -> None:
    seats, work = Seats(1), Work()
    job, waiting_too, after = started(work, seats), started(Work(free=True), seats), started(Work(free=True), seats)
    assert after.position == 2
    del job, waiting_too
    gc.collect()
    work.let()
    until(lambda: after.status == "running")
    assert work.closed
    after.cancel()


def test_a_job_may_be_collected_anywhere() -> None:
    """The garbage collector runs at any line of any thread, so also where a lock is held."""
    seats = Seats(1)
    for _ in range(5):
        job = started(Work(free=True), seats)
        with seats.lock:
            del job
            gc.collect()
    until(lambda: not threads())


# --- the machine


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux alone")
def test_a_jobs_thread_stands_back_behind_the_pages() -> None:
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    work = Work(n=1, free=True)
    job = started(work, Seats(1))
    until(lambda: job.status == "finished")
    assert work.niceness == min(own + module.NICENESS, 19)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == own


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux alone")
def test_where_the_system_does_not_let_it_stand_back_it_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    seats = Seats(1)
    for _ in range(2):
        job = started(Work(n=1, free=True), seats)
        until(lambda job=job: job.status == "finished")  # type: ignore[misc]


def test_torch_computes_the_same_in_a_job() -> None:
    results: list[float] = []

    def work() -> Iterator[None]:
        numbers = torch.ones(3, requires_grad=True)
        results.extend(torch.autograd.grad(numbers.sum(), numbers)[0].tolist())
        yield

    job = started(work, Seats(1))
    until(lambda: job.status == "finished")
    assert results == [1, 1, 1]


def test_python_shuts_down_in_the_middle_of_a_step(repository: Path) -> None:
    """A thread inside torch while Python ends would abort the process."""
    program = """
import time, torch
from playground.training.job import Job, Seats
def work():
    numbers = torch.ones(600, 600)
    while True:
        numbers @ numbers
        yield
job = Job(work, Seats(1))
job.start()
while job.seconds < 0.1:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
