"""Typed text → clean sentences, one a line, with a note on everything that was changed."""

import re
from dataclasses import dataclass

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
