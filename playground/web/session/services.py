"""What all visitors share, made together from the settings."""

import copy
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from playground.errors import WeightsError
from playground.jobs import JobPool
from playground.jobs.cluster import ClusterPool
from playground.runs.budget import choose_device
from playground.web.server.middleware import Visitors
from playground.web.server.settings import Settings, read_settings
from playground.web.session.result_cache import ResultCache
from playground.web.session.turns import Turns
from playground.weights.store import NetworkStore, default_folder

logger = logging.getLogger(__name__)

PLACES = 2
"""Runs of pages at once."""

_FULL = (
    "This server holds as many visitors' weights as it can right now; "
    "try again in some minutes, or with a smaller model."
)


class Meters:
    """The counters of one server; a run is slow from `slow_seconds` on."""

    def __init__(self, slow_seconds: float, visitors: Visitors, results: ResultCache) -> None:
        self.slow_seconds, self.registry = slow_seconds, CollectorRegistry()
        self.runs = Histogram(
            "playground_run_seconds",
            "Runs of a page, or of one of its parts.",
            ["page", "part", "outcome"],
            buckets=(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60),
            registry=self.registry,
        )
        told = "Errors that a visitor was told, by kind."
        self.refusals = Counter("playground_refusals", told, ["kind"], registry=self.registry)
        show = partial(Gauge, registry=self.registry)
        show("playground_visitors", "Open pages.").set_function(lambda: visitors.open)
        show("playground_cache_bytes", "Bytes of shared results.").set_function(lambda: results.n_bytes)

    @contextmanager
    def watch_rerun(self, page: str, part: str = "page") -> Iterator[None]:
        """Count a rerun as drawn, interrupted or failed; log it if it is slow, or fails."""
        begun, outcome = time.perf_counter(), "interrupted"
        try:
            yield
            outcome = "drawn"
        except Exception:
            outcome = "failed"
            raise
        finally:
            seconds = time.perf_counter() - begun
            self.runs.labels(page, part, outcome).observe(seconds)
            if outcome == "failed" or seconds > self.slow_seconds:
                logger.warning("run page=%s part=%s outcome=%s seconds=%.2f", page, part, outcome, seconds)

    def count_refusal(self, error: Exception) -> None:
        """Count that a visitor was told an error."""
        self.refusals.labels(type(error).__name__).inc()


@dataclass(frozen=True, eq=False)
class MemoryReservation:
    """Memory for something that is not there yet."""

    n_bytes: int


class MemoryBudget:
    """At most `max_bytes` for visitors' own weights and trainings, until they are gone; `free` may make room."""

    def __init__(self, max_bytes: int, free: Callable[[], None] = lambda: None) -> None:
        self.max_bytes, self._free, self._lock = max_bytes, free, threading.Lock()
        self.users = weakref.WeakSet[Any]()

    @property
    def n_bytes(self) -> int:
        """What all of them take."""
        return sum(user.n_bytes for user in self.users)

    def reserve(self, user: Any) -> None:
        """Count what has `n_bytes`; raises `WeightsError` if too little is left."""
        if not self._add(user):
            self._free()
            if not self._add(user):
                raise WeightsError(_FULL)

    def _add(self, user: Any) -> bool:
        with self._lock:
            fits = user in self.users or self.n_bytes + user.n_bytes <= self.max_bytes
            if fits:
                self.users.add(user)
            return fits

    def release(self, user: Any) -> None:
        """Stop counting something."""
        with self._lock:
            self.users.discard(user)


class Services:
    """One of each for the whole server."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, NetworkStore(default_folder())
        self.turns, self.pool = Turns(PLACES, settings.busy_timeout), choose_pool(settings)
        self.memory = MemoryBudget(settings.max_own_weights, self.pool.forget_results)
        self.results, self.visitors = ResultCache(settings.max_cached), Visitors(settings.max_sessions)
        self.meters = Meters(settings.slow_seconds, self.visitors, self.results)

    @property
    def device(self) -> torch.device:
        """Where models run."""
        return choose_device(self.settings.device)


def choose_pool(settings: Settings) -> JobPool:
    """Return threads of this process, or the cluster that the settings name."""
    kept = settings.max_shared_runs, settings.max_shared_bytes
    if not settings.ray:
        return JobPool(settings.max_trainings, *kept)
    return ClusterPool(settings.ray, settings.ray_cpus, settings.ray_gpus, *kept)


_LOCK, _in_use = threading.Lock(), list[Services]()
"""The services of this process, then those that a test has put in their place; the last holds."""


def services() -> Services:
    """Return the services of this process, built from its environment at the first call."""
    with _LOCK:
        if not _in_use:
            _in_use.append(Services(read_settings(os.environ)))
    return _in_use[-1]


@contextmanager
def other_services(**changes: Any) -> Iterator[Services]:
    """Use services of which some differ until the block ends."""
    changed = copy.copy(services())
    vars(changed).update(changes)
    _in_use.append(changed)
    try:
        yield changed
    finally:
        _in_use.remove(changed)
