"""Words of a sentence, and the sentence without one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.text.sentences import leave_out, split_words


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The cat didn't sit.", ["The", "cat", "didn't", "sit", "."]),
        ("(cat), «dog»!?", ["(", "cat", ")", ",", "«", "dog", "»", "!", "?"]),
        ("well-known  3.5\tx_y", ["well-known", "3.5", "x_y"]),
        ("...", [".", ".", "."]),
        ("漢字 かな! ok", ["漢", "字", "か", "な", "!", "ok"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("\u200b", ["\u200b"]),
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
        ("The cat sat.", 3, "The cat sat"),
        ("(cat)", 1, "( )"),
        ("漢字", 0, "字"),
        ("one  two   three", 1, "one    three"),
    ],
)
def test_a_word_is_left_out_and_its_neighbours_stay_apart(sentence: str, number: int, left: str) -> None:
    assert leave_out(sentence, split_words(sentence)[number]) == left


@given(st.text(max_size=40))
def test_words_are_all_that_is_not_blank_in_order(sentence: str) -> None:
    words = split_words(sentence)
    assert "".join(sentence[start:end] for start, end in words) == "".join(sentence.split())
    for i, word in enumerate(words):
        others = [sentence[start:end] for j, (start, end) in enumerate(words) if j != i]
        assert "".join(leave_out(sentence, word).split()) == "".join(others)
