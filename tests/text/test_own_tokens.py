"""A vocabulary file, its words, and ids typed as numbers become a batch; what is wrong is one sentence."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InputError
from playground.text import IdTokenizer, VocabularyTokenizer, read_vocabulary
from playground.text.own_tokens import MAX_VOCABULARY_BYTES, MAX_WORDS
from tests.text.test_tokenizer import check

IDS = {"[PAD]": 0, "[UNK]": 1, "the": 4, "cat": 2, "don't": 3, "tired": 7, ".": 6}
WORDS = VocabularyTokenizer(IDS)


def test_unknown_words_are_marked_and_read_as_the_unknown_token() -> None:
    batch = WORDS.encode_batch(["the zebra ate!"])
    assert batch.ids.tolist() == [[4, 1, 1, 1]]
    assert batch.tokens == [["the", "[UNK]", "[UNK]", "[UNK]"]]
    assert batch.unknown == [[False, True, True, True]]
    assert batch.offsets == [[(0, 3), (4, 9), (10, 13), (13, 14)]]


def test_without_an_unknown_token_the_unknown_words_are_named() -> None:
    tokenizer = VocabularyTokenizer({"the": 0, "cat": 1})
    with pytest.raises(InputError, match="Your vocabulary lacks “zebra” and “!”, and it has no"):
        tokenizer.encode_batch(["the zebra zebra !"])
    with pytest.raises(InputError, match="lacks “a”, “b”, “c”, “d”, “e” and 2 more, and"):
        tokenizer.encode_batch(["a b c d e f g"])


def test_a_vocabulary_with_the_blank_is_one_of_characters() -> None:
    tokenizer = VocabularyTokenizer({" ": 0, "a": 1, "b": 2, "<unk>": 3})
    batch = tokenizer.encode_batch(["ab az"])
    assert batch.ids.tolist() == [[1, 2, 0, 1, 3]]
    assert batch.tokens == [["a", "b", "␣", "a", "<unk>"]]


# --- ids


@pytest.mark.parametrize("text", ["12 7 401", "12,7,401", "[12, 7, 401]", " 012  7;401 "])
def test_numbers_are_ids(text: str) -> None:
    tokenizer = IdTokenizer(402)
    batch = tokenizer.encode_batch([text, "1"])
    assert batch.ids.tolist() == [[12, 7, 401], [1, 0, 0]]
    assert batch.tokens == [["12", "7", "401"], ["1"]]
    check(tokenizer, batch)


@pytest.mark.parametrize("text", ["5", "-1", "1.5", "0x1", "cat", "١", "²", "9" * 1_999, "1 2 x"])
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(InputError, match=r"is no id of your file's token table: write whole numbers from 0 to 4, with"):
        IdTokenizer(5).encode_batch([text])


def dump(vocabulary: Any) -> bytes:
    return json.dumps(vocabulary).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"the\ncat\nsat",
        b"the\r\ncat\r\nsat\r\n\r\n",
        b" the \n\tcat\nsat\n",
        b"\xef\xbb\xbfthe\ncat\nsat",
        dump({"the": 0, "cat": 1, "sat": 2}),
        dump(["the", "cat", "sat"]),
        json.dumps(["the", "cat", "sat"], indent=2).encode(),
        b"\n" + json.dumps({"sat": 2, "the": 0, "cat": 1}, indent=2).encode(),
    ],
)
def test_words_and_their_ids_are_read(data: bytes) -> None:
    assert read_vocabulary(data, n_rows=3) == {"the": 0, "cat": 1, "sat": 2}


HOSTILE = {
    "blanks": (b" \n\n \n", "There is no word in it."),
    "too large": (b"a" * (MAX_VOCABULARY_BYTES + 1), "A vocabulary may have 2 MB."),
    "too many words": (dump([str(i) for i in range(MAX_WORDS + 1)]), "It has 100,001 words; at most 100,000"),
    "utf-16 without a mark": ("the\ncat".encode("utf-16-le"), "It is no UTF-8 text"),
    "an empty line": (b"the\n\ncat", "Line 2, “”, is not one word"),
    "two words a line": (b"the\nthe cat", "Line 2, “the cat”, is not one word"),
    "a word twice": (b"the\ncat\nthe", "The word “the” is there twice."),
    "surrogates that become one": (b'{"\\ud800": 0, "\\ud801": 1}', "The word “\ufffd” is there twice."),
    "an id twice": (dump({"the": 1, "cat": 1}), "“the” and “cat” have the same id, 1."),
    "too many lines": (b"a\nb\nc\nd", "The word “d” has “3” for an id: your file's token table has the rows 0 to 2."),
    "an id of a thousand digits": (b'{"the": ' + b"9" * 5_000 + b"}", "It is not valid JSON"),
    "words by id": (dump({"0": "the"}), "The word “0” has “the” for an id"),
    "a nested one": (dump({"model": {"vocab": {"the": 0}}}), "The word “model” has “{'vocab': {'the': 0}}” for an id"),
    "a mixed list": (b'["the", 1]', "Its JSON is no dictionary from words to ids."),
    "deep JSON": (b'{"a":' * 200_000, "It is not valid JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_is_one_sentence(name: str) -> None:
    data, reason = HOSTILE[name]
    with pytest.raises(InputError) as refused:
        read_vocabulary(data, n_rows=3 if name != "too many words" else MAX_WORDS + 1)
    assert str(refused.value).startswith(reason)
    assert len(str(refused.value)) < 250


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode) | st.builds(dump, st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)))  # fmt: skip
def test_any_file_is_a_vocabulary_or_refused(data: bytes) -> None:
    with suppress(InputError):
        ids = read_vocabulary(data, n_rows=5)
        assert set(ids.values()) <= set(range(5))
        assert len(set(ids.values())) == len(ids) > 0
        assert VocabularyTokenizer(ids).vocab_size <= 5
