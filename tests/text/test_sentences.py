import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.limits import MAX_CHARACTERS, MAX_SENTENCES
from playground.text import split_sentences

ANY_TEXT = st.text(st.characters(), max_size=400)  # lone surrogates and control characters too


def test_one_sentence_a_line_and_blank_lines_are_dropped() -> None:
    result = split_sentences("one\n\n  \t \ntwo\r\nthree\rfour\u2028five\n")
    assert result.sentences == ("one", "two", "three", "four", "five")
    assert result.notes == ()


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \r\n"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == split_sentences("")
    assert split_sentences(text).sentences == ()


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "👩‍👩‍👧 family", "שלום עולם", "a\u0301\u0302", "tab\there", "\u200fmark"],
)
def test_unusual_but_harmless_text_stays_as_it_is(text: str) -> None:
    assert split_sentences(text).sentences == (text,)
    assert split_sentences(text).notes == ()


@pytest.mark.parametrize(
    ("text", "sentences", "note"),
    [
        ("a\x00b\x1bc\x85d\u202ee\u2066f\x7fg", ("a b c d e f g",), "Control characters were replaced by spaces."),
        ("a\ud83d!", ("a\ufffd!",), "Characters that are not valid Unicode were replaced by \ufffd."),
        ("x" * 100_000, ("x" * MAX_CHARACTERS,), "The text has 100,000 characters; only the first 2,000 are used."),
        ("\n".join("abcdefghij"), tuple("abcdefgh"), "The text has 10 sentences; only the first 8 are used."),
    ],
    ids=["control characters", "lone surrogate", "long", "many"],
)
def test_each_change_is_made_and_noted(text: str, sentences: tuple[str, ...], note: str) -> None:
    result = split_sentences(text)
    assert result.sentences == sentences
    assert result.notes == (note,)


def test_every_change_has_its_own_note() -> None:
    assert len(split_sentences("\x00\ud800 a\n" * 1_000).notes) == 4


@given(ANY_TEXT)
def test_sentences_are_clean_within_limits_and_settled(text: str) -> None:
    result = split_sentences(text)
    assert len(result.sentences) <= MAX_SENTENCES
    for sentence in result.sentences:
        assert sentence.strip()
        assert not re.search("[\x00-\x08\n\r\x7f-\x9f\ud800-\udfff\u202a-\u202e]", sentence)
    again = split_sentences("\n".join(result.sentences))
    assert again.sentences == result.sentences
    assert again.notes == ()
