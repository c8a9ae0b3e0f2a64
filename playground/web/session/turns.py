"""Turns to compute: a few at once, at most one for each visitor, and one more for those whose last one was short.

A run of a page holds its turn until it is drawn, so only a few pages are in memory at once. Work that takes seconds
whatever is asked, such as a large export, gives that turn back and waits for the one long place.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar

import streamlit as st
from cachetools import TTLCache
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import OUT_OF_MEMORY, BusyError, TooLargeError, is_out_of_memory
from playground.runs.budget import Check, interruptible
from playground.web.server.visitors import browser_of

logger = logging.getLogger(__name__)

BUSY = "Many people are computing right now. Change anything to try again in a few seconds."

SHORT, _MEMORY = 2.0, 600
"""Seconds up to which a turn is short; visitors whose last turn is remembered, and the seconds for which it is."""

LONG_WAIT = 3.0
"""How many times longer a visitor waits for the long place."""

_POLL = 0.25
"""Seconds between two checks whether a waiting visitor still wants the turn."""


class _Waiter:
    def __init__(self, visitor: Hashable) -> None:
        self.visitor, self.admitted = visitor, threading.Event()


class FairSemaphore:
    """Admit `n` at once, each visitor once, the first to come first; and one more whose last turn was short."""

    def __init__(self, n: int) -> None:
        self._n, self._lock = n, threading.Lock()
        self._inside, self._beside, self._waiting = set[Hashable](), set[Hashable](), list[_Waiter]()
        self._seconds: TTLCache[Hashable, float] = TTLCache(_MEMORY, _MEMORY)
        """How long each visitor's last turn took."""

    @contextmanager
    def hold(self, visitor: Hashable, timeout: float, check: Check) -> Iterator[None]:
        """Hold a place; raises `BusyError` after `timeout` seconds, and whatever `check` raises meanwhile."""
        waiter, begun = _Waiter(visitor), time.monotonic()
        deadline = begun + timeout
        with self._lock:
            self._waiting.append(waiter)
            self._admit()
        try:
            while not waiter.admitted.wait(min(_POLL, max(0.0, deadline - time.monotonic()))):
                check()
                if time.monotonic() >= deadline:
                    raise BusyError(BUSY)
            begun = time.monotonic()
            yield
        finally:
            with self._lock:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
                else:
                    self._inside.discard(visitor)
                    self._beside.discard(visitor)
                    self._seconds[visitor] = time.monotonic() - begun
                self._admit()

    def _admit(self) -> None:
        for waiter in tuple(self._waiting):
            visitor = waiter.visitor
            if visitor in self._inside | self._beside:
                continue
            if len(self._inside) < self._n:
                self._inside.add(visitor)
            elif not self._beside and self._seconds.get(visitor, SHORT) < SHORT:
                self._beside.add(visitor)
            else:
                continue
            self._waiting.remove(waiter)
            waiter.admitted.set()


_HELD: ContextVar[tuple[FairSemaphore, ExitStack] | None] = ContextVar("held", default=None)
"""The place that this thread holds."""


class Turns:
    """Turns for `n` visitors at once, and one long place; each wait stands within `watch_wait()`."""

    def __init__(
        self, n: int, timeout: float, watch_wait: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        self._short, self._long = FairSemaphore(n), FairSemaphore(1)
        self._timeout, self._watch_wait = timeout, watch_wait

    def take(self, visitor: Hashable = None) -> AbstractContextManager[None]:
        """Hold a turn, unless this thread does; what nobody wants any more ends early.

        Raises:
            BusyError: no turn came free in time.
            TooLargeError: memory ran out.
        """
        return self._hold(self._short, self._timeout, visitor)

    def hold_long_place(self, visitor: Hashable = None) -> AbstractContextManager[None]:
        """Hold the long place instead of a turn, as `take`."""
        return self._hold(self._long, LONG_WAIT * self._timeout, visitor)

    @contextmanager
    def _hold(self, places: FairSemaphore, timeout: float, visitor: Hashable) -> Iterator[None]:
        caller, check = current_visitor()
        with ExitStack() as on_exit, interruptible(check):
            held = _HELD.get()
            if held is None or held[0] not in (places, self._long):
                leave_turn()
                stack = ExitStack()
                with self._watch_wait():
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
    """Give back the place that this thread holds, before a long wait."""
    if (held := _HELD.get()) is not None:
        _HELD.set(None)
        held[1].close()


def current_visitor() -> tuple[Hashable, Check]:
    """Return who computes in this thread (a browser, a session or the thread) and what ends an unwanted run of a page.

    Streamlit ends a run from within any access to the session's state.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return threading.get_ident(), lambda: None
    state = context.session_state

    def check() -> None:
        _ = "" in state

    return browser_of(st.context.cookies) or context.session_id, check
