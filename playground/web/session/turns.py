"""Heavy computing, one visitor at a time, in turns that are fair.

What is computed for a page is short for most and long for a few: a large model on a long text. There is a place for
each kind, so that nobody waits for a long one who wants something short. Both go to whoever has had least of late.

A page with a long computation holds the long place from before its first number until it is drawn: what it holds in
memory on the way is there once. Only then come the locks of caches, and inside these the turns; so no two wait for
each other.

Before all that, a page needs some tens of milliseconds to find out what it has to compute, and after it as many to be
drawn. Only a few runs of pages are at that at once: sixty that share one interpreter would all come to their end last.
Who asks again and again before an answer has come waits longer: see `Pace`.
"""

import logging
import math
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import OUT_OF_MEMORY, BusyError, TooLargeError, is_out_of_memory
from playground.runs.budget import Check, interruptible
from playground.web.session.memory_budget import trim_heap

logger = logging.getLogger(__name__)

BUSY = "Many people are computing right now. Change anything to try again in a few seconds."

HALF_LIFE = 30.0
"""Seconds after which half of what a visitor has had is forgotten."""

_POLL = 0.25
"""Seconds after which who waits notices at the latest that nobody wants the result any more."""


@dataclass(eq=False)
class _Waiter:
    visitor: Hashable
    cost: float
    called: threading.Event = field(default_factory=threading.Event)
    """Set once its place is free, or it is sent away."""
    is_sent_away: bool = False


class FairQueue:
    """Lets `n` in at once. Of those who wait, the next is who has had the least, what is asked for now included.

    What a visitor has had are the seconds for which they held places; half of it is forgotten every `HALF_LIFE`. Of
    those who have had as much, the first to come goes first. Nobody waits longer than their `timeout`.

    Args:
        n: how many are in at once.
        most_waiting: how many may wait; the one who would go last is sent away where there are more. None: any number.
        clock: seconds, as `time.monotonic` counts them.
    """

    def __init__(
        self, n: int = 1, most_waiting: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._n, self._most_waiting, self._clock = n, most_waiting, clock
        self._lock = threading.Lock()
        self._inside: set[_Waiter] = set()
        self._waiting: list[_Waiter] = []
        self._had: dict[Hashable, tuple[float, float]] = {}
        """By visitor: seconds, and when that was."""

    @property
    def n_waiting(self) -> int:
        """How many wait."""
        with self._lock:
            return len(self._waiting)

    @contextmanager
    def take(
        self, visitor: Hashable, timeout: float, check: Callable[[], None] = lambda: None, *, cost: float = 0.0
    ) -> Iterator[None]:
        """Hold a place.

        Args:
            visitor: for whom.
            timeout: the most seconds to wait.
            check: called now and then while waiting; raises where the place is wanted no more.
            cost: seconds that the place is likely to be held.

        Raises:
            BusyError: no place came free in time, or too many wait.
        """
        waiter = self._arrive(visitor, cost)
        begun = None
        try:
            deadline = time.monotonic() + timeout
            while not waiter.called.wait(max(0.0, min(_POLL, deadline - time.monotonic()))):
                check()
                if time.monotonic() >= deadline:
                    raise BusyError(BUSY)
            if waiter.is_sent_away:
                raise BusyError(BUSY)
            check()
            begun = self._clock()
            yield
        finally:
            self._leave(waiter, 0.0 if begun is None else self._clock() - begun)

    def _arrive(self, visitor: Hashable, cost: float) -> _Waiter:
        with self._lock:
            waiter = _Waiter(visitor, cost)
            self._waiting.append(waiter)
            self._let_in()
            if self._most_waiting is not None and len(self._waiting) > self._most_waiting:
                last = self._in_order()[-1]
                self._waiting.remove(last)
                last.is_sent_away = True
                last.called.set()
        return waiter

    def _leave(self, waiter: _Waiter, seconds: float) -> None:
        with self._lock:
            if waiter in self._inside:
                self._inside.remove(waiter)
                self._had[waiter.visitor] = (self._seconds_had(waiter.visitor) + seconds, self._clock())
                self._had = {who: had for who, had in self._had.items() if self._seconds_had(who) > 0.001}
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            self._let_in()

    def _let_in(self) -> None:
        while self._waiting and len(self._inside) < self._n:
            first = self._in_order()[0]
            self._waiting.remove(first)
            self._inside.add(first)
            first.called.set()

    def _in_order(self) -> list[_Waiter]:
        """Those who wait, the next first: by places held now, then by seconds had and asked for, then by arrival."""
        seconds: dict[Hashable, float] = {}
        places = Counter(waiter.visitor for waiter in self._inside)
        ranks = {}
        for waiter in self._waiting:  # in the order of arrival
            seconds[waiter.visitor] = seconds.get(waiter.visitor, self._seconds_had(waiter.visitor)) + waiter.cost
            ranks[waiter] = places[waiter.visitor], seconds[waiter.visitor]
        return sorted(self._waiting, key=ranks.__getitem__)

    def _seconds_had(self, visitor: Hashable) -> float:
        seconds, at = self._had.get(visitor, (0.0, 0.0))
        return float(seconds * 0.5 ** ((self._clock() - at) / HALF_LIFE))


LONG_WAIT = 3.0
"""How many times longer than for a turn a visitor waits for the long place, which is held for whole pages."""

RUNS = 3
"""Runs of pages at once: one goes on while another's tensors are computed. With 6, sixty visitors wait longer."""

_RUN: ContextVar[ExitStack | None] = ContextVar("run", default=None)
"""What this thread's run holds, if it has a place among the `RUNS`."""

_HOLDS_LONG_PLACE: ContextVar[bool] = ContextVar("holds_long_place", default=False)


def _nothing() -> None:
    pass


class Turns:
    """Lets a few visitors compute at once; the others wait, but not for ever."""

    def __init__(
        self,
        n: int,
        timeout: float,
        free: Callable[[], None] = _nothing,
        watch_wait: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Allow `n` at once, and one more long one; wait `timeout` seconds; call `free` where memory was short.

        Each wait stands within `watch_wait()`.
        """
        self._free_memory = free
        self._watch_wait = watch_wait
        self._timeout = timeout
        self._runs, self._short, self._long = FairQueue(RUNS), FairQueue(n), FairQueue(1)

    @contextmanager
    def hold_run(self) -> Iterator[None]:
        """Hold a place for the run of a page, or of one of its fragments, however long it takes to come free.

        It is the first thing that a run takes, and `leave_run` gives it back early. Runs come in the order in which
        they were asked for: a session has one of them. Waiting for another's result ends early as a turn does.
        """
        check = current_visitor()[1]
        with ExitStack() as held:
            with self._watch_wait():
                held.enter_context(self._runs.take("anybody", math.inf, check))
            token = _RUN.set(held)
            try:
                with interruptible(check):
                    yield
            finally:
                _RUN.reset(token)

    @contextmanager
    def hold_long_place(self) -> Iterator[None]:
        """Hold the place of long computations, with which no further turn is waited for.

        Nothing that others may wait for, such as a cache's lock, may be held when this is called.

        Raises:
            BusyError: it did not come free in time.
        """
        if _HOLDS_LONG_PLACE.get():
            yield
            return
        leave_run()
        visitor, check = current_visitor()
        with ExitStack() as held:
            with self._watch_wait():
                held.enter_context(self._long.take(visitor, LONG_WAIT * self._timeout, check))
            token = _HOLDS_LONG_PLACE.set(True)
            try:
                yield
            finally:
                _HOLDS_LONG_PLACE.reset(token)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Hold one turn. What is computed in it ends early where its visitor has left, or has chosen something else.

        Raises:
            BusyError: none came free in time.
            TooLargeError: what was computed in it needed more memory than there is.
        """
        visitor, check = current_visitor()
        with ExitStack() as held:
            if not _HOLDS_LONG_PLACE.get():
                with self._watch_wait():
                    held.enter_context(self._short.take(visitor, self._timeout, check))
            with interruptible(check), self._explain_lack_of_memory():
                yield

    @contextmanager
    def _explain_lack_of_memory(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            logger.exception("A visitor's computation ran out of memory")
            traceback.clear_frames(error.__traceback__)  # they hold what was computed so far
            self._free_memory()
            trim_heap()
            raise TooLargeError(OUT_OF_MEMORY) from None


def leave_run() -> None:
    """Give the place of this thread's run to another one, as this one goes on to wait for long."""
    if (run := _RUN.get()) is not None:
        run.close()


def current_visitor() -> tuple[Hashable, Check]:
    """The visitor for whom this thread computes, and what ends its run of a page where nobody wants that any more.

    Streamlit ends a run by an exception from within whatever the run asks of it, such as whether the session's state
    has a key: where a newer run takes its place, and where the visitor has left. Other threads are visitors themselves.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return threading.get_ident(), _nothing
    state = context.session_state

    def check() -> None:
        _ = "" in state

    return context.session_id, check


AT_ONCE, A_SECOND = 5.0, 3.0
"""Runs of a page that one session may break off by asking again: so many in a row, and then so many a second."""

_PACE = "_pace"
"""Session key of its `Pace`."""


@dataclass
class Pace:
    """How many more runs a session may break off just now; while there is none, its next run waits.

    A run that waits costs next to nothing, and the session's next request takes its place. Who waits for answers never
    waits here.
    """

    clock: Callable[[], float] = time.monotonic
    left: float = AT_ONCE
    counted_at: float = 0.0
    is_running: bool = False
    """Whether a run has begun that has not come to its end."""

    def begin(self, check: Callable[[], None] = _nothing) -> None:
        """Begin a run, once the session has one left; `check` raises where this run is wanted no more."""
        broken_off, self.is_running = self.is_running, False
        self._count(-1.0 if broken_off else 0.0)
        while self.left < 0.0:
            check()
            time.sleep(min(_POLL / 5, -self.left / A_SECOND))
            self._count()
        self.is_running = True

    def end(self) -> None:
        """The run has come to its end."""
        self.is_running = False

    def _count(self, change: float = 0.0) -> None:
        now = self.clock()
        self.left = min(AT_ONCE, self.left + A_SECOND * (now - self.counted_at)) + change
        self.counted_at = now


def session_pace() -> Pace:
    """That of this thread's session."""
    pace: Pace = st.session_state.setdefault(_PACE, Pace())
    return pace
