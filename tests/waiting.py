"""Waiting for what another thread does."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

R = TypeVar("R")


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


def job_threads() -> list[threading.Thread]:
    """The threads of background jobs."""
    return [thread for thread in threading.enumerate() if thread.name == "job"]


def run_coroutine(coroutine: Coroutine[Any, Any, R]) -> R:
    """What a coroutine returns, from a thread of its own: after a test in Chromium, this one has Playwright's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
