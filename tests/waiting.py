"""Waiting for what another thread does."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from playground.jobs import Job
from playground.web.session.services import services

R = TypeVar("R")


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


def running_jobs() -> list[Job[Any]]:
    """The background jobs that have not ended."""
    return [job for job in services().pool._jobs.values() if not job.over.is_set()]


def run_coroutine(coroutine: Coroutine[Any, Any, R]) -> R:
    """What a coroutine returns, from a thread of its own: after a test in Chromium, this one has Playwright's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
