"""Turns to compute, which a page holds until it is drawn, and a place for long work."""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar

import streamlit as st
from cachetools import TTLCache
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from playground.errors import OUT_OF_MEMORY, BusyError, TooLargeError, is_out_of_memory
from playground.runs.budget import Check, interruptible

R = TypeVar("R")

logger = logging.getLogger(__name__)

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
