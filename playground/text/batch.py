"""A batch of tokenised sentences. B sentences, T tokens in the longest of them."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Sentences as padded ids for the model, and as unpadded lists (one item a token) for people."""

    ids: Tensor
    """(B, T) int64; the tokenizer's `pad_id` where there is no token."""

    mask: Tensor
    """(B, T) bool; True where there is a token, False on padding."""

    tokens: list[list[str]]
    """Each sentence's own pieces, made readable, without padding."""

    offsets: list[list[tuple[int, int]]]
    """Each token's place in its sentence: first character, one past the last; (0, 0) for special tokens."""

    special: list[list[bool]]
    """True for a token that the tokenizer added, such as [CLS] and [SEP]."""

    unknown: list[list[bool]]
    """True for a token that stands for text outside the vocabulary."""

    sentences: list[str]
    """The sentences that `offsets` point into."""

    truncated: list[int]
    """How many tokens of each sentence were cut off because it was too long."""
