"""No job's thread outlives its test."""

import gc
from collections.abc import Iterator

import pytest

from tests.waiting import job_threads, until


@pytest.fixture(scope="module", autouse=True)
def _garbage_is_that_of_the_test() -> Iterator[None]:
    """A collection looks at what tests make, and not at all the packages that are loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    until(lambda: not job_threads())
    yield
    gc.collect()
    until(lambda: not job_threads())
