"""Four questions about a sequence of symbols: copy it, reverse it, sort it, count in it.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

from typing import ClassVar

import torch
from torch import Tensor

from playground.training.tasks.made_up import MadeUpTask


class Copy(MadeUpTask):
    """Each token's class is the token itself."""

    name, title = "copy", "Copy"
    question = "Say at every position which symbol stands there."
    defaults: ClassVar = {"steps": 200}
    # Each symbol is asked for itself alone: it takes very few sequences, of many symbols, for one to be missing.
    ablation_sizes: ClassVar = {"length": 8, "n_symbols": 26}
    ablation_small = 8

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """The sequences themselves: (N, T) → (N, T)."""
        return ids


class Reverse(MadeUpTask):
    """Each token's class is the token at the mirrored position."""

    name, title = "reverse", "Reverse"
    question = "Say at every position which symbol stands there when the sequence is read backwards."

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Every sequence backwards: (N, T) → (N, T)."""
        return reverse_sequences(ids)


class Sort(MadeUpTask):
    """Each token's class is the token that stands there in ascending order."""

    name, title = "sort", "Sort"
    question = "Say at every position which number stands there once the sequence is in ascending order."

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Numbers from 0."""
        return tuple(map(str, range(n_symbols)))

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Every sequence sorted by id: (N, T) → (N, T)."""
        last = torch.iinfo(ids.dtype).max
        ordered = ids.masked_fill(ids == 0, last).sort(1).values
        return ordered.masked_fill(ordered == last, 0)


class Count(MadeUpTask):
    """Each token's class says how often its symbol occurs: class 0 is once."""

    name, title = "count", "Count"
    question = "Say at every position how often its symbol occurs in the whole sequence."
    rule = "always answer with the commonest count of the training set"

    def labels(self, length: int, vocabulary: tuple[str, ...]) -> tuple[str, ...]:
        """Counts from 1."""
        return tuple(str(n) for n in range(1, length + 1))

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """How often each token's symbol occurs in its sequence, less one: (N, T) → (N, T)."""
        counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
        return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids) - 1


def reverse_sequences(ids: Tensor) -> Tensor:
    """Every sequence reversed within its own length: (N, T) → (N, T)."""
    places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
    return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)
