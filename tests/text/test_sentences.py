"""A text's sentences, their words, their script, their language, and the pronoun that is looked at."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.limits import MAX_CHARACTERS, MAX_SENTENCES
from playground.text import split_sentences
from playground.text.sentences import choose_pronoun, foreign_script, leave_out, split_words

ANY_TEXT = st.text(st.characters(), max_size=400)  # lone surrogates and control characters too


def test_one_sentence_a_line_and_blank_lines_are_dropped() -> None:
    result = split_sentences("one\n\n  \t \ntwo\r\nthree\rfour\u2028five\n")
    assert result.sentences == ("one", "two", "three", "four", "five")
    assert result.notes == ()


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


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The cat didn't sit.", ["The", "cat", "didn't", "sit", "."]),
        ("(cat), «dog»!?", ["(", "cat", ")", ",", "«", "dog", "»", "!", "?"]),
        ("well-known  3.5\tx_y", ["well-known", "3.5", "x_y"]),
        ("漢字 かな! ok", ["漢", "字", "か", "な", "!", "ok"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        (" ", []),
    ],
)
def test_words_stand_between_blanks_and_marks_alone(sentence: str, words: list[str]) -> None:
    assert [sentence[start:end] for start, end in split_words(sentence)] == words


@pytest.mark.parametrize(
    ("sentence", "number", "left"),
    [
        ("The cat sat.", 0, "cat sat."),
        ("The cat sat.", 1, "The sat."),
        ("The cat sat.", 2, "The cat ."),
        ("(cat)", 1, "()"),
        ("漢字", 0, "字"),
        ("one  two   three", 1, "one    three"),
    ],
)
def test_a_word_is_left_out_and_its_neighbours_stay_apart(sentence: str, number: int, left: str) -> None:
    assert leave_out(sentence, split_words(sentence)[number]) == left


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The animal", None),
        ("Größe, naïve, İstanbul", None),
        ("", None),
        ("動物は道を渡らなかった", "Japanese"),
        ("الحيوان لم يعبر الشارع", "Arabic"),
        ("동물은", "Korean"),
        ("\ufffd\ue000", None),
    ],
)
def test_the_script_of_most_letters(text: str, script: str | None) -> None:
    assert foreign_script(text) == script


@pytest.mark.parametrize(
    ("sentence", "pronoun"),
    [
        ("She gave the dog a bone because it was hungry.", 7),
        ("the animal didn ' t cross the street because it was too tired .", 9),
        ("The nurse thanked the driver because she was late.", 6),
        ("He said that the doctor thinks he is late.", 6),
        ("The dog saw the cat, who ran because it was late.", 9),
        ("It rained, so the teacher told the boys that they can go.", 10),
        ("the animal", None),
    ],
)
def test_the_pronoun_has_words_before_it_and_it_and_they_come_first(sentence: str, pronoun: int | None) -> None:
    assert choose_pronoun(re.findall(r"\w+|[^\w\s]", sentence)) == pronoun
