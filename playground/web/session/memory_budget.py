"""The memory that all visitors' weights and trainings share."""

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from playground.errors import WeightsError


class MemoryUser(Protocol):
    """What takes memory: an upload, a trained network, a reservation."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, in bytes."""


@dataclass(frozen=True, eq=False)
class MemoryReservation:
    """Memory for something that is not there yet, or not in one piece."""

    n_bytes: int


class MemoryBudget:
    """What visitors' weights and trainings take together, within one bound.

    Args:
        max_bytes: the bound.
        free: called where memory is short: each lets go of what nobody in particular needs.
    """

    def __init__(self, max_bytes: int, free: Iterable[Callable[[], None]] = ()) -> None:
        self.max_bytes = max_bytes
        self._free = tuple(free)
        self._users = weakref.WeakSet[MemoryUser]()
        self._lock = threading.Lock()

    @property
    def users(self) -> list[MemoryUser]:
        """Everything that counts at the moment, of all sessions."""
        with self._lock:
            return list(self._users)

    @property
    def n_bytes(self) -> int:
        """What all of them take."""
        return sum(user.n_bytes for user in self.users)

    def reserve(self, user: MemoryUser, replacing: MemoryUser | None = None) -> None:
        """Count something for as long as it exists, or until it is released; release what it replaces.

        What several visitors share counts once, however often it is reserved.

        Raises:
            WeightsError: the bound would be passed; nothing is released then.
        """
        if self._try_reserve(user, replacing):
            return
        for free in self._free:
            free()
        if not self._try_reserve(user, replacing):
            raise WeightsError(
                "This server holds as many visitors' weights as it can right now; try again in some minutes, or with a "
                "smaller model."
            )

    def release(self, user: MemoryUser) -> None:
        """Count something no longer, if it was counted."""
        with self._lock:
            self._users.discard(user)

    def _try_reserve(self, user: MemoryUser, replacing: MemoryUser | None) -> bool:
        with self._lock:
            used = sum(other.n_bytes for other in self._users if other is not replacing and other is not user)
            if used + user.n_bytes > self.max_bytes:
                return False
            self._users.add(user)
            if replacing is not None:
                self._users.discard(replacing)
            return True


def trim_heap() -> None:
    """Hand free memory back to the system, where the C library is glibc: by itself it keeps that for later."""
    with suppress(AttributeError):  # another C library has no such function
        ctypes.CDLL(None).malloc_trim(0)
