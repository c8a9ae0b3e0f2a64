"""Copy and reverse with an encoder–decoder, which gives its answer token by token and ends it itself.

Legend: N sequences, T tokens in the longest of them.
"""

from typing import ClassVar

import torch
from torch import Tensor

from playground.training.tasks.examples import BOS, BOS_ID, EOS, EOS_ID, IGNORE, SPECIALS, Examples
from playground.training.tasks.made_up import MadeUpTask
from playground.training.tasks.symbol_tasks import reversed_within


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
        """The decoder reads [BOS] and the answer; its targets are the answer and [EOS]: (N, T) → (N, T + 1)."""
        mask, answer = ids > 0, self.answers(ids, length)
        lengths, begin = mask.sum(1, keepdim=True), torch.full((len(ids), 1), BOS_ID)
        decoder_ids = torch.cat([begin, answer], 1)  # (N, T + 1)
        decoder_mask = torch.arange(decoder_ids.shape[1]) <= lengths
        targets = torch.cat([answer.masked_fill(~mask, IGNORE), torch.full_like(begin, IGNORE)], 1)
        return Examples(ids, mask, targets.scatter(1, lengths, EOS_ID), decoder_ids, decoder_mask)


class DecoderReverse(DecoderCopy):
    """The target is the source backwards, then [EOS]."""

    name, title = "seq2seq-reverse", "Reverse, with a decoder"
    question = "Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol."

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Every sequence backwards: (N, T) → (N, T)."""
        return reversed_within(ids)
