"""Copies with another word have as many tokens, whatever cuts them."""

import re
from collections.abc import Sequence

import pytest

from playground.analysis.sentence_pairs import (
    Corrupted,
    Encode,
    append_sentences,
    changed_tokens,
    corrupt_word,
    find_partners,
)
from playground.text import Batch, build_tokenizer, characters
from playground.weights import checkpoint

SENTENCE = "The doctor didn't cross the street because he was tired."


def encode_words(sentences: Sequence[str]) -> Batch:
    return build_tokenizer("word", 0, tuple(sentences)).encode_batch(list(sentences))


ENCODERS: dict[str, Encode] = {
    "char": characters().encode_batch,
    "bpe": build_tokenizer("bpe", 600, (SENTENCE,)).encode_batch,
    "word": encode_words,
    "wordpiece": lambda sentences: checkpoint.load("minilm")[1].encode_batch(sentences),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_copy_differs_in_the_chosen_word_alone_and_has_as_many_tokens(name: str) -> None:
    encode = ENCODERS[name]
    batch = encode([SENTENCE])
    n_found = 0
    for token in range(len(batch.offsets[0])):
        found = corrupt_word(encode, batch, 0, token)
        if found is None:
            continue
        n_found += 1
        both = encode([SENTENCE, found.sentence])
        assert find_partners(both, 0) == [1]
        assert changed_tokens(both, 0, 1)[0] == found.token
        words = [re.findall(r"\w+|\W", text) for text in both.sentences]
        assert len(words[0]) == len(words[1])
        assert sum(one != two for one, two in zip(*words, strict=True)) == 1
    assert n_found >= len(batch.offsets[0]) / 2


def test_contrasts_come_first_and_keep_their_capitals() -> None:
    encode = ENCODERS["wordpiece"]
    batch = encode(["He saw the doctor", "Doctor Who"])
    changed = [corrupt_word(encode, batch, *place) for place in ((0, 1), (0, 4), (1, 1))]
    assert [found and found.sentence for found in changed] == ["She saw the doctor", "He saw the nurse", "Nurse Who"]


def test_special_tokens_and_sentences_that_are_cut_have_no_copy() -> None:
    encode = ENCODERS["wordpiece"]
    batch = encode([SENTENCE])
    assert corrupt_word(encode, batch, 0, 0) is None
    cut = checkpoint.load("minilm")[1].encode_batch([SENTENCE], 5)
    assert corrupt_word(encode, cut, 0, 2) is None


def test_partners_are_as_long_and_not_the_same() -> None:
    batch = characters().encode_batch(["a cat", "a dog", "a cat", "cats", "dog a"])
    assert find_partners(batch, 0) == [1, 4]
    assert find_partners(batch, 3) == []
    assert changed_tokens(batch, 0, 1) == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "n_sentences", "expected"),
    [("a", 1, "a\nb\nc"), ("a\n\n", 1, "a\nb\nc"), ("", 0, "b\nc"), ("a", 7, None), ("a" * 2_000, 1, None)],
)
def test_sentences_are_appended_where_there_is_room(text: str, n_sentences: int, expected: str | None) -> None:
    assert append_sentences(text, n_sentences, ["b", "c"]) == expected


def test_a_vocabulary_that_lacks_every_other_word_gives_its_own() -> None:
    encode = build_tokenizer("word", 0, ("a b c a",)).encode_batch
    found = corrupt_word(encode, encode(["a b c a"]), 0, 1)
    assert found == Corrupted("a a c a", 1, "b", "a")
