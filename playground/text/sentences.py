"""Typed text → clean sentences with notes on changes; their words, pronouns and script."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from playground.limits import MAX_CHARACTERS, MAX_SENTENCES

LINE_BREAK = re.compile("\r\n|[\n\r\u2028\u2029]")
# C0 but tab, DEL and C1; then the marks that reorder what is printed after them, the page's own words too.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Sentences:
    """The sentences of a text, and a note on each thing that changed."""

    sentences: tuple[str, ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=32)
def split_sentences(text: str, max_sentences: int = MAX_SENTENCES, name: str = "text") -> Sentences:
    """Split `text` into sentences, one a line, within the limits; blank lines are dropped. Never raises.

    Control characters become spaces, lone surrogates U+FFFD. `name` is what the notes call the text.
    """
    notes = []
    if len(text) > MAX_CHARACTERS:
        notes.append(f"The {name} has {len(text):,} characters; only the first {MAX_CHARACTERS:,} are used.")
        text = text[:MAX_CHARACTERS]

    lines = LINE_BREAK.split(replace_surrogates(text))
    cleaned = [CONTROL.sub(" ", line) for line in lines]
    if cleaned != lines:
        notes.append("Control characters were replaced by spaces.")
    if SURROGATE.search(text):
        notes.append("Characters that are not valid Unicode were replaced by �.")

    sentences = tuple(line for line in cleaned if line.strip())
    if len(sentences) > max_sentences:
        notes.append(f"The {name} has {len(sentences):,} sentences; only the first {max_sentences} are used.")
    return Sentences(sentences[:max_sentences], tuple(notes))


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD; the length stays."""
    return SURROGATE.sub("\ufffd", text)


_CHUNK = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)


class Word(NamedTuple):
    """First character, and one past the last."""

    start: int
    end: int

    def overlaps(self, start: int, end: int) -> bool:
        """Whether characters from `start` up to `end` meet the word's."""
        return start < self.end and end > self.start


@lru_cache(maxsize=256)
def split_words(sentence: str) -> tuple[Word, ...]:
    """Split at blanks; marks at the ends, and Chinese and Japanese characters, are words."""
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
    return tuple(words)


def leave_out(sentence: str, word: Word) -> str:
    """Return the sentence without a word."""
    before, after = sentence[: word.start], sentence[word.end :]
    return (before + (after.removeprefix(" ") if before.endswith(" ") else after)).strip()


def is_punctuation(text: str) -> bool:
    """Whether a text is punctuation alone."""
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)


PRONOUNS = ("he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "who", "which")
"""Without *that*, mostly a conjunction."""


def choose_pronoun(tokens: Sequence[str]) -> int | None:
    """Return the place of the pronoun worth asking about: behind the first four tokens, *it* or *they*, the first."""
    places = [place for place, token in enumerate(tokens) if token.lower() in PRONOUNS]
    return min(places, key=lambda place: (place < 4, tokens[place].lower() not in ("it", "they")), default=None)


_NAMES = {"CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
"""By the first word of a character's Unicode name."""


@lru_cache(maxsize=256)
def foreign_script(text: str) -> str | None:
    """The script of most of a text's letters, as `Arabic`; None for Latin."""
    letters = Counter(_script(character) for character in text if character.isalpha())
    if not letters:
        return None
    script, _ = letters.most_common(1)[0]
    return None if script == "Latin" else script


def _script(letter: str) -> str:
    first_word = unicodedata.name(letter, "UNKNOWN").split()[0]
    return _NAMES.get(first_word, first_word.capitalize())
