"""The memory that visitors' own weights and trainings may take together."""

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from playground.errors import WeightsError

_FULL = (
    "This server holds as many visitors' weights as it can right now; "
    "try again in some minutes, or with a smaller model."
)


class MemoryUser(Protocol):
    """An upload, a trained network, a reservation."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, in bytes."""


@dataclass(frozen=True, eq=False)
class MemoryReservation:
    """Memory for something that is not there yet."""

    n_bytes: int


class MemoryBudget:
    """At most `max_bytes` for all users, each until it is gone; `free` are called when memory is short."""

    def __init__(self, max_bytes: int, free: Iterable[Callable[[], None]] = ()) -> None:
        self.max_bytes, self._free, self._lock = max_bytes, tuple(free), threading.Lock()
        self.users = weakref.WeakSet[MemoryUser]()

    @property
    def n_bytes(self) -> int:
        """What all of them take."""
        with self._lock:
            return sum(user.n_bytes for user in self.users)

    def reserve(self, user: MemoryUser, replacing: MemoryUser | None = None) -> None:
        """Count something once, and release what it replaces; raises `WeightsError` if too little memory is left."""
        for free in (*self._free, None):
            with self._lock:
                others = sum(other.n_bytes for other in self.users if other is not replacing and other is not user)
                if others + user.n_bytes <= self.max_bytes:
                    self.users.add(user)
                    if replacing is not None:
                        self.users.discard(replacing)
                    return
            if free is not None:
                free()
        raise WeightsError(_FULL)

    def release(self, user: MemoryUser) -> None:
        """Stop counting something, if it counts."""
        with self._lock:
            self.users.discard(user)


def trim_heap() -> None:
    """Return free memory to the system, if the C library is glibc."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
