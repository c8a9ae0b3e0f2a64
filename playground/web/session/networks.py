"""Trained encoders of the small English: shipped, or trained on this server before; in memory while they are used."""

import threading
from collections.abc import Callable

import torch
from cachetools import LRUCache

from playground.language.family import find_network
from playground.language.network import EnglishNetwork, Spec, untrained
from playground.link.state import AFTER, BEFORE
from playground.weights.store import NetworkStore

_IN_MEMORY = 64


class EnglishNetworks:
    """The networks that this server has; thread-safe.

    Args:
        store: where those are kept that were trained here.
        choose_device: says where models run.
    """

    def __init__(self, store: NetworkStore, choose_device: Callable[[], torch.device]) -> None:
        self.store, self._choose_device, self._lock = store, choose_device, threading.Lock()
        self._loaded: LRUCache[str, EnglishNetwork] = LRUCache(_IN_MEMORY)

    def find(self, spec: Spec) -> EnglishNetwork | None:
        """The trained network of a spec, if there is one."""
        with self._lock:
            found = self._loaded.get(AFTER + spec.key)
            if found is None:
                found = find_network(spec, self.store)
                if found is not None:
                    found.network.to(self._choose_device())
                    self._loaded[AFTER + spec.key] = found
            return found

    def initial(self, spec: Spec) -> EnglishNetwork:
        """The network before its training; it has no shares."""
        with self._lock:
            name = BEFORE + spec.key
            if name not in self._loaded:
                initial = untrained(spec)
                initial.network.to(self._choose_device())
                self._loaded[name] = initial
            return self._loaded[name]
