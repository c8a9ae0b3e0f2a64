"""Typed text → clean sentences, with a note on everything that was changed; their words, pronouns and script."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from playground.limits import MAX_CHARACTERS, MAX_SENTENCES

LINE_BREAK = re.compile("\r\n|[\n\r\u2028\u2029]")
# C0 but tab, DEL and C1; then the marks that reorder what is printed after them, the page's own words too.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Sentences:
    """The sentences of a text, and one plain sentence for each thing that had to change."""

    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def split_sentences(text: str, max_sentences: int = MAX_SENTENCES, name: str = "text") -> Sentences:
    """Split `text` into sentences, one a line; blank lines are dropped. Never raises.

    Text past `MAX_CHARACTERS`, then sentences past `max_sentences`, are left out. Control characters become
    spaces; lone surrogates become U+FFFD. `name` is what the notes call the text.
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
    """Put U+FFFD for each lone surrogate: such text can't be encoded as UTF-8. The length stays."""
    return SURROGATE.sub("\ufffd", text)


_CHUNK = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
"""A Chinese or Japanese character, which has no blanks around it, or what stands between blanks."""


class Word(NamedTuple):
    """A word's place in its sentence: its first character, and one past its last."""

    start: int
    end: int

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any of the characters from `start` up to `end` is the word's."""
        return start < self.end and end > self.start


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


PRONOUNS = frozenset({
    "he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "who", "which",
})  # fmt: skip
"""Words that stand for another word, whose attention is worth a look; without *that*, mostly a conjunction."""


_NAMES = {"CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
"""Scripts whose characters' Unicode names begin with another word than what people call them."""


def is_english(text: str) -> bool:
    """Whether nothing speaks against a text's being English: neither its script nor its commonest words."""
    return foreign_script(text) is None and not looks_foreign(text)


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


_ENGLISH = (
    "about and are because been but by can could did didn't does doesn't don't for from had has have he her his "
    "how I if into is isn't it it's its just my no not of or our out she should some than that the their them "
    "then there these they this those to too two under up very was we were what when where which who why will "
    "with would you your"
)
"""The commonest words of English."""

_FOREIGN = {
    "German": "aber auf das dass dem der dich du ein eine einen es für gut heute ich ist mich mit nicht sehr sie sind "
    "über und uns war weil wenn wie wir zu",
    "Dutch": "de een en het maar niet omdat ook voor zijn",
    "French": "avec c'est dans elle est et était il j'ai je la le les mais n'est ne nous pas que qu'il qui sur très "
    "trop un une vous",
    "Italian": "anche che della è il molto perché più questo sono troppo una",
    "Spanish": "el en es está esta estaba este las los más mucho muy para pero por porque que se una",
    "Portuguese": "ela ele em estava isso mais muito não porque uma você",
    "Swedish": "att det eftersom en ett för inte jag och som till var är",
    "Danish": "det en et fordi ikke jeg og på til var",
    "Polish": "było jak jest nie przez się zbyt że",
    "Czech": "bylo je jsem není protože se že",
    "Hungarian": "az egy és hogy mert nem volt",
    "Finnish": "ei että hän koska minä oli se",
    "Turkish": "bir bu çok değil için olduğu ve",
    "Indonesian": "ini itu karena tidak yang",
    "Vietnamese": "của đã không là một nó",
}
"""Some of the commonest words of other languages in Latin letters; each may be a word or a name in English too."""

_IN_NAMES = ("das", "de", "della", "der", "el", "la", "las", "le", "les", "los")
"""Those of them that stand in names, before a capital: *Las Vegas*, *Oscar de la Renta*."""


def looks_foreign(text: str) -> bool:
    """Whether a text in Latin letters looks like another language than English, by the commonest words of both.

    It has more of other languages' commonest words than of English ones: two or more, or one beside a word with
    letters such as ü. Capitalised words are taken for names, but for the first. A text of a few words may have none of
    either: it counts as English.
    """
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", unicodedata.normalize("NFC", text).replace("’", "'"))
    words[:1] = [word.lower() for word in words[:1]]
    in_order = pairwise([*words, ""])
    common = {word for word, following in in_order if not (word in _IN_NAMES and following[:1].isupper())}
    foreign = common.intersection(" ".join(_FOREIGN.values()).split())
    accented = {word for word in common if word.islower() and not word.isascii()}
    return len(foreign | accented) >= 2 and len(foreign) > len(common.intersection(_ENGLISH.split()))
