"""Sequences with what is asked about them, and the special tokens that every vocabulary begins with.

Legend: N sequences, T tokens, T' targets of the longest of them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.text.tokenizer import PAD, UNKNOWN

IGNORE = -100
"""The target of a position where nothing is asked."""

MASK, BOS, EOS = "[MASK]", "[BOS]", "[EOS]"
SPECIALS = (PAD, UNKNOWN, MASK)
"""The tokens that every vocabulary begins with; an encoder–decoder's goes on with [BOS] and [EOS]."""

PAD_ID, UNKNOWN_ID, MASK_ID, BOS_ID, EOS_ID = range(5)


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences and their targets, on the CPU.

    Attributes:
        ids: (N, T) int64, what the encoder reads; 0 after the end.
        mask: (N, T) bool, True = a token.
        targets: (N, T') int64, a class for each token, or `IGNORE` where nothing is asked. T' is T without a decoder.
        decoder_ids: (N, T') int64, what the decoder reads: [BOS], and the target shifted right.
        decoder_mask: (N, T') bool, True = a token.
    """

    ids: Tensor
    mask: Tensor
    targets: Tensor
    decoder_ids: Tensor | None = None
    decoder_mask: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Some of the sequences, cut off where the longest of them ends."""
        mask = self.mask[rows]
        mask = mask[:, : _longest(mask)]
        ids, targets = self.ids[rows, : mask.shape[1]], self.targets[rows]
        if self.decoder_ids is None or self.decoder_mask is None:
            return Examples(ids, mask, targets[:, : mask.shape[1]])
        decoder_mask = self.decoder_mask[rows]
        width = _longest(decoder_mask)
        return Examples(ids, mask, targets[:, :width], self.decoder_ids[rows, :width], decoder_mask[:, :width])

    def to(self, device: torch.device) -> "Examples":
        """The same on another device."""
        decoder = (None if part is None else part.to(device) for part in (self.decoder_ids, self.decoder_mask))
        return Examples(self.ids.to(device), self.mask.to(device), self.targets.to(device), *decoder)

    @property
    def n_answers(self) -> int:
        """The number of positions where an answer is asked for."""
        return int((self.targets != IGNORE).sum())


def share_right(answers: Tensor, targets: Tensor) -> float:
    """The share of asked positions where `answers`, broadcast to the targets, is right."""
    right = (answers == targets)[targets != IGNORE]
    return float(right.to(torch.float64).mean())


def commonest_answer_share(train: Examples, validation: Examples) -> float:
    """The share of validation targets that equal the commonest target of the training set."""
    answer = train.targets[train.targets != IGNORE].bincount().argmax()
    return share_right(answer, validation.targets)


def _longest(mask: Tensor) -> int:
    return int(mask.sum(1).max()) if len(mask) else 0
