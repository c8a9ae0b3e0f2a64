"""Waiting for what another thread does."""

import threading
import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


def job_threads() -> list[threading.Thread]:
    """The threads of background jobs."""
    return [thread for thread in threading.enumerate() if thread.name == "job"]
