"""What whoever runs the app wants to know: counters for Prometheus, a log line for each slow or failed run, readiness.

Nothing here holds what students typed: neither texts nor links, and of errors only their kind.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from playground.errors import PlaygroundError
from playground.web.server.visitors import Visitors

logger = logging.getLogger(__name__)

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Meters:
    """The counters of one server, in a registry of its own; a run is slow from `slow_seconds` on."""

    def __init__(self, slow_seconds: float) -> None:
        self.slow_seconds = slow_seconds
        self.registry = CollectorRegistry()
        for collect in (ProcessCollector, PlatformCollector, GCCollector):
            collect(registry=self.registry)
        self.run_seconds = Histogram(
            "playground_run_seconds",
            "Runs of a page, or of one of its parts, from its start to its last element.",
            ["page", "part", "outcome"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.wait_seconds = Histogram(
            "playground_turn_wait_seconds", "Waits for a turn to compute.", buckets=_SECONDS, registry=self.registry
        )
        self.refusals = Counter(
            "playground_refusals",
            "What a visitor was told instead of a result, by the kind of error.",
            ["kind"],
            registry=self.registry,
        )

    @contextmanager
    def watch_rerun(self, page: str, part: str = "page") -> Iterator[None]:
        """Count a rerun of a page, or of a part of it; log it where it is slow, or fails.

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
            self.run_seconds.labels(page, part, outcome).observe(seconds)
            if outcome == "failed" or seconds > self.slow_seconds:
                logger.warning("run page=%s part=%s outcome=%s seconds=%.2f", page, part, outcome, seconds)

    def count_refusal(self, error: Exception) -> None:
        """Count, and log, that a visitor was told an error in one sentence."""
        kind = type(error).__name__
        self.refusals.labels(kind).inc()
        logger.info("refusal kind=%s", kind)


class ExpectedErrors(logging.Filter):
    """Shortens what a logger tells of an error that has a sentence for a visitor to one line, without a traceback.

    Streamlit logs one where a file is not made: too many wait for theirs, or whoever asked for it has left.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, PlaygroundError):
            record.msg, record.args, record.exc_info = "refusal kind=%s", (type(error).__name__,), None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class NamelessSessions(logging.Filter):
    """Strikes out what a line on session ids quotes: with a session's id its page can be taken over."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        if {"session", "id"} <= {*str(record.msg).lower().split()} and isinstance(record.args, tuple):
            record.args = ("…",) * len(record.args)
        return True


class Readiness:
    """Whether the server has loaded what it needs before the first visitor, and has room for one more."""

    def __init__(self, visitors: Visitors, meters: Meters) -> None:
        self.loaded = False
        self.release_failure: str | None = None
        """Why memory could not be released once all visitors had left, when that was tried last."""
        self.visitors = visitors
        self.registry = meters.registry
        Gauge("playground_visitors", "Open pages.", registry=self.registry).set_function(lambda: visitors.open)

    def routes(self) -> list[BaseRoute]:
        """`/ready`, for whoever spreads visitors over servers; `/operators/metrics`, for Prometheus."""
        # Both spellings, since Streamlit's front end answers wherever no route does, with its page and status 200.
        counters = [Route(f"/operators/metrics{end}", self._count) for end in ("", "/")]
        return [Route("/ready", self._answer), *counters]

    async def _answer(self, _request: Request) -> JSONResponse:
        """Answer 200 where the models are loaded and a visitor has room, 503 otherwise, and in both cases why."""
        visitors = self.visitors
        is_ready = self.loaded and not visitors.is_full
        state = {
            "ready": is_ready,
            "loaded": self.loaded,
            "visitors": visitors.open,
            "max_visitors": visitors.limit,
            "release_failure": self.release_failure,
        }
        return JSONResponse(state, 200 if is_ready else 503, headers={"Cache-Control": "no-store"})

    def _count(self, _request: Request) -> Response:
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)
