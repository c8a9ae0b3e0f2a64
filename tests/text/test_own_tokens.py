"""Words of a given vocabulary, and ids typed as numbers, become a batch that any page can draw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InputError
from playground.text import IdTokenizer, VocabularyTokenizer
from tests.text.test_tokenizer import HARD_TEXTS, check

IDS = {"[PAD]": 0, "[UNK]": 1, "the": 4, "cat": 2, "don't": 3, "tired": 7, ".": 6}
WORDS = VocabularyTokenizer(IDS)


def test_words_get_the_vocabularys_ids() -> None:
    batch = WORDS.encode_batch(["the cat", "the tired cat."])
    assert batch.ids.tolist() == [[4, 2, 0, 0], [4, 7, 2, 6]]
    assert batch.tokens == [["the", "cat"], ["the", "tired", "cat", "."]]
    assert batch.offsets[1] == [(0, 3), (4, 9), (10, 13), (13, 14)]
    check(WORDS, batch)


def test_a_word_with_punctuation_is_one_token_where_it_is_a_word_of_the_vocabulary() -> None:
    batch = WORDS.encode_batch(["don't tired."])
    assert batch.tokens == [["don't", "tired", "."]]


def test_unknown_words_are_marked_and_read_as_the_unknown_token() -> None:
    batch = WORDS.encode_batch(["the zebra ate!"])
    assert batch.ids.tolist() == [[4, 1, 1, 1]]
    assert batch.tokens == [["the", "[UNK]", "[UNK]", "[UNK]"]]
    assert batch.unknown == [[False, True, True, True]]
    assert batch.offsets == [[(0, 3), (4, 9), (10, 13), (13, 14)]]


@pytest.mark.parametrize("name", ["[UNK]", "<unk>", "<UNK>", "<oov>"])
def test_the_unknown_token_has_several_names(name: str) -> None:
    assert VocabularyTokenizer({"a": 0, name: 1}).encode_batch(["b a"]).ids.tolist() == [[1, 0]]


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


def test_an_id_that_no_word_has_is_shown_as_its_number() -> None:
    assert WORDS.vocab_size == 8
    assert [WORDS.id_to_token(i) for i in (4, 5)] == ["the", "5"]
    for token_id in (-1, 8):
        with pytest.raises(IndexError, match="outside the vocabulary, 0 to 7"):
            WORDS.id_to_token(token_id)


def test_a_long_sentence_is_cut_before_its_words_are_looked_up() -> None:
    batch = VocabularyTokenizer({"a": 0}).encode_batch(["a a a zebra"], max_tokens=2)
    assert (batch.tokens, batch.truncated) == ([["a", "a"]], [2])


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_any_text_is_a_batch(text: str) -> None:
    check(WORDS, WORDS.encode_batch([text, "the cat"]))


@given(st.text(max_size=200))
def test_any_text_at_all_is_a_batch(text: str) -> None:
    check(WORDS, WORDS.encode_batch([text]))


# --- ids


@pytest.mark.parametrize("text", ["12 7 401", "12,7,401", "[12, 7, 401]", " 012  7;401 "])
def test_numbers_are_ids(text: str) -> None:
    tokenizer = IdTokenizer(402)
    batch = tokenizer.encode_batch([text, "1"])
    assert batch.ids.tolist() == [[12, 7, 401], [1, 0, 0]]
    assert batch.tokens == [["12", "7", "401"], ["1"]]
    check(tokenizer, batch)


def test_ids_are_cut_after_the_longest_sentence() -> None:
    batch = IdTokenizer(5).encode_batch(["1 2 3 4"], max_tokens=3)
    assert (batch.ids.tolist(), batch.truncated) == ([[1, 2, 3]], [1])


@pytest.mark.parametrize("text", ["5", "-1", "1.5", "0x1", "cat", "١", "²", "9" * 1_999, "1 2 x"])
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(InputError, match=r"is no id of your file's token table: write whole numbers from 0 to 4, with"):
        IdTokenizer(5).encode_batch([text])


def test_a_line_without_a_number_holds_no_id() -> None:
    with pytest.raises(InputError, match="holds no id"):
        IdTokenizer(5).encode_batch([", ;"])
