"""The memory that all visitors' weights and trainings share, within one bound."""

import threading
import weakref
from collections.abc import Callable
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

free_caches: list[Callable[[], None]] = []
"""Called where memory is short: each lets go of what nobody in particular needs."""

_LOCK = threading.Lock()


def reserve(user: MemoryUser, replacing: MemoryUser | None = None) -> None:
    """Count something for as long as it exists, or until it is released; release what it replaces.

    What several visitors share counts once, however often it is reserved.

    Raises:
        WeightsError: the bound would be passed; nothing is released then.
    """
    if _try_reserve(user, replacing):
        return
    for free in free_caches:
        free()
    if not _try_reserve(user, replacing):
        raise WeightsError(
            "This server holds as many visitors' weights as it can right now; try again in some minutes, or with a "
            "smaller model."
        )


def release(user: MemoryUser) -> None:
    """Count something no longer, if it was counted."""
    with _LOCK:
        memory_users.discard(user)


def _try_reserve(user: MemoryUser, replacing: MemoryUser | None) -> bool:
    with _LOCK:
        used = sum(other.n_bytes for other in memory_users if other is not replacing and other is not user)
        if used + user.n_bytes > settings().max_own_weights:
            return False
        memory_users.add(user)
        if replacing is not None:
            memory_users.discard(replacing)
        return True
