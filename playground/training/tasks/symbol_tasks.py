"""Questions about a sequence of symbols: copy it, reverse it, sort it, count in it.

An encoder–decoder, which copies and reverses, too, gives its answer token by token and ends it itself.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.training.tasks.examples import BOS, EOS, EOS_ID, IGNORE, PAD_ID, SPECIALS, Examples
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
        """Every sequence reversed within its own length: (N, T) → (N, T)."""
        places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
        return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)


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

    def labels(self, length: int) -> tuple[str, ...]:
        """Counts from 1."""
        return tuple(str(n) for n in range(1, length + 1))

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """How often each token's symbol occurs in its sequence, less one: (N, T) → (N, T)."""
        counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
        return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids) - 1


class DecoderCopy(MadeUpTask):
    """The target is the source, then [EOS]."""

    name, title = "seq2seq-copy", "Copy, with a decoder"
    question = "Read a sequence with the encoder, and say it again with the decoder, symbol by symbol."
    rule = (
        "always answer with the token that is the commonest answer in the training set, a symbol or the [EOS] that "
        "ends every answer"
    )
    defaults: ClassVar = {"steps": 400}
    has_decoder = True
    specials = (*SPECIALS, BOS, EOS)

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """The sequences themselves: (N, T) → (N, T)."""
        return ids

    def examples(self, ids: Tensor, length: int) -> Examples:
        """The targets are the answer and [EOS]: (N, T) → (N, T + 1)."""
        answers = self.answers(ids, length).masked_fill(ids == PAD_ID, IGNORE)
        lengths = (ids != PAD_ID).sum(1, keepdim=True)
        return Examples(ids, F.pad(answers, (0, 1), value=IGNORE).scatter(1, lengths, EOS_ID))


class DecoderReverse(Reverse, DecoderCopy):
    """The target is the source backwards, then [EOS]."""

    name, title = "seq2seq-reverse", "Reverse, with a decoder"
    question = "Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol."
