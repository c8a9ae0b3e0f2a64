"""Heavy computing, a few visitors at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playground.errors import BusyError
from playground.web.server.monitoring import WAIT_SECONDS


class Turns:
    """Lets a few visitors compute at once; the others wait, but not for ever."""

    def __init__(self, n: int, timeout: float) -> None:
        """Allow `n` at once; wait at most `timeout` seconds."""
        self._free = threading.BoundedSemaphore(n)
        self._timeout = timeout

    @contextmanager
    def take(self) -> Iterator[None]:
        """Hold one turn.

        Raises:
            BusyError: none came free in time.
        """
        with WAIT_SECONDS.time():
            is_free = self._free.acquire(timeout=self._timeout)
        if not is_free:
            raise BusyError("Many people are computing right now. Change anything to try again in a few seconds.")
        try:
            yield
        finally:
            self._free.release()
