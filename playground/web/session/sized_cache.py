"""Caches for all visitors together, bounded in bytes: a class at work has more sentences and models than a few."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import plotly.graph_objects as go
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey
from torch import nn

P = ParamSpec("P")
R = TypeVar("R")

ENTRY = 1_000
"""Bytes that an entry takes besides its arrays, about."""


class _Result(NamedTuple):
    value: Any
    n_bytes: int


class SizedCache:
    """Results of several functions, the latest used `max_bytes` of them; larger ones are handed over and not kept.

    Used as a decorator of functions whose arguments can be hashed. What two visitors ask for at the same time is
    computed once; where the one who computes it leaves, the other does. Nobody may change a result: everybody gets the
    same object.
    """

    def __init__(self, max_bytes: int) -> None:
        self._cache = LRUCache[Any, _Result](max_bytes, getsizeof=attrgetter("n_bytes"))
        self._condition = threading.Condition()
        self._functions: list[Any] = []

    @property
    def size(self) -> int:
        """Bytes that are in use."""
        return int(self._cache.currsize)

    @property
    def hits(self) -> int:
        """How often a result was there."""
        return sum(function.cache_info().hits for function in self._functions)

    @property
    def misses(self) -> int:
        """How often one had to be computed."""
        return sum(function.cache_info().misses for function in self._functions)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Cache the function's results by its name and its arguments."""
        key = partial(hashkey, function.__module__, function.__qualname__)

        def compute(*args: P.args, **kwargs: P.kwargs) -> _Result:
            value = function(*args, **kwargs)
            return _Result(value, size_in_bytes(value))  # counted here, where nobody waits for the cache's lock

        decorated = cached(self._cache, key=key, condition=self._condition, info=True)(compute)
        self._functions.append(decorated)

        @wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            value: R = decorated(*args, **kwargs).value
            return value

        return find

    def clear(self) -> None:
        """Forget every result."""
        with self._condition:
            self._cache.clear()


def size_in_bytes(value: object) -> int:
    """Bytes that a result's arrays, parameters and texts take; what it shares with another result counts in both."""
    if isinstance(value, np.ndarray | torch.Tensor):
        return value.nbytes
    if isinstance(value, nn.Module):
        return ENTRY + sum(tensor.nbytes for tensor in value.parameters())
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, go.Figure):
        return ENTRY + size_in_bytes(value.to_plotly_json())
    if is_dataclass(value):
        return ENTRY + sum(size_in_bytes(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(map(size_in_bytes, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(size_in_bytes, value))
    return 8
