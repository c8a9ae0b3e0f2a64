"""Copy and reverse with an encoder–decoder, which gives its answer token by token and ends it itself.

Legend: N sequences, T tokens in the longest of them.
"""

from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from playground.training.tasks.examples import BOS, EOS, EOS_ID, IGNORE, PAD_ID, SPECIALS, Examples
from playground.training.tasks.made_up import MadeUpTask
from playground.training.tasks.symbol_tasks import reverse_sequences


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


class DecoderReverse(DecoderCopy):
    """The target is the source backwards, then [EOS]."""

    name, title = "seq2seq-reverse", "Reverse, with a decoder"
    question = "Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol."

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Every sequence backwards: (N, T) → (N, T)."""
        return reverse_sequences(ids)
