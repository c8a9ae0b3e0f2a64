"""The heap of the C library."""

import ctypes
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Histogram

from playground.web.server.settings import settings


def trim_heap() -> None:
    """Hand free memory back to the system, where the C library is glibc: by itself it keeps that for later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


logger = logging.getLogger(__name__)

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)

RUN_SECONDS = Histogram(
    "playground_run_seconds",
    "Runs of a page, or of one of its parts, from its start to its last element.",
    ["page", "part", "outcome"],
    buckets=_SECONDS,
)
WAIT_SECONDS = Histogram("playground_turn_wait_seconds", "Waits for a turn to compute.", buckets=_SECONDS)
REFUSALS = Counter(
    "playground_refusals", "What a visitor was told instead of a result, by the kind of error.", ["kind"]
)


@contextmanager
def watch_run(page: str, part: str = "page") -> Iterator[None]:
    """Count a run of a page, or of a part of it; log it where it is slow, or fails.

    `outcome` is `drawn`, `interrupted` by a newer choice, or `failed`.
    """
    begun, outcome = time.perf_counter(), "interrupted"
    try:
        yield
        outcome = "drawn"
    except Exception:
        outcome = "failed"
        raise
    finally:
        seconds = time.perf_counter() - begun
        RUN_SECONDS.labels(page, part, outcome).observe(seconds)
        if outcome == "failed" or seconds > settings().slow_seconds:
            logger.warning("run page=%s part=%s outcome=%s seconds=%.2f", page, part, outcome, seconds)


def count_refusal(error: Exception) -> None:
    """Count, and log, that a visitor was told an error in one sentence."""
    kind = type(error).__name__
    REFUSALS.labels(kind).inc()
    logger.info("refusal kind=%s", kind)
