"""What somebody typed, in running text: it is shown, and never acts as markdown."""

import re

from playground.figures.theme import shortened

_TURNS = re.compile(r"[\s\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
"""What would end a paragraph, or turn the direction of the text after it."""


_ACTS = re.compile(r"([\\`*_{}\[\]()<>#+.!|~$:-])")
"""What may act as markdown."""


def quoted(token: str) -> str:
    """A token as code, in one line; an empty one as a space."""
    return f"`{_TURNS.sub(' ', shortened(token)).replace('`', 'ˋ') or ' '}`"


def escaped(text: object) -> str:
    """A text in which nothing acts as markdown, such as an error's sentence that quotes somebody's words."""
    return _ACTS.sub(r"\\\1", str(text))
