"""Caches of results, bounded in bytes: one for all visitors, and one in each session for its own weights."""

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import streamlit as st
import torch
from cachetools import LRUCache, cached
from streamlit.runtime.scriptrunner import get_script_run_ctx
from torch import nn

from playground.link.state import Owner
from playground.runs.budget import check_interrupted

P = ParamSpec("P")
R = TypeVar("R")

ENTRY = 1_000
"""Bytes that an object takes besides its arrays, about."""

MAX_OWN = 600_000_000
"""Bytes of a session's own results and models."""


class _Interruptible(threading.Condition):
    """Lets whoever waits leave."""

    def wait(self, timeout: float | None = 0.25) -> bool:
        is_notified = super().wait(timeout)
        check_interrupted()
        return is_notified


class ResultCache:
    """The results used last, up to `max_bytes`; equal ones are computed once, and nobody changes them."""

    def __init__(self, max_bytes: int) -> None:
        self._results: LRUCache[Hashable, Any] = LRUCache(max_bytes, getsizeof=size_in_bytes)
        compute_once = cached(self._results, key=lambda key, _: key, condition=_Interruptible())
        self._find = compute_once(lambda _, compute: compute())

    @property
    def n_bytes(self) -> float:
        """Bytes of all results."""
        return self._results.currsize

    def find(self, key: Hashable, compute: Callable[[], R]) -> R:
        """Return the key's result, computed if it is missing."""
        found: R = self._find(key, compute)
        return found

    def clear(self) -> None:
        """Forget every result."""
        self._find.cache_clear()


def size_in_bytes(result: object) -> int:
    """Estimate the bytes of a result."""
    n_bytes, parts = 0, [result]
    while parts:
        match parts.pop():
            case np.ndarray() | torch.Tensor() as array:
                n_bytes += ENTRY + array.nbytes
            case str() | bytes() as text:
                n_bytes += len(text)
            case nn.Module() as module:
                parts.extend(module.parameters())
            case Mapping() as mapping:
                parts.extend(mapping.values())
            case tuple() | list() as several:
                parts.extend(several)
            case record if is_dataclass(record):
                n_bytes += ENTRY
                parts.extend(getattr(record, field.name) for field in fields(record))
            case _:
                n_bytes += 8
    return n_bytes


def this_session() -> Owner:
    """Return the id of the session that asks."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else "none"


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def session_results() -> ResultCache:
    """Return what was computed with this session's own weights."""
    return ResultCache(MAX_OWN)


def cache_in_session(function: Callable[P, R]) -> Callable[P, R]:
    """Cache a function for the session that calls it."""

    @wraps(function)
    def find(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (function, args, *kwargs.items())
        return session_results().find(key, partial(function, *args, **kwargs))

    return find
