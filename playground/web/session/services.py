"""What all visitors share, made together from the settings."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
"""Runs of pages at once: one goes on while another's tensors are computed."""

_FULL = (
    "This server holds as many visitors' weights as it can right now; "
    "try again in some minutes, or with a smaller model."
)


_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Meters:
    """The counters of one server; a run is slow from `slow_seconds` on."""

    def __init__(self, slow_seconds: float) -> None:
        self.slow_seconds, self.registry = slow_seconds, CollectorRegistry()
        seconds = partial(Histogram, registry=self.registry, buckets=_SECONDS)
        labels = ["page", "part", "outcome"]
        self.run_seconds = seconds("playground_run_seconds", "Runs of a page, or of one of its parts.", labels)
        self.wait_seconds = seconds("playground_turn_wait_seconds", "Waits for a turn to compute.")
        told = "Errors that a visitor was told, by kind."
        self.refusals = Counter("playground_refusals", told, ["kind"], registry=self.registry)

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


@dataclass(frozen=True, eq=False)
class MemoryReservation:
    """Memory for something that is not there yet."""

    n_bytes: int


class MemoryBudget:
    """At most `max_bytes` for visitors' own weights and trainings, each until it is gone; `free` may make room."""

    def __init__(self, max_bytes: int, free: Callable[[], None] = lambda: None) -> None:
        self.max_bytes, self._free, self._lock = max_bytes, free, threading.Lock()
        self.users = weakref.WeakSet[Any]()

    @property
    def n_bytes(self) -> int:
        """What all of them take."""
        return sum(user.n_bytes for user in self.users)

    def reserve(self, user: Any) -> None:
        """Count what has `n_bytes`, once; raises `WeightsError` if too little memory is left."""
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
        """Stop counting something, if it counts."""
        with self._lock:
            self.users.discard(user)


@dataclass(frozen=True, kw_only=True)
class Services:
    """One of each for the whole server."""

    settings: Settings
    meters: Meters
    visitors: Visitors
    turns: Turns
    results: ResultCache
    store: NetworkStore
    """Networks that were trained here."""
    pool: JobPool
    """The experiments of all visitors, and results for whoever asks for the same."""
    memory: MemoryBudget

    @property
    def device(self) -> torch.device:
        """Where models run."""
        return choose_device(self.settings.device)

    def forget_results(self) -> None:
        """Free what visitors computed and everybody may use."""
        self.results.clear()
        self.pool.forget_results()


def build_services(settings: Settings) -> Services:
    """Return new services with these settings."""
    results, visitors = ResultCache(settings.max_cached), Visitors(settings.max_sessions)
    meters, pool = Meters(settings.slow_seconds), choose_pool(settings)
    show = partial(Gauge, registry=meters.registry)
    show("playground_visitors", "Open pages.").set_function(lambda: visitors.open)
    show("playground_cache_bytes", "Bytes of shared results.").set_function(lambda: results.n_bytes)
    return Services(
        settings=settings,
        meters=meters,
        visitors=visitors,
        turns=Turns(PLACES, settings.busy_timeout, meters.wait_seconds.time),
        results=results,
        store=NetworkStore(default_folder()),
        pool=pool,
        memory=MemoryBudget(settings.max_own_weights, pool.forget_results),
    )


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
            _in_use.append(build_services(read_settings(os.environ)))
    return _in_use[-1]


@contextmanager
def other_services(**changes: Any) -> Iterator[Services]:
    """Use services of which some differ, by their names in `Services`, until the block ends."""
    changed = replace(services(), **changes)
    _in_use.append(changed)
    try:
        yield changed
    finally:
        _in_use.remove(changed)
