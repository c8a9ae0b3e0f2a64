"""Counters for Prometheus, a log line for each slow or failed run, readiness: nothing that students typed."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from playground.errors import PlaygroundError
from playground.web.server.middleware import Visitors

logger = logging.getLogger(__name__)

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Meters:
    """The counters of one server; a run is slow from `slow_seconds` on."""

    def __init__(self, slow_seconds: float) -> None:
        self.slow_seconds, self.registry = slow_seconds, CollectorRegistry()
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
            "playground_refusals", "Errors that a visitor was told, by kind.", ["kind"], registry=self.registry
        )

    def watch(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Show a number that `read` returns."""
        Gauge(name, text, registry=self.registry).set_function(read)

    @contextmanager
    def watch_rerun(self, page: str, part: str = "page") -> Iterator[None]:
        """Count a rerun as drawn, interrupted by a newer choice, or failed; log it if it is slow, or fails."""
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
    """Log an error that a visitor is told by its kind alone, as Streamlit does if a file is not made."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, PlaygroundError):
            record.msg, record.args, record.exc_info = "refusal kind=%s", (type(error).__name__,), None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class NamelessSessions(logging.Filter):
    """Strike out session ids, with which a page can be taken over."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        if {"session", "id"} <= {*str(record.msg).lower().split()} and isinstance(record.args, tuple):
            record.args = ("…",) * len(record.args)
        return True


def operator_routes(visitors: Visitors, meters: Meters) -> list[BaseRoute]:
    """Return `/ready`, for balancers: whether one more visitor can come; and `/operators/metrics`, for Prometheus."""

    async def answer(_request: Request) -> JSONResponse:
        is_ready = visitors.loaded and not visitors.is_full
        counts = {"visitors": visitors.open, "max_visitors": visitors.limit}
        state = {"ready": is_ready, "loaded": visitors.loaded, **counts}
        return JSONResponse(state, 200 if is_ready else 503, headers={"Cache-Control": "no-store"})

    def count(_request: Request) -> Response:
        return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)

    return [Route("/ready", answer), Route("/operators/metrics", count)]
