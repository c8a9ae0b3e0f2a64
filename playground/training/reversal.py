"""Which heads of a network that reverses sequences look at the mirrored place, and what is right without them.

Legend: B sequences, T tokens, L layers, H heads. The mirrored place of token i of n is n − 1 − i: a head that looks
there shows the anti-diagonal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from playground.model import Trace
from playground.model.changes import Change
from playground.runs.arrays import Array, freeze
from playground.training.answers import score_changed
from playground.training.network import attention_mask
from playground.training.tasks import Examples
from playground.training.trained_network import TrainedNetwork

MIRRORED = 0.5
"""The share of its weight from which on a head is said to look at the mirrored place."""


class Head(NamedTuple):
    """A head's place."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"layer {self.layer}, head {self.head}"


@dataclass(frozen=True)
class Reversal:
    """What a network's heads do for the reversal; accuracies are shares of right answers."""

    weights: Array
    """(L, H): the mean weight that each head gives to the mirrored place."""
    even: float
    """That weight where a head spreads it evenly."""
    accuracy: float
    first_off: Head
    """The head that is switched off: the visitor's, or else the one that looks there most."""
    accuracy_off: float
    """Without it."""
    second_off: Head | None
    """The one that is then switched off, too: the visitor's, or else the next of the mirrored ones, if there is one."""
    accuracy_both: float
    """Without both; `accuracy_off` where there is no second."""
    accuracy_none: float
    """Without all that look at the mirrored place."""

    pattern: Array
    """(n, n): the attention of `first_off` on the first sequence, before anything is switched off."""

    @property
    def ranked(self) -> list[Head]:
        """All heads, the one that looks at the mirrored place most first."""
        return _rank(self.weights)

    @property
    def mirrored(self) -> list[Head]:
        """The heads that look at the mirrored place, the one that does so most first."""
        return [head for head in self.ranked if self.weights[head] >= MIRRORED]


def _rank(weights: Array) -> list[Head]:
    order = np.argsort(-weights, axis=None, kind="stable")
    return [Head(int(i) // weights.shape[1], int(i) % weights.shape[1]) for i in order]


def mean_mirrored_weight(patterns: Array, n_tokens: Sequence[int]) -> Array:
    """The mean weight of all tokens' mirrored places: (B, H, T, T), tokens of each sequence → (H,)."""
    total, n = np.zeros(patterns.shape[1], np.float32), 0
    for pattern, length in zip(patterns, n_tokens, strict=True):
        places = np.arange(length)
        total += pattern[:, places, length - 1 - places].sum(axis=-1)
        n += length
    return (total / max(n, 1)).astype(np.float32)


def measure_reversal(trained: TrainedNetwork, examples: Examples, off: Sequence[Head] = ()) -> Reversal:
    """What heads do for the reversal of some sequences, on the CPU.

    Args:
        trained: a network without a decoder.
        examples: the sequences.
        off: the heads that the visitor has switched off, in that order; at most two are looked at.
    """
    trace, lengths = Trace(), examples.mask.sum(dim=1).tolist()
    with torch.inference_mode():
        trained.encoder(examples.ids, attention_mask(examples, trained.recipe), trace)
    patterns = [trace[f"layers.{layer}.attn.pattern"].numpy() for layer in range(trained.config.n_layers)]
    weights = np.stack([mean_mirrored_weight(pattern, lengths) for pattern in patterns])
    ranked = _rank(weights)
    first = off[0] if off else ranked[0]
    mirrored = [head for head in ranked if weights[head] >= MIRRORED]
    second = off[1] if len(off) > 1 else next((head for head in mirrored if head != first), None)
    whole, one, both, none = (
        score_changed(
            trained.network,
            examples,
            trained.recipe,
            torch.device("cpu"),
            [Change("zero", *head) for head in heads],
        ).accuracy
        for heads in ([], [first], [first] if second is None else [first, second], mirrored)
    )
    shown = patterns[first.layer][0, first.head, : lengths[0], : lengths[0]].copy()
    freeze(shown, weights)
    return Reversal(weights, len(lengths) / sum(lengths), whole, first, one, second, both, none, shown)
