"""No job's thread outlives its test."""

import gc
from collections.abc import Iterator

import pytest

from tests.waiting import job_threads, until


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    until(lambda: not job_threads())
    yield
    gc.collect()
    until(lambda: not job_threads())
