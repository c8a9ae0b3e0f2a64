"""The memory that all visitors' weights and trainings share, and the trained networks that outlive their session."""

import ctypes
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from cachetools import TTLCache

from playground.errors import WeightsError
from playground.training.trained_network import TrainedNetwork


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


KEPT_SECONDS = 3600.0
"""How long a network is kept after its visitor was last seen."""

MAX_NETWORKS = 64
"""How many are kept; the one used longest ago goes first."""


class KeptNetworks:
    """The latest trained network of each browser tab, by a name that nobody else can guess: a reload finds it again.

    Args:
        max_networks: how many.
        max_bytes: how much memory they may take together; a larger one is not kept at all.
        seconds: after which one that was not kept again is dropped.
        timer: says the time in seconds.
    """

    def __init__(
        self, max_networks: int, max_bytes: int, seconds: float, timer: Callable[[], float] = time.monotonic
    ) -> None:
        share = max_bytes // max_networks  # what each counts as at least, so that bytes bound the number as well
        self._networks = TTLCache[str, TrainedNetwork](max_bytes, seconds, timer, lambda one: max(share, one.n_bytes))
        self._lock = threading.Lock()

    def keep(self, owner: str, trained: TrainedNetwork) -> None:
        """Keep an owner's network from now on, in place of the one before; nothing where it is too large."""
        with self._lock:
            self._networks.pop(owner, None)
            if self._networks.getsizeof(trained) <= self._networks.maxsize:
                self._networks[owner] = trained

    def find(self, owner: str) -> TrainedNetwork | None:
        """The network of an owner, if it is still there."""
        with self._lock:
            found: TrainedNetwork | None = self._networks.get(owner)
            return found

    def drop_expired(self) -> None:
        """Free what nobody came back for."""
        with self._lock:
            self._networks.expire()

    def forget(self) -> None:
        """Free all: sessions that are there have their own."""
        with self._lock:
            self._networks.clear()


def trim_heap() -> None:
    """Hand free memory back to the system, where the C library is glibc: by itself it keeps that for later."""
    with suppress(AttributeError):  # another C library has no such function
        ctypes.CDLL(None).malloc_trim(0)
