"""A sentence's words, and the sentence without one of them."""

import re
import unicodedata
from typing import NamedTuple

_CHUNK = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
"""A Chinese or Japanese character, which has no blanks around it, or what stands between blanks."""


class Word(NamedTuple):
    """A word's place in its sentence: its first character, and one past its last."""

    start: int
    end: int


def split_words(sentence: str) -> list[Word]:
    """What stands between blanks, in order; each punctuation mark at the ends of it is a word of its own.

    `didn't` is one word, `(cat),` are four. Each Chinese or Japanese character is one.
    """
    words = []
    for chunk in _CHUNK.finditer(sentence):
        start, end = chunk.span()
        while start < end - 1 and is_punctuation(sentence[start]):
            words.append(Word(start, start + 1))
            start += 1
        marks = end
        while marks > start + 1 and is_punctuation(sentence[marks - 1]):
            marks -= 1
        words.append(Word(start, marks))
        words += [Word(place, place + 1) for place in range(marks, end)]
    return words


def leave_out(sentence: str, word: Word) -> str:
    """The sentence without a word; the words around it stay apart, by one blank where there was any."""
    before, after = sentence[: word.start], sentence[word.end :]
    if not before.strip() or not after.strip():
        return f"{before}{after}".strip()
    if before[-1].isspace() and after[0].isspace():
        return before + after[1:]
    if before[-1].isspace() or after[0].isspace():
        return before + after
    return f"{before} {after}"


def is_punctuation(text: str) -> bool:
    """Whether a text is punctuation marks and nothing else; an empty one is not."""
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)
