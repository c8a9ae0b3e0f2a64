"""What all visitors share, made together from the settings: turns to compute, results bounded in bytes, counters."""

import copy
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import streamlit as st
import torch
from cachetools import LRUCache, TTLCache, cached
from prometheus_client import CollectorRegistry, Gauge, Histogram
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME
from torch import nn

from playground.errors import OUT_OF_MEMORY, BusyError, TooLargeError, WeightsError, is_out_of_memory
from playground.jobs import JobPool
from playground.jobs.cluster import ClusterPool
from playground.link.state import Owner
from playground.runs.budget import Check, check_interrupted, choose_device, interruptible
from playground.web.server import Settings, Visitors, read_settings
from playground.weights.store import NetworkStore, default_folder

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)

PLACES = 2
"""Runs of pages at once."""

KEPT_RUNS = 32
"""Finished runs that are kept for whoever starts the same one."""

_FULL = (
    "This server holds as many visitors' weights as it can right now; "
    "try again in some minutes, or with a smaller model."
)


# --- turns, which a page holds until it is drawn, and a place for long work

BUSY = "Many people are computing right now. Change anything to try again in a few seconds."

SHORT = 2.0

LONG_WAIT = 3.0
"""Times longer that a visitor waits for the long place."""

_POLL = 0.25


class FairSemaphore:
    """Admit `n` visitors at once, in their order, each once; and one more whose last turn was short."""

    def __init__(self, n: int) -> None:
        self._n, self._changed = n, threading.Condition()
        self._inside, self._beside, self._waiting = set[Hashable](), set[Hashable](), list[list[Hashable]]()
        self._seconds: TTLCache[Hashable, float] = TTLCache(maxsize=600, ttl=600)
        """How long each visitor's last turn took."""

    @contextmanager
    def hold(self, visitor: Hashable, timeout: float, check: Check) -> Iterator[None]:
        """Hold a place; raises `BusyError` after `timeout` seconds, or what `check` raises."""
        ticket, deadline = [visitor], time.monotonic() + timeout
        with self._changed:
            self._waiting.append(ticket)
            try:
                while (places := self._places_for(ticket)) is None:
                    if time.monotonic() >= deadline:
                        raise BusyError(BUSY)
                    self._changed.wait(min(_POLL, timeout))
                    check()
                places.add(visitor)
            finally:
                self._waiting = [each for each in self._waiting if each is not ticket]
                self._changed.notify_all()
        begun = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                places.remove(visitor)
                self._seconds[visitor] = time.monotonic() - begun
                self._changed.notify_all()

    def _places_for(self, ticket: list[Hashable]) -> set[Hashable] | None:
        """Return where a ticket is admitted now; None if it has to wait."""
        for waiting in self._waiting:
            visitor = waiting[0]
            if visitor in self._inside | self._beside:
                continue
            if len(self._inside) < self._n:
                return self._inside if waiting is ticket else None
            if not self._beside and self._seconds.get(visitor, SHORT) < SHORT:
                return self._beside if waiting is ticket else None
        return None


_HELD: ContextVar[tuple[FairSemaphore, ExitStack] | None] = ContextVar("held", default=None)


class Turns:
    """Turns for `n` visitors, and one long place."""

    def __init__(self, n: int, timeout: float) -> None:
        self._short, self._long, self._timeout = FairSemaphore(n), FairSemaphore(1), timeout

    def take(self, visitor: Hashable = None) -> AbstractContextManager[None]:
        """Hold a turn, unless this thread does; raises BusyError, and TooLargeError if memory runs out."""
        return self._hold(self._short, self._timeout, visitor)

    def hold_long_place(self, visitor: Hashable = None) -> AbstractContextManager[None]:
        """Hold the long place instead of a turn, as `take`."""
        return self._hold(self._long, LONG_WAIT * self._timeout, visitor)

    def defer(self, make: Callable[[], R], *, is_long: bool = False) -> Callable[[], R]:
        """Return a function for a download button, which calls `make` in this visitor's turn or the long place."""
        visitor, hold = current_visitor()[0], self.hold_long_place if is_long else self.take

        def make_in_turn() -> R:
            with hold(visitor):
                return make()

        return make_in_turn

    @contextmanager
    def _hold(self, places: FairSemaphore, timeout: float, visitor: Hashable) -> Iterator[None]:
        caller, check = current_visitor()
        with ExitStack() as on_exit, interruptible(check):
            held = _HELD.get()
            if held is None or held[0] not in (places, self._long):
                leave_turn()
                stack = ExitStack()
                stack.enter_context(places.hold(visitor or caller, timeout, check))
                _HELD.set((places, stack))
                on_exit.callback(leave_turn)
            try:
                yield
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                logger.exception("A visitor's computation ran out of memory")
                raise TooLargeError(OUT_OF_MEMORY) from None


def leave_turn() -> None:
    """Give back the place that this thread holds."""
    if (held := _HELD.get()) is not None:
        _HELD.set(None)
        held[1].close()


def current_visitor() -> tuple[Hashable, Check]:
    """Return the browser, session or thread that computes, and a check by which Streamlit ends an unwanted run."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return threading.get_ident(), lambda: None
    state = context.session_state

    def check() -> None:
        _ = "" in state

    token = decode_xsrf_token_string(st.context.cookies.get(XSRF_COOKIE_NAME, ""))[0]  # by which a browser is known
    return token or context.session_id, check


# --- results, counters, memory

ENTRY = 1_000
"""Bytes that an object takes besides its arrays, about."""

MAX_OWN = 600_000_000


class _Interruptible(threading.Condition):
    """Lets whoever waits leave."""

    def wait(self, timeout: float | None = _POLL) -> bool:
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
                parts.extend(vars(record).values())
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


class Meters:
    """The counters of one server."""

    slow_seconds = 5.0
    """From these on a run is logged."""

    def __init__(self, visitors: Visitors, results: ResultCache) -> None:
        self.registry = CollectorRegistry()
        self.runs = Histogram(
            "playground_run_seconds",
            "Runs of a page, or of one of its parts.",
            ["page", "part", "outcome"],
            buckets=(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60),
            registry=self.registry,
        )
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
        self.meters = Meters(self.visitors, self.results)

    @property
    def device(self) -> torch.device:
        """Where models run."""
        return choose_device(self.settings.device)


def choose_pool(settings: Settings) -> JobPool:
    """Return threads of this process, or the cluster that the settings name."""
    kept = KEPT_RUNS, settings.max_shared_bytes
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
