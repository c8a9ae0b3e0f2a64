"""Heavy computing, one visitor at a time, in turns that are fair.

What is computed for a page is short for most and long for a few: a large model on a long text. There is a place for
each kind, so that nobody waits for a long one who wants something short. Both go to whoever has had least of late.

A page with a long computation holds the long place from before its first number until it is drawn: what it holds in
memory on the way is there once. Only then come the locks of caches, and inside these the turns; so no two wait for each
other.
"""

import logging
import threading
import traceback
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import OUT_OF_MEMORY, TooLargeError, is_out_of_memory
from playground.runs.interruption import Check, interruptible
from playground.web.server.heap import trim_heap
from playground.web.server.monitoring import WAIT_SECONDS
from playground.web.session.fair_queue import FairQueue

logger = logging.getLogger(__name__)

LONG_WAIT = 3.0
"""How many times longer than for a turn a visitor waits for the long place, which is held for whole pages."""

_HOLDS_LONG_PLACE: ContextVar[bool] = ContextVar("holds_long_place", default=False)


def _nothing() -> None:
    pass


class Turns:
    """Lets a few visitors compute at once; the others wait, but not for ever."""

    def __init__(self, n: int, timeout: float, free: Callable[[], None] = _nothing) -> None:
        """Allow `n` at once, and one more long one; wait `timeout` seconds; call `free` where memory was short."""
        self._free_memory = free
        self._timeout = timeout
        self._short, self._long = FairQueue(n), FairQueue(1)

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
        visitor, check = current_visitor()
        with ExitStack() as held:
            with WAIT_SECONDS.time():
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
                with WAIT_SECONDS.time():
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
