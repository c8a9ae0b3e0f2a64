"""What a model reads: a batch of tokenised sentences, or raw vectors. B sentences, T tokens in the longest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
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


@dataclass(frozen=True)
class EncodedSentence:
    """One sentence as a tokenizer has it: lists as in `Batch`, one item a token, and how many tokens were cut off."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    special: list[bool]
    unknown: list[bool]
    truncated: int


def build_batch(sentences: list[str], encoded: Sequence[EncodedSentence], pad_id: int) -> Batch:
    """The batch of encoded sentences, the shorter ones padded."""
    lengths = torch.tensor([len(one.ids) for one in encoded], dtype=torch.int64)
    width = max(lengths.tolist(), default=0)
    ids = torch.full((len(sentences), width), pad_id)  # (B, T)
    for row, one in zip(ids, encoded, strict=True):
        row[: len(one.ids)] = torch.tensor(one.ids)
    return Batch(
        ids=ids,
        mask=torch.arange(width) < lengths[:, None],  # (B, T)
        tokens=[one.tokens for one in encoded],
        offsets=[one.offsets for one in encoded],
        special=[one.special for one in encoded],
        unknown=[one.unknown for one in encoded],
        sentences=sentences,
        truncated=[one.truncated for one in encoded],
    )


def draw_vectors(words: Sequence[str], d_model: int, seed: int) -> Tensor:
    """A vector of standard normal numbers for each word: (T, d_model) float32.

    A word's vector depends on the seed and the word alone, so equal words have equal vectors, in every text.
    """
    drawn = {word: _draw_vector(word, d_model, seed) for word in set(words)}
    return torch.from_numpy(np.array([drawn[word] for word in words], np.float32).reshape(len(words), d_model))


def _draw_vector(word: str, d_model: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, *word.encode()]).standard_normal(d_model, np.float32)
