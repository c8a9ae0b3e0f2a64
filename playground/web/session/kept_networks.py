"""Trained networks that outlive their session: a reload begins a new one, and what was trained is to be there again."""

import threading
import time
from collections.abc import Callable

from cachetools import TTLCache

from playground.training.after.trained_network import TrainedNetwork
from playground.web.server.settings import settings
from playground.web.session import memory_budget

SECONDS = 3600.0
"""How long a network is kept after its visitor was last seen."""

MAX_NETWORKS = 64
"""How many are kept; the one used longest ago goes first."""


class KeptNetworks:
    """The latest network of each browser tab, by a name that nobody else can guess.

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


KEPT = KeptNetworks(MAX_NETWORKS, settings().max_own_weights // 4, SECONDS)
"""Those of all visitors, in a part of the memory that visitors' weights may take."""

memory_budget.free_caches.append(KEPT.forget)
