"""Sequences with what is asked about them, and the special tokens that every vocabulary begins with.

Legend: N sequences, T tokens, T' targets of the longest of them.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
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
    """Sequences and their targets, on the CPU."""

    ids: Tensor
    """(N, T) int64, what the encoder reads; 0 after the end."""
    targets: Tensor
    """(N, T') int64, a class for each token, or `IGNORE` where nothing is asked. T' is T without a decoder; with one it
    is T + 1, as [EOS] is asked, too."""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Some of the sequences, cut off where the longest of them ends."""
        n_tokens = (self.ids[rows] != PAD_ID).sum(1)
        width = int(n_tokens.max()) if len(n_tokens) else 0
        extra = self.targets.shape[1] - self.ids.shape[1]
        return Examples(self.ids[rows, :width], self.targets[rows, : width + extra])

    def to(self, device: torch.device) -> "Examples":
        """These examples on another device."""
        return Examples(self.ids.to(device), self.targets.to(device))

    @property
    def mask(self) -> Tensor:
        """Where the encoder reads a token: (N, T) bool."""
        return self.ids != PAD_ID

    @property
    def decoder_mask(self) -> Tensor:
        """Where a decoder reads a token, which is where one is asked: (N, T') bool."""
        return self.targets != IGNORE

    @property
    def decoder_ids(self) -> Tensor:
        """What a decoder reads, [BOS] and the target shifted right: (N, T') int64, 0 after the end."""
        shifted = F.pad(self.targets[:, :-1], (1, 0), value=BOS_ID)
        return shifted.masked_fill(~self.decoder_mask, PAD_ID)

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
