"""One cache of what visitors computed and of random weights, bounded in bytes."""

import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from cachetools import LRUCache
from torch import nn

from playground.runs.budget import check_interrupted

R = TypeVar("R")

_POLL = 0.25
"""Seconds between two checks whether a waiting visitor still wants the result."""

ENTRY = 1_000
"""Bytes that an object takes besides its arrays, about."""


class ResultCache:
    """The results used last, up to `max_size` together by `size_of`; equal ones are computed once, none is changed."""

    def __init__(self, max_size: int, size_of: Callable[[Any], int] | None = None) -> None:
        self._results: LRUCache[Hashable, Any] = LRUCache(max_size, getsizeof=size_of)
        self._in_work, self._condition = set[Hashable](), threading.Condition()

    @property
    def size(self) -> float:
        """The size of all results."""
        return self._results.currsize

    def find(self, key: Hashable, compute: Callable[[], R]) -> R:
        """Return the key's result, and compute it if it is missing; what `compute` raises is not kept."""
        with self._condition:
            while key in self._in_work:
                self._condition.wait(_POLL)
                check_interrupted()
            if key in self._results:
                found: R = self._results[key]
                return found
            self._in_work.add(key)
        try:
            result = compute()
            with self._condition, suppress(ValueError):  # it is larger than the cache
                self._results[key] = result
            return result
        finally:
            with self._condition:
                self._in_work.remove(key)
                self._condition.notify_all()

    def clear(self) -> None:
        """Forget every result."""
        with self._condition:
            self._results.clear()


def size_in_bytes(value: object) -> int:
    """Return the bytes that a result's arrays, parameters and texts take, about."""
    size, rest = 0, [value]
    while rest:
        match rest.pop():
            case np.ndarray() | torch.Tensor() as array:
                size += ENTRY + array.nbytes
            case nn.Module() as module:
                rest.extend(module.parameters())
            case str() | bytes() as text:
                size += len(text)
            case Mapping() as mapping:
                rest.extend(mapping.values())
            case tuple() | list() as items:
                rest.extend(items)
            case record if is_dataclass(record):
                size += ENTRY
                rest.extend(getattr(record, each.name) for each in fields(record))
            case _:
                size += 8
    return size
