"""The script that a text is written in."""

import unicodedata
from collections import Counter

_NAMES = {"CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
"""Scripts whose characters' Unicode names begin with another word than what people call them."""


def foreign_script(text: str) -> str | None:
    """The script of most of a text's letters, as `Arabic`; None where that is Latin, or there are no letters."""
    letters = Counter(_script(character) for character in text if character.isalpha())
    if not letters:
        return None
    script, _ = letters.most_common(1)[0]
    return None if script == "Latin" else script


def _script(letter: str) -> str:
    first_word = unicodedata.name(letter, "UNKNOWN").split()[0]
    return _NAMES.get(first_word, first_word.capitalize())
