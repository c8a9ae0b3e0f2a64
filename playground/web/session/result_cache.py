"""Bounded caches of what visitors computed, as a class has more sentences and models than a few."""

import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from cachetools import LRUCache
from plotly.basedatatypes import BaseFigure
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from torch import nn

from playground.runs.budget import check_interrupted

R = TypeVar("R")

_POLL = 0.25
"""Seconds after which who waits notices at the latest that nobody wants the result any more."""

ENTRY = 1_000
"""Bytes that an entry takes besides its arrays, about."""


@dataclass(frozen=True)
class Owner:
    """Who may see what weights compute."""

    session: str | None
    """Streamlit's id of the only session; None: everybody."""


EVERYBODY = Owner(None)


@dataclass(frozen=True)
class CacheKey:
    """What a kept result is known by: what computed it, of what, and who may see it."""

    function: Callable[..., Any]
    arguments: Hashable
    owner: Owner = EVERYBODY
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Hash the key once: it holds whole configurations, and a dictionary asks several times."""
        object.__setattr__(self, "_hash", hash((self.function, self.arguments, self.owner)))

    def __hash__(self) -> int:
        return self._hash


class _Result(NamedTuple):
    value: Any
    size: int
    expires: float
    """When it has to be computed anew, by `time.monotonic`."""


class ResultCache:
    """The latest used results, `max_size` of them or so large together; a larger one is handed over and not kept.

    What two visitors ask for at the same time is computed once; where the one who computes it leaves, the other does.
    Nobody may change a result: everybody gets the same object.

    Args:
        max_size: the sum of the results' sizes.
        size_of: what a result counts as; without it, as one.
        seconds: after which a result is computed anew.
    """

    def __init__(
        self, max_size: int, size_of: Callable[[object], int] = lambda _: 1, seconds: float = math.inf
    ) -> None:
        self.hits = 0
        """How often a result was there."""
        self.misses = 0
        """How often one had to be computed."""
        self._size_of = size_of
        self._seconds = seconds
        self._results = LRUCache[CacheKey, _Result](max_size, getsizeof=attrgetter("size"))
        self._in_work: set[CacheKey] = set()
        self._condition = threading.Condition()

    @property
    def size(self) -> int:
        """What the results that are kept count as together."""
        with self._condition:
            return int(self._results.currsize)

    def find(self, key: CacheKey, compute: Callable[[], R]) -> R:
        """The result of the key, computed where it is not there; what `compute` raises is not kept.

        Waiting for another's result ends early where `check_interrupted` raises.
        """
        with self._condition:
            while key in self._in_work:
                self._condition.wait(_POLL)
                check_interrupted()
            kept = self._results.get(key)
            if kept is not None and time.monotonic() < kept.expires:
                self.hits += 1
                found: R = kept.value
                return found
            self.misses += 1
            self._in_work.add(key)
        try:
            value = compute()
            expires = time.monotonic() + self._seconds
            result = _Result(value, self._size_of(value), expires)  # counted here, where nobody waits for the lock
            with self._condition, suppress(ValueError):  # it is larger than the cache
                self._results[key] = result
            return value
        finally:
            with self._condition:
                self._in_work.remove(key)
                self._condition.notify_all()

    def __contains__(self, key: CacheKey) -> bool:
        """Whether the key's result is there."""
        with self._condition:
            return key in self._results

    def clear(self) -> None:
        """Forget every result."""
        with self._condition:
            self._results.clear()


class FunctionCaches:
    """A cache of the latest few results for each of several functions."""

    def __init__(self) -> None:
        self._caches: dict[Callable[..., Any], ResultCache] = {}
        self._lock = threading.Lock()

    def of(self, function: Callable[..., Any], max_entries: int, seconds: float = math.inf) -> ResultCache:
        """The function's cache, of so many results."""
        with self._lock:
            return self._caches.setdefault(function, ResultCache(max_entries, seconds=seconds))

    def clear(self) -> None:
        """Forget every result of every function."""
        with self._lock:
            self._caches.clear()


def size_in_bytes(value: object) -> int:
    """Bytes that a result's arrays, parameters and texts take; what it shares with another result counts in both."""
    if value is None or isinstance(value, int | float):  # most of what there is
        return 8
    if isinstance(value, np.ndarray | torch.Tensor):
        return value.nbytes
    if isinstance(value, nn.Module):
        return ENTRY + sum(tensor.nbytes for tensor in value.parameters())
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, BaseFigure):
        return ENTRY + size_in_bytes(value.to_plotly_json())
    if is_dataclass(value):
        return ENTRY + sum(size_in_bytes(vars(value)[field.name]) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(map(size_in_bytes, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(size_in_bytes, value))
    return 8


class Counted(Protocol):
    """A cache that counts what is asked of it."""

    @property
    def size(self) -> int:
        """Bytes in use."""

    @property
    def hits(self) -> int:
        """How often a result was there."""

    @property
    def misses(self) -> int:
        """How often one had to be computed."""


class CacheMetrics(Collector):
    """What Prometheus reads of caches: bytes, hits and misses of each, by its name."""

    def __init__(self, **caches: Counted) -> None:
        self.caches = caches

    def collect(self) -> Iterator[Metric]:
        """Read the caches as they are."""
        size = GaugeMetricFamily("playground_cache_bytes", "Bytes in use.", labels=["cache"])
        hits = CounterMetricFamily("playground_cache_hits", "Results that were there.", labels=["cache"])
        misses = CounterMetricFamily("playground_cache_misses", "Results that were computed.", labels=["cache"])
        for name, cache in self.caches.items():
            size.add_metric([name], cache.size)
            hits.add_metric([name], cache.hits)
            misses.add_metric([name], cache.misses)
        yield from (size, hits, misses)
