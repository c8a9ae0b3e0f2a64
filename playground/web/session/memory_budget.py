"""The memory that all visitors' weights and trainings share, within one bound."""

import threading
import weakref
from dataclasses import dataclass
from typing import Protocol

from playground.errors import WeightsError
from playground.web.server.settings import settings


class MemoryUser(Protocol):
    """What takes memory: an upload, a trained network, a reservation."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, in bytes."""


@dataclass(frozen=True, eq=False)
class MemoryReservation:
    """Memory for something that is not there yet, or not in one piece."""

    n_bytes: int


memory_users: weakref.WeakSet[MemoryUser] = weakref.WeakSet()
"""Everything that counts at the moment, of all sessions."""

_LOCK = threading.Lock()


def reserve(user: MemoryUser, replacing: MemoryUser | None = None) -> None:
    """Count something for as long as it exists, or until it is released; release what it replaces.

    Raises:
        WeightsError: the bound would be passed; nothing is released then.
    """
    with _LOCK:
        used = sum(other.n_bytes for other in memory_users if other is not replacing)
        if used + user.n_bytes > settings().max_own_weights:
            raise WeightsError(
                "This server holds as many visitors' weights as it can right now; try again in some minutes, or with a "
                "smaller model."
            )
        memory_users.add(user)
        if replacing is not None:
            memory_users.discard(replacing)


def release(user: MemoryUser) -> None:
    """Count something no longer, if it was counted."""
    with _LOCK:
        memory_users.discard(user)
