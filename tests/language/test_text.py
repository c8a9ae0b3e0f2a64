"""Sentences as tokens: contractions, masks, what is unknown, and what a stranger may type."""

import time

import pytest

from playground.language.text import CLS_ID, MASK_ID, PAD_ID, SEP_ID, english_tokenizer


def test_a_written_mask_is_the_mask_and_other_special_tokens_are_unknown_words() -> None:
    batch = english_tokenizer().encode_batch(["the [MASK] is [PAD] [CLS] old"])
    assert batch.ids[0].tolist().count(MASK_ID) == 1
    assert PAD_ID not in batch.ids[0].tolist()
    assert batch.ids[0].tolist().count(CLS_ID) == 1
    assert sum(batch.unknown[0]) == 6  # [, pad and ], twice


@pytest.mark.parametrize("text", ["", " ", "\x00", "n't" * 600, "'" * 2_000, "a" * 2_000, "[MASK]" * 300, "\ud800"])
def test_whatever_is_typed_is_read_at_once(text: str) -> None:
    started = time.process_time()
    batch = english_tokenizer().encode_batch([text])
    assert batch.ids[0, 0] == CLS_ID
    assert batch.ids[0, -1] == SEP_ID
    assert time.process_time() - started < 1.0
