"""What all visitors share, made together from the settings."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from playground.jobs import JobPool
from playground.jobs.cluster import ClusterPool
from playground.runs.budget import choose_device
from playground.web.server.monitoring import Meters, Readiness
from playground.web.server.settings import Settings, read_settings
from playground.web.server.visitors import Visitors
from playground.web.session.memory_budget import MemoryBudget
from playground.web.session.networks import EnglishNetworks
from playground.web.session.result_cache import ResultCache, size_in_bytes
from playground.web.session.turns import Turns
from playground.weights.store import NetworkStore, default_folder

PLACES = 2
"""Runs of pages at once: one goes on while another's tensors are computed."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """One of each for the whole server; the types say what they are."""

    settings: Settings
    meters: Meters
    visitors: Visitors
    readiness: Readiness
    turns: Turns
    results: ResultCache
    networks: EnglishNetworks
    pool: JobPool
    """Runs the experiments of all visitors, and keeps results for whoever asks for the same."""
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

    def device() -> torch.device:
        return choose_device(settings.device)

    results, visitors = ResultCache(settings.max_cached, size_in_bytes), Visitors(settings.max_sessions)
    meters, pool = Meters(settings.slow_seconds), choose_pool(settings)
    meters.watch("playground_visitors", "Open pages.", lambda: visitors.open)
    meters.watch("playground_cache_bytes", "Bytes of shared results.", lambda: results.size)
    return Services(
        settings=settings,
        meters=meters,
        visitors=visitors,
        readiness=Readiness(visitors, meters),
        turns=Turns(PLACES, settings.busy_timeout, meters.wait_seconds.time),
        results=results,
        networks=EnglishNetworks(NetworkStore(default_folder()), device),
        pool=pool,
        memory=MemoryBudget(settings.max_own_weights, (pool.forget_results,)),
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
