"""What the whole server has one of: caches, turns, queues, visitors; made together at its start, from its settings."""

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
from playground.web.session.result_cache import CacheMetrics, FunctionCaches, RandomWeights, ResultCache, size_in_bytes
from playground.web.session.turns import FairQueue, Turns
from playground.weights.store import NetworkStore, default_folder

MOST_WAITING = 24
"""Files of a kind that wait to be made; whoever would be the last gets none where there are more."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything that all visitors share; nothing of it is anywhere else."""

    settings: Settings
    meters: Meters
    """Counters for whoever runs the server."""
    visitors: Visitors
    """Who is here."""
    readiness: Readiness
    turns: Turns
    """To compute for a page."""
    short_files: FairQueue
    """Turns to make a file that somebody saves."""
    long_files: FairQueue
    """Turns to make one that takes long, beside these."""
    results: ResultCache
    """What was computed with weights that everybody may use, bounded in bytes."""
    few_results: FunctionCaches
    """What of theirs is bounded in number, as each is large, or seldom asked for."""
    loaded: FunctionCaches
    """What stays as long as the server runs, such as the trained checkpoint."""
    random_weights: RandomWeights
    """Encoders with random weights."""
    networks: EnglishNetworks
    """Trained encoders of the small English."""
    pool: JobPool
    """Runs the experiments of all visitors, and keeps results for whoever asks for the same."""
    memory: MemoryBudget
    """What visitors' weights and trainings take."""

    @property
    def device(self) -> torch.device:
        """Where models run."""
        return choose_device(self.settings.device)

    def forget_results(self) -> None:
        """Free what visitors computed and everybody may use."""
        self.results.clear()
        self.few_results.clear()
        self.random_weights.clear()
        self.pool.forget_results()


def build_services(settings: Settings) -> Services:
    """Services of these settings, in which nobody has been yet."""
    meters, results = Meters(settings.slow_seconds), ResultCache(settings.max_cached_results, size_in_bytes)
    visitors = Visitors(
        settings.max_sessions, settings.max_pages_per_browser, settings.address_share, settings.idle_after
    )
    random_weights = RandomWeights(settings.max_cached_weights, lambda: choose_device(settings.device))
    meters.registry.register(CacheMetrics(results=results, weights=random_weights))

    def forget_shared_results() -> None:
        """Where a computation ran out of memory, they hold its half."""
        results.clear()
        random_weights.clear()

    pool = choose_pool(settings)
    return Services(
        settings=settings,
        meters=meters,
        visitors=visitors,
        readiness=Readiness(visitors, meters),
        turns=Turns(1, settings.busy_timeout, forget_shared_results, meters.wait_seconds.time),
        short_files=FairQueue(1, MOST_WAITING),
        long_files=FairQueue(1, MOST_WAITING),
        results=results,
        few_results=FunctionCaches(),
        loaded=FunctionCaches(),
        random_weights=random_weights,
        networks=EnglishNetworks(NetworkStore(default_folder()), lambda: choose_device(settings.device)),
        pool=pool,
        memory=MemoryBudget(settings.max_own_weights, (pool.forget_results,)),
    )


def choose_pool(settings: Settings) -> JobPool:
    """Return threads of this process, or the cluster that the settings name."""
    kept = settings.max_shared_runs, settings.max_shared_bytes
    if not settings.ray:
        return JobPool(settings.max_trainings, *kept)
    return ClusterPool(settings.ray, settings.ray_cpus, settings.ray_gpus, *kept)


_LOCK = threading.Lock()
_in_use: list[Services] = []
"""The services of this process, and those that a test has put in their place; the last holds."""


def services() -> Services:
    """The services of this process, built of its environment where that has not happened yet."""
    if not _in_use:
        with _LOCK:
            if not _in_use:
                _in_use.append(build_services(read_settings(os.environ)))
    return _in_use[-1]


@contextmanager
def other_services(**changes: Any) -> Iterator[Services]:
    """Have this process use services in which some differ, by their names in `Services`, until the block ends."""
    changed = replace(services(), **changes)
    _in_use.append(changed)
    try:
        yield changed
    finally:
        _in_use.remove(changed)
