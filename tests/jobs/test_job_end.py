"""A job ends once, says why in one sentence, keeps nothing alive, and takes neither the queue nor Python with it."""

import gc
import logging
import os
import sys
import threading
import weakref
from collections.abc import Generator
from functools import partial

import pytest
import torch

from playground.errors import OUT_OF_MEMORY, UNEXPECTED, ConfigError
from playground.jobs import JobQueue, JobStatus
from playground.jobs import queue as job_queue
from playground.jobs.queue import _Job as Job
from tests.jobs.work import Steps, assert_free, priority, submit
from tests.waiting import job_threads, until


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
