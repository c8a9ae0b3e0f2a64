"""Jobs queue, pause, resume, end and fail in order, whoever presses what when; nothing of them stays behind."""

import gc
import logging
import os
import random
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch

from playground.errors import OUT_OF_MEMORY, UNEXPECTED, ConfigError
from playground.jobs import JobQueue, JobStatus, local
from playground.jobs.local import _Job as Job
from tests.waiting import job_threads, until


class Steps:
    """Work whose every step waits until the test allows it, or runs freely from the start."""

    def __init__(self, n: int = 1_000_000, *, free: bool = False) -> None:
        self.n, self.free = n, free
        self.permits = threading.Semaphore(0)
        self.begun = threading.Event()
        self.n_done = 0
        self.closed_in = ""
        self.niceness: int | None = None

    def __call__(self) -> Generator[int]:
        self.niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        try:
            for step in range(self.n):
                self.begun.set()
                if not self.free:
                    assert self.permits.acquire(timeout=10)
                self.n_done = step + 1
                yield step
        finally:
            self.closed_in = threading.current_thread().name

    def allow(self, n: int = 1) -> None:
        self.permits.release(n)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    until(lambda: not job_threads())
    yield
    gc.collect()
    until(lambda: not job_threads())


def submit(queue: JobQueue, work: Callable[[], Generator[object]]) -> Job:
    """Submit a job; it is inside its first step if it runs."""
    job = queue.submit(work)
    if isinstance(work, Steps) and job.status == "running":
        assert work.begun.wait(5)
    return job


def endless(queue: JobQueue) -> Job:
    return submit(queue, Steps(free=True))


def assert_free(queue: JobQueue) -> None:
    """The queue runs a new job at once."""
    job = endless(queue)
    assert job.status == "running"
    job.cancel()


# --- the queue


def test_twenty_jobs_finish_in_order_one_at_a_time() -> None:
    queue, events = JobQueue(1), list[tuple[int, str]]()

    def numbered(number: int) -> Generator[None]:
        events.append((number, "begins"))
        for _ in range(3):
            time.sleep(0.001)
            yield
        events.append((number, "ends"))

    first = Steps()
    running = submit(queue, first)
    jobs = [submit(queue, partial(numbered, number)) for number in range(20)]
    assert [job.position for job in jobs] == list(range(1, 21))
    assert {job.status for job in jobs} == {"waiting"}
    running.cancel(timeout=0)
    first.allow()
    until(lambda: all(job.status == "finished" for job in jobs))
    assert events == [(number, what) for number in range(20) for what in ("begins", "ends")]


def test_a_bounded_number_runs_at_once_and_the_position_counts_those_who_wait() -> None:
    queue = JobQueue(3)
    jobs = [endless(queue) for _ in range(7)]
    assert [job.status for job in jobs] == ["running"] * 3 + ["waiting"] * 4
    assert [job.position for job in jobs] == [0, 0, 0, 1, 2, 3, 4]
    jobs[4].cancel()
    assert [job.position for job in jobs[3:]] == [1, 0, 2, 3]
    jobs[3].pause()
    assert [job.position for job in jobs[3:]] == [0, 0, 1, 2]
    jobs[3].resume()
    assert [job.position for job in jobs[3:]] == [3, 0, 1, 2]
    jobs[6].abandon()  # its thread has not noticed yet
    assert [job.position for job in jobs[3:]] == [2, 0, 1, 0]
    jobs[0].cancel()
    assert [job.status for job in jobs] == [
        "cancelled", "running", "running", "waiting", "cancelled", "running", "cancelled",
    ]  # fmt: skip
    for job in jobs:
        job.cancel()


# --- pausing


def test_a_pause_lets_another_run_and_resuming_queues_again() -> None:
    queue, works = JobQueue(1), [Steps(4), Steps(2)]
    first, second = (submit(queue, work) for work in works)
    works[0].allow(2)
    until(lambda: works[0].n_done == 2)
    threading.Timer(0.02, works[0].allow).start()
    first.pause()
    assert (first.status, second.status) == ("paused", "running")
    assert works[0].n_done == 3
    first.resume()
    assert (first.status, first.position) == ("waiting", 1)
    works[1].allow(2)
    until(lambda: (first.status, second.status) == ("running", "finished"))
    works[0].allow()
    until(lambda: first.status == "finished")
    assert works[0].n_done == 4


def test_a_pause_that_is_taken_back_in_time_changes_nothing() -> None:
    queue, work = JobQueue(1), Steps()
    job, other = submit(queue, work), endless(queue)
    job.pause(timeout=0)
    job.resume()
    work.allow(3)
    until(lambda: work.n_done == 3)
    assert (job.status, other.status) == ("running", "waiting")
    for each in (other, job):
        each.cancel(timeout=0)
    work.allow()


def test_presses_that_make_no_sense_have_no_effect() -> None:
    work = Steps(3)
    job = submit(JobQueue(1), work)
    job.resume()
    assert (job.status, len(job_threads())) == ("running", 1)
    for _ in range(2):
        before = time.monotonic()
        job.pause(timeout=0.02)  # waits for the current step, but not for ever
        assert 0.02 <= time.monotonic() - before < 2
        assert job.status == "running"
    work.allow()
    until(lambda: job.status == "paused")
    assert work.n_done == 1
    job.pause()
    job.resume()
    job.resume()
    work.allow(2)
    until(lambda: job.status == "finished")
    for press in (job.pause, job.resume, job.cancel, job.cancel):
        press()
        assert (job.status, job.position, job.error, work.n_done) == ("finished", 0, "", 3)


def test_seconds_count_running_alone() -> None:
    queue = JobQueue(1)
    job = endless(queue)
    until(lambda: job.seconds > 0.05)
    job.pause()
    other = endless(queue)
    seconds = job.seconds
    time.sleep(0.02)
    job.resume()
    time.sleep(0.02)
    assert (job.status, job.seconds) == ("waiting", seconds)
    other.cancel()
    until(lambda: job.seconds > seconds)
    job.cancel()
    seconds = job.seconds
    time.sleep(0.02)
    assert job.seconds == seconds


# --- cancelling


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_a_job_is_cancelled_at_once_from_any_state(begun: bool, paused: bool) -> None:
    queue, work = JobQueue(1), Steps(free=True)
    running = None if begun else endless(queue)
    job = submit(queue, work)
    if paused:
        job.pause()
    before = time.monotonic()
    job.cancel()
    assert time.monotonic() - before < 3
    until(lambda: len(job_threads()) == (0 if running is None else 1))
    for press in (job.cancel, job.pause, job.resume):
        press()
        assert (job.status, job.position, job.error, job.ended) == ("cancelled", 0, "", True)
    assert work.closed_in == ("job" if begun else ""), "closed in its own thread"
    if running is not None:
        running.cancel()


def test_a_job_in_a_slow_step_is_cancelled_but_has_not_ended() -> None:
    queue, work = JobQueue(1), Steps()
    job = submit(queue, work)
    job.cancel(timeout=0.02)
    assert (job.status, job.ended) == ("cancelled", False)
    waiting = endless(queue)
    assert waiting.status == "waiting"
    work.allow()
    until(lambda: waiting.status == "running")
    assert (job.ended, work.n_done) == (True, 1)
    waiting.cancel()


def test_any_order_of_presses_ends_with_a_free_queue_and_no_thread() -> None:
    dice, queue = random.Random(0), JobQueue(2)
    jobs = [queue.submit(Steps(dice.randrange(1, 200), free=True)) for _ in range(12)]

    def press_all() -> None:
        for _ in range(100):
            job = dice.choice(jobs)
            buttons: list[Callable[[], None]] = [partial(job.pause, 0), job.resume, job.resume, partial(job.cancel, 0)]
            dice.choice(buttons)()

    pressing = [threading.Thread(target=press_all) for _ in range(4)]
    for thread in pressing:
        thread.start()
    for thread in pressing:
        thread.join()
    for job in jobs:
        job.cancel()
    assert {job.status for job in jobs} <= {"finished", "cancelled"}
    after = [endless(queue) for _ in range(3)]
    assert [job.status for job in after] == ["running", "running", "waiting"]
    for job in after:
        job.cancel()


# --- the end


def torch_without_memory() -> RuntimeError:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(10**14)
    return caught.value.with_traceback(None)


def fail(error: BaseException) -> Generator[None]:
    yield
    raise error


def test_on_end_is_called_once_in_the_thread_while_the_job_still_counts() -> None:
    calls: list[tuple[JobStatus, JobStatus, str]] = []
    jobs: list[Job] = []

    def on_end(status: JobStatus) -> None:
        until(lambda: bool(jobs))
        calls.append((status, jobs[0].status, threading.current_thread().name))
        jobs[0].cancel()  # too late, and no deadlock

    for work in (Steps(2, free=True), Steps(free=True), partial(fail, KeyError("x"))):
        jobs.clear()
        jobs.append(JobQueue(1).submit(work, on_end))
        if isinstance(work, Steps) and work.n > 2:
            until(lambda: jobs[0].seconds > 0.01)
            jobs[0].cancel()
        until(lambda: jobs[0].ended)
    assert calls == [
        ("finished", "running", "job"),
        ("cancelled", "cancelled", "job"),
        ("failed", "running", "job"),
    ]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigError("n_heads", 3, "does not divide d_model=8", (2, 4)), "n_heads=3 does not divide d_model=8; 2 or 4"),
        (MemoryError(), OUT_OF_MEMORY),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), OUT_OF_MEMORY),
        (torch_without_memory(), OUT_OF_MEMORY),
        (RuntimeError("index out of range in self\n at Foo.cpp:12"), UNEXPECTED),
        (SystemExit(3), UNEXPECTED),
    ],
)
def test_a_failure_is_one_sentence_and_a_traceback_and_lets_others_run(
    error: BaseException, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    queue = JobQueue(1)
    with caplog.at_level(logging.WARNING):
        job = submit(queue, partial(fail, error))
        until(lambda: job.status == "failed")
    assert job.error.startswith(sentence)
    assert "\n" not in job.error
    assert caplog.records[-1].exc_info
    assert caplog.records[-1].exc_info[1] is error
    assert caplog.records[-1].levelno == (logging.WARNING if isinstance(error, ConfigError) else logging.ERROR)
    caplog.clear()  # the record keeps the frames alive
    assert_free(queue)


def test_an_exception_in_on_end_is_a_failure() -> None:
    def on_end(_: str) -> None:
        raise KeyError("x")

    queue = JobQueue(1)
    job = queue.submit(Steps(1, free=True), on_end)
    until(lambda: job.status == "failed")
    assert job.error == UNEXPECTED
    assert_free(queue)


def test_where_no_thread_can_be_had_the_job_fails_and_leaves_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    queue = JobQueue(1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        job = queue.submit(Steps())
    assert (job.status, job.error, job.position) == ("failed", UNEXPECTED, 0)
    job.cancel()
    assert_free(queue)


@pytest.mark.parametrize("end", ["finished", "cancelled", "failed", "cancelled while it waits"])
def test_a_job_that_has_ended_keeps_nothing_alive(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.logger, "disabled", True)  # pytest keeps what is logged, and the traceback with it
    queue = JobQueue(1)
    running = endless(queue) if "waits" in end else None
    work = Steps(2 if end == "finished" else 1_000_000, free=True)
    reference = weakref.ref(work)

    def steps(work: Steps = work) -> Generator[None]:
        for _ in work():
            yield
            if end == "failed":
                raise KeyError("x")

    job = queue.submit(steps)
    if end.startswith("cancelled"):
        job.cancel()
    until(lambda: job.ended)
    if running is not None:
        running.cancel()
    until(lambda: not job_threads())
    del work, steps
    gc.collect()
    assert reference() is None


# --- a job that nobody holds


class Owner:
    """Somebody who wants a job."""

    itself: object


@pytest.mark.parametrize("state", ["running", "waiting", "paused"])
def test_a_job_whose_owner_is_gone_is_cancelled(state: str) -> None:
    queue, owner, work = JobQueue(1), Owner(), Steps(free=True)
    running = endless(queue) if state == "waiting" else None
    job = queue.submit(work, owner=owner)
    if state == "paused":
        until(lambda: job.status == "running")
        job.pause()
    assert job.status == state
    del owner
    gc.collect()
    until(lambda: job.ended)
    assert job.status == "cancelled"
    if running is not None:
        running.cancel()
    assert_free(queue)


def test_an_owner_may_be_collected_anywhere() -> None:
    """The garbage collector runs at any line of any thread: while a lock is held, and while another waits for it."""
    queue = JobQueue(1)
    for collect_in_thread in (False, True):
        owner = Owner()
        owner.itself = owner  # a cycle, which the garbage collector alone can break
        job = queue.submit(Steps(free=True), owner=owner)
        del owner
        with queue.condition:
            collector = threading.Thread(target=gc.collect)
            if collect_in_thread:
                collector.start()
                collector.join(5)
                assert not collector.is_alive()
            else:
                gc.collect()
            assert job.status == "cancelled"
    until(lambda: not job_threads())


# --- the machine


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux alone")
@pytest.mark.parametrize("refused", [False, True])
def test_a_jobs_thread_has_a_lower_priority_where_the_system_allows_it(
    refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    if refused:
        monkeypatch.setattr(os, "setpriority", refuse)
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    work = Steps(1, free=True)
    job = submit(JobQueue(1), work)
    until(lambda: job.status == "finished")
    assert work.niceness == (own if refused else min(own + local.NICENESS, 19))
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == own


def test_python_shuts_down_in_the_middle_of_a_step(repository: Path) -> None:
    """A thread inside torch while Python ends would abort the process."""
    program = """
import time, torch
from playground.jobs import JobQueue
def work():
    numbers = torch.ones(600, 600)
    while True:
        numbers @ numbers
        yield
queue = JobQueue(1)
paused = queue.submit(work)
paused.pause()
job = queue.submit(work)
while job.seconds < 0.1:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
