"""Encoders with random weights in a cache bounded in bytes; those that differ in a slider share tensors."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import plotly.graph_objects as go
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey
from torch import nn

from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.init import InitialTensor, draw, initial_tensors, share_weights
from playground.runs.budget import check_interrupted

P = ParamSpec("P")
R = TypeVar("R")

ENTRY = 1_000
"""Bytes that an entry takes besides its arrays, about."""


class _Result(NamedTuple):
    value: Any
    n_bytes: int


class SizedCache:
    """Results of several functions, the latest used `max_bytes` of them; larger ones are handed over and not kept.

    Used as a decorator of functions whose arguments can be hashed. What two visitors ask for at the same time is
    computed once; where the one who computes it leaves, the other does. Nobody may change a result: everybody gets the
    same object.
    """

    def __init__(self, max_bytes: int) -> None:
        self._cache = LRUCache[Any, _Result](max_bytes, getsizeof=attrgetter("n_bytes"))
        self._condition = threading.Condition()
        self._functions: list[Any] = []

    @property
    def size(self) -> int:
        """Bytes that are in use."""
        return int(self._cache.currsize)

    @property
    def hits(self) -> int:
        """How often a result was there."""
        return sum(function.cache_info().hits for function in self._functions)

    @property
    def misses(self) -> int:
        """How often one had to be computed."""
        return sum(function.cache_info().misses for function in self._functions)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Cache the function's results by its name and its arguments."""
        key = partial(hashkey, function.__module__, function.__qualname__)

        def compute(*args: P.args, **kwargs: P.kwargs) -> _Result:
            value = function(*args, **kwargs)
            return _Result(value, size_in_bytes(value))  # counted here, where nobody waits for the cache's lock

        decorated = cached(self._cache, key=key, condition=self._condition, info=True)(compute)
        self._functions.append(decorated)

        @wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            value: R = decorated(*args, **kwargs).value
            return value

        return find

    def clear(self) -> None:
        """Forget every result."""
        with self._condition:
            self._cache.clear()


def size_in_bytes(value: object) -> int:
    """Bytes that a result's arrays, parameters and texts take; what it shares with another result counts in both."""
    if isinstance(value, np.ndarray | torch.Tensor):
        return value.nbytes
    if isinstance(value, nn.Module):
        return ENTRY + sum(tensor.nbytes for tensor in value.parameters())
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, go.Figure):
        return ENTRY + size_in_bytes(value.to_plotly_json())
    if is_dataclass(value):
        return ENTRY + sum(size_in_bytes(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(map(size_in_bytes, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(size_in_bytes, value))
    return 8


_Key = tuple[InitialTensor, int]
"""A tensor, and the seed that it is drawn from."""


@dataclass(frozen=True)
class _Kept:
    encoder: Encoder
    tensors: tuple[_Key, ...]
    n_bytes: int
    """What it takes besides these: copies of the parts of fused projections, and its modules."""


class RandomWeights:
    """Encoders by architecture and seed, of which the latest used `max_bytes` are kept, each tensor counted once.

    The two latest used are kept whatever they take: a page with pinned settings goes back and forth between them, and
    drawing the numbers of a large model costs more than its pass.
    """

    def __init__(self, max_bytes: int, device: Callable[[], torch.device]) -> None:
        """`device` says where tensors lie; they are drawn on the CPU all the same."""
        self.max_bytes = max_bytes
        self.hits = 0
        """How often an encoder was there."""
        self.misses = 0
        """How often one had to be made."""
        self._device = device
        self._lock = threading.Lock()
        self._encoders: OrderedDict[tuple[ModelConfig, int], _Kept] = OrderedDict()
        self._tensors: dict[_Key, torch.Tensor] = {}
        self._uses: Counter[_Key] = Counter()
        self.size = 0
        """Bytes that are in use."""

    def encoder(self, config: ModelConfig, seed: int) -> Encoder:
        """The encoder with these random weights, of tensors that it shares with all others that have them.

        Nobody waits while its numbers are drawn: others find theirs meanwhile.
        """
        with self._lock:
            kept = self._encoders.get((config, seed))
            if kept is not None:
                self.hits += 1
                self._encoders.move_to_end((config, seed))
                return kept.encoder
            self.misses += 1
        made = self._make(config, seed)
        with self._lock:
            kept = self._encoders.get((config, seed))
            if kept is not None:  # somebody else has made it meanwhile
                self._release(made.tensors)
                return kept.encoder
            self._encoders[config, seed] = made
            self.size += made.n_bytes
            return made.encoder

    def n_missing(self, config: ModelConfig, seed: int) -> int:
        """How many numbers would have to be drawn for this encoder."""
        with self._lock:
            if (config, seed) in self._encoders:
                return 0
        encoder = Encoder(config, seed=None)
        needed = {tensor for tensor, _ in initial_tensors(encoder, config.initialisation)}
        with self._lock:
            return sum(_n_bytes((each, seed)) // 4 for each in needed if (each, seed) not in self._tensors)

    def clear(self) -> None:
        """Forget every encoder."""
        with self._lock:
            for held in (self._encoders, self._tensors, self._uses):
                held.clear()
            self.size = 0

    def _make(self, config: ModelConfig, seed: int) -> _Kept:
        """Draw what no other encoder has yet, after room was made for it."""
        encoder = Encoder(config, seed=None).requires_grad_(False)
        tensors = tuple((tensor, seed) for tensor, _ in initial_tensors(encoder, config.initialisation))
        copies = sum(4 * parameter.numel() for parameter in encoder.parameters()) if config.fused_qkv else 0
        n_bytes = copies + ENTRY * sum(1 for _ in encoder.modules())
        with self._lock:
            self._uses.update(tensors)  # from here on nobody else frees them
            self._make_room(n_bytes + sum(_n_bytes(key) for key in set(tensors) - self._tensors.keys()))
        try:
            share_weights(encoder, config.initialisation, lambda tensor: self._find(tensor, seed))
        except BaseException:  # there is not even memory to draw it, or nobody waits for it any more
            with self._lock:
                self._release(tensors)
            raise
        return _Kept(encoder.to(self._device()), tensors, n_bytes)

    def _find(self, tensor: InitialTensor, seed: int) -> torch.Tensor:
        check_interrupted()
        with self._lock:
            found = self._tensors.get((tensor, seed))
        if found is not None:
            return found
        drawn = draw(tensor, seed).to(self._device())
        with self._lock:
            if (tensor, seed) not in self._tensors:
                self._tensors[tensor, seed] = drawn
                self.size += drawn.nbytes
            return self._tensors[tensor, seed]

    def _make_room(self, n_bytes: int) -> None:
        """With the lock held: forget the encoders used longest ago until so many more bytes fit, or one is left."""
        while len(self._encoders) > 1 and self.size + n_bytes > self.max_bytes:
            _, oldest = self._encoders.popitem(last=False)
            self.size -= oldest.n_bytes
            self._release(oldest.tensors)

    def _release(self, tensors: tuple[_Key, ...]) -> None:
        """With the lock held: free those of an encoder's tensors that no other has."""
        self._uses.subtract(tensors)
        for key in tensors:
            if self._uses[key] <= 0:
                del self._uses[key]
                if key in self._tensors:
                    self.size -= self._tensors.pop(key).nbytes


def _n_bytes(key: _Key) -> int:
    return 4 * torch.Size(key[0].shape).numel()
