"""Jobs queue, pause, resume and are cancelled in order; each ends once, says why, and keeps nothing alive."""

import gc
import logging
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import Generator
from functools import partial

import pytest
import torch

from playground.errors import OUT_OF_MEMORY, UNEXPECTED, ConfigError
from playground.jobs import JobHandle, JobQueue, JobStatus
from playground.jobs import queue as job_queue
from playground.jobs.queue import _Job as Job
from playground.jobs.queue import waiting_time
from tests.jobs.work import Steps, assert_free, endless, press_at_random, priority, submit
from tests.waiting import job_threads, until


def test_twenty_jobs_finish_in_order_one_at_a_time() -> None:
    queue, events = JobQueue(1), list[tuple[int, int]]()

    def numbered(number: int) -> Generator[None]:
        for step in range(3):
            time.sleep(0.001)
            events.append((number, step))
            yield

    running = endless(queue)
    jobs = [submit(queue, partial(numbered, number)) for number in range(20)]
    assert [(job.status, job.position) for job in jobs] == [("waiting", position) for position in range(1, 21)]
    running.cancel()
    until(lambda: all(job.status == "finished" for job in jobs))
    assert events == sorted(events)
    assert len(events) == 60


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


def test_the_second_job_of_a_client_waits_behind_the_first_of_every_other() -> None:
    queue = JobQueue(1)

    def ask(client: str) -> JobHandle:
        return queue.submit(Steps(free=True), client=client)

    tabs = [ask("hostile") for _ in range(20)]
    student, other = ask("student"), ask("other")
    second = ask("student")
    assert [job.position for job in (tabs[0], student, other, tabs[1], second, tabs[2])] == [0, 1, 2, 3, 4, 5]
    tabs[1].pause()
    tabs[1].resume()  # at the end of its client's
    assert tabs[1].position == max(job.position for job in tabs)
    strangers = [queue.submit(Steps(free=True)) for _ in range(2)]  # each a client of its own
    assert [job.position for job in strangers] == [3, 4]
    tabs[5].hasten_for("late")  # who asks for what a tab has asked for already
    assert tabs[5].position < tabs[1].position
    place = second.position
    second.hasten_for("hostile")  # of whom so many wait that it would come later
    assert second.position == place
    for job in (*tabs, student, other, second, *strangers):
        job.cancel(timeout=0)


def test_a_pause_lets_another_run_resuming_queues_again_and_seconds_count_running_alone() -> None:
    queue, works = JobQueue(1), [Steps(4), Steps(2)]
    first, second = (submit(queue, work) for work in works)
    works[0].allow(2)
    until(lambda: works[0].n_done == 2)
    threading.Timer(0.02, works[0].allow).start()
    first.pause(timeout=30)
    assert (first.status, second.status) == ("paused", "running")
    assert works[0].n_done == 3
    seconds = first.seconds
    assert seconds > 0.01
    time.sleep(0.02)
    first.resume()
    time.sleep(0.02)
    assert (first.status, first.position, first.seconds) == ("waiting", 1, seconds)
    works[1].allow(2)
    until(lambda: (first.status, second.status) == ("running", "finished"))
    works[0].allow()
    until(lambda: first.status == "finished")
    assert works[0].n_done == 4
    in_the_end = first.seconds
    time.sleep(0.02)
    assert first.seconds == in_the_end > seconds


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


class Owner:
    """Somebody who wants a job, and whom the garbage collector alone can remove."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("by_owner", [False, True])
@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_a_job_is_cancelled_from_any_state_by_hand_or_because_its_owner_is_gone(
    begun: bool, paused: bool, by_owner: bool
) -> None:
    queue, work, owner = JobQueue(1), Steps(free=True), Owner()
    reference = weakref.ref(work)
    running = None if begun else endless(queue)
    job = submit(queue, work, owner)
    if paused:
        job.pause()
    assert job.status == ("paused" if paused else "running" if begun else "waiting")
    before = time.monotonic()
    del owner
    if by_owner:
        gc.collect()
        until(lambda: job.ended, seconds=3)
    else:
        job.cancel()
        assert time.monotonic() - before < 3
    until(lambda: len(job_threads()) == (0 if running is None else 1))
    for press in (job.cancel, job.pause, job.resume):
        press()
        assert (job.status, job.position, job.error, job.ended) == ("cancelled", 0, "", True)
    assert work.closed_in == ("job" if begun else ""), "closed in its own thread"
    del work
    gc.collect()
    assert reference() is None
    if running is not None:
        running.cancel()
    assert_free(queue)


def test_an_owner_may_be_collected_anywhere() -> None:
    """The garbage collector runs at any line of any thread: while a lock is held, and while another waits for it."""
    queue = JobQueue(1)
    for collect_in_thread in (False, True):
        owner = Owner()
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
    press_at_random(jobs, dice, n_threads=4, n_presses=100)
    for job in jobs:
        job.cancel()
    assert {job.status for job in jobs} <= {"finished", "cancelled"}
    after = [endless(queue) for _ in range(3)]
    assert [job.status for job in after] == ["running", "running", "waiting"]
    for job in after:
        job.cancel()


@pytest.mark.parametrize(
    ("before", "places", "seconds"),
    [([], 2, 0), ([5], 2, 0), ([5], 1, 5), ([5, 3], 2, 3), ([5, 3, 4], 2, 5), ([5, 3, 4, 1], 2, 6), ([5, 3, 4], 1, 12)],
)
def test_each_of_those_before_takes_the_first_place_that_is_free(
    before: list[float], places: int, seconds: float
) -> None:
    assert waiting_time(before, places) == seconds


def test_a_job_waits_for_those_before_it_and_for_no_others() -> None:
    queue = JobQueue(2)
    jobs = [queue.submit(Steps(free=True), remaining=lambda n=n: n) for n in (30, 20, 7, 5, 100)]  # type: ignore[misc]
    assert [job.expected_wait for job in jobs] == [0, 0, 20, 27, 30]
    jobs[2].pause()
    assert [job.expected_wait for job in jobs] == [0, 0, 0, 20, 25]
    jobs[3].abandon()
    assert jobs[4].expected_wait == 20
    for job in jobs:
        job.cancel()
    until(lambda: all(job.ended for job in jobs))
    assert {job.expected_wait for job in jobs} == {0}


def torch_without_memory() -> RuntimeError:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(10**14)
    return caught.value.with_traceback(None)


def fail(error: BaseException) -> Generator[None]:
    yield
    raise error


@pytest.mark.parametrize(
    ("outcome", "status"), [("finished", "running"), ("cancelled", "cancelled"), ("failed", "running")]
)
def test_on_end_is_called_once_in_the_thread_while_the_job_still_counts_and_then_nothing_is_kept(
    outcome: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue.logger, "disabled", True)  # pytest keeps what is logged, and the traceback with it
    calls: list[tuple[JobStatus, JobStatus, str]] = []
    jobs: list[Job] = []
    work = Steps(2 if outcome == "finished" else 1_000_000, free=True)
    reference = weakref.ref(work)

    def steps(work: Steps = work) -> Generator[None]:
        for _ in work():
            yield
            if outcome == "failed":
                raise KeyError("x")

    def on_end(outcome: JobStatus) -> None:
        until(lambda: bool(jobs))
        calls.append((outcome, jobs[0].status, threading.current_thread().name))
        jobs[0].cancel()  # too late, and no deadlock

    jobs.append(JobQueue(1).submit(steps, on_end))
    assert work.begun.wait(5)
    if outcome == "cancelled":
        jobs[0].cancel()
    until(lambda: jobs[0].ended)
    assert calls == [(outcome, status, "job")]
    until(lambda: not job_threads())
    del work, steps
    gc.collect()
    assert reference() is None


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


def test_where_no_thread_can_be_had_or_on_end_fails_the_job_fails_and_leaves_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    queue = JobQueue(1)
    ended = queue.submit(Steps(1, free=True), refuse)
    until(lambda: ended.ended)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        not_begun = queue.submit(Steps())
    for job in (ended, not_begun):
        job.cancel()
        assert (job.status, job.error, job.position) == ("failed", UNEXPECTED, 0)
    assert_free(queue)


@pytest.mark.parametrize("refused", [False, True])
def test_a_jobs_thread_has_a_lower_priority_where_the_system_allows_it(
    refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    if refused:
        monkeypatch.setattr(os, "setpriority", refuse, raising=False)
    own, work = priority(), Steps(1, free=True)
    job = submit(JobQueue(1), work)
    until(lambda: job.status == "finished")
    lowered = sys.platform == "linux" and not refused
    assert work.priority == (min(own + job_queue.NICENESS, 19) if lowered else own)
    assert priority() == own
