"""Encoders with random weights in a cache bounded in bytes; those that differ in a slider share tensors."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import torch

from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.init import InitialTensor, draw, initial_tensors, share_weights
from playground.runs.budget import check_interrupted
from playground.web.session.result_cache import ENTRY

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
