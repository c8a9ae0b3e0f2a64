"""The small English as tokens."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import tokenizers
import torch
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from playground.language.capabilities import LISTS, Example
from playground.text.tokenizer import PAD, UNKNOWN, Batch, LibraryTokenizer, Tokenizer

MASK, CLS, SEP = "[MASK]", "[CLS]", "[SEP]"
SPECIALS = (PAD, UNKNOWN, MASK, CLS, SEP)
PAD_ID, UNKNOWN_ID, MASK_ID, CLS_ID, SEP_ID = range(5)


VOCABULARY = (*SPECIALS, *sorted({word for words in LISTS for word in words}))
"""Every token, in the order of its id."""

IDS = {token: i for i, token in enumerate(VOCABULARY)}

LONGEST = 48
"""Tokens of a sentence, [CLS] and [SEP] included."""


@cache
def english_tokenizer() -> Tokenizer:
    """Words and marks, lower-cased; *didn't* is *did* and *n't*."""
    backend = tokenizers.Tokenizer(models.WordLevel(IDS, UNKNOWN))
    backend.normalizer = normalizers.Sequence([normalizers.Replace("’", "'"), normalizers.Lowercase()])
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"n't|\w+(?=n't)|\w+|[^\w\s]"), "removed", invert=True)
    backend.add_special_tokens([AddedToken(MASK, normalized=False)])
    backend.post_processor = processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}", special_tokens=[(CLS, CLS_ID), (SEP, SEP_ID)]
    )
    return LibraryTokenizer("english", backend)


def join_words(written: Sequence[str]) -> str:
    """Write words as a sentence that the tokenizer reads back."""
    text = ""
    for word in written:
        blank = " " if text and word not in (".", ",", "n't") else ""
        text += blank + (word.capitalize() if word != MASK and (not text or text.endswith(".")) else word)
    return text


def encode(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """Return ids (N, T) int64, nothing masked, and the place of each one's word (N,)."""
    rows = [[CLS_ID, *(IDS[word] for word in example.words), SEP_ID] for example in examples]
    width = max(map(len, rows), default=0)
    ids = torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows], dtype=torch.int64)
    return ids.view(len(rows), width), torch.tensor([example.place + 1 for example in examples], dtype=torch.int64)


def hide_word(batch: Batch, sentence: int, place: int) -> Batch:
    """Return the batch with one token masked, if there is one."""
    if place >= len(batch.tokens[sentence]) or batch.special[sentence][place]:
        return batch
    ids, tokens, unknown = batch.ids.clone(), [*map(list, batch.tokens)], [*map(list, batch.unknown)]
    ids[sentence, place], tokens[sentence][place], unknown[sentence][place] = MASK_ID, MASK, False
    return replace(batch, ids=ids, tokens=tokens, unknown=unknown)
