"""Heavy computing, a few visitors at a time."""

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playground.errors import OUT_OF_MEMORY, BusyError, TooLargeError, is_out_of_memory
from playground.web.server.heap import trim_heap
from playground.web.server.monitoring import WAIT_SECONDS

logger = logging.getLogger(__name__)


BUSY = "Many people are computing right now. Change anything to try again in a few seconds."


def _nothing() -> None:
    pass


class Turns:
    """Lets a few visitors compute at once; the others wait, but not for ever."""

    def __init__(self, n: int, timeout: float, free: Callable[[], None] = _nothing) -> None:
        """Allow `n` at once; wait at most `timeout` seconds; call `free` where memory was short."""
        self._free_memory = free
        self._free = threading.BoundedSemaphore(n)
        self._timeout = timeout

    @contextmanager
    def take(self) -> Iterator[None]:
        """Hold one turn.

        Raises:
            BusyError: none came free in time.
            TooLargeError: what was computed in it needed more memory than there is.
        """
        with WAIT_SECONDS.time():
            is_free = self._free.acquire(timeout=self._timeout)
        if not is_free:
            raise BusyError(BUSY)
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
        finally:
            self._free.release()
