"""Dropout made visible: where each tutorial drops, and one pass in train mode with every zero it made in a layer.

While training, each number becomes 0 with probability p, and the others are divided by 1 − p, so that sums stay the
same on average (Srivastava et al. 2014). In use, nothing is dropped.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from playground.engine import Array, Run, run
from playground.layer_run import belongs
from playground.model import Encoder
from playground.text import Batch

POINTS = (
    "after positions",
    "attention weights",
    "after attention",
    "inside the feed-forward",
    "after the feed-forward",
)
"""Where this model drops, in the order of the computation: the first once, the others in every layer."""

TUTORIALS = {
    "A": POINTS,
    "B": (),
    "C": ("after attention", "inside the feed-forward", "after the feed-forward"),
    "D": POINTS,
    "E": ("after positions", "after attention", "inside the feed-forward", "after the feed-forward"),
}
"""Where each tutorial's own code drops."""


@dataclass(frozen=True)
class Drop:
    """What one dropout was given and what it handed on; their shapes are equal."""

    before: Array
    after: Array


@dataclass(frozen=True)
class DroppedRun:
    """A pass in train mode.

    Attributes:
        run: the pass; of its trace, what belongs to the layer.
        drops: by point; (H, T, T) for attention weights, (T, d_ff) inside the feed-forward, else (T, D).
    """

    run: Run
    drops: Mapping[str, Drop]


def run_with_dropout(
    encoder: Encoder, batch: Batch, sentence: int, layer: int, *, seed: int, causal: bool = False
) -> DroppedRun:
    """Run one sentence in train mode and keep one layer's dropouts; errors as in `engine.run`.

    The encoder itself stays as it is, and so does torch's random state; on the same kind of device, the same seed drops
    the same numbers. One caller at a time: that state belongs to the whole process while the pass runs.
    """
    weights = (*encoder.parameters(), *encoder.buffers())
    private = copy.deepcopy(encoder, {id(tensor): tensor for tensor in weights})  # own modules, the same weights
    first = 1 + (len(POINTS) - 1) * layer
    log = _DropoutLog([0, *range(first, first + len(POINTS) - 1)])
    device = next(encoder.parameters()).device
    with torch.random.fork_rng([device] if device.type == "cuda" else []), log:
        torch.manual_seed(seed)
        result = run(private.train(), batch, sentence, causal=causal, keep=lambda name: belongs(name, layer))
    return DroppedRun(result, dict(zip(POINTS, log.drops, strict=True)))


class _DropoutLog(TorchFunctionMode):
    """While it is entered, notes what the dropouts with these numbers are given and hand on, in this thread alone."""

    def __init__(self, wanted: Sequence[int]) -> None:
        super().__init__()
        self.wanted, self.count = frozenset(wanted), 0
        self.drops: list[Drop] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is F.dropout:
            if self.count in self.wanted:
                self.drops.append(Drop(_frozen(args[0]), _frozen(result)))
            self.count += 1
        return result


def _frozen(tensor: Tensor) -> Array:
    array: Array = tensor[0].cpu().numpy()
    array.flags.writeable = False
    return array
