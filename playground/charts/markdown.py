"""Strangers' words in markdown: they are shown as they are, and never act as markup."""

import re
from collections.abc import Sequence

from playground.charts.names import name_place, shortened

_BREAKS_A_LINE = re.compile(r"[\s\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
"""Characters that end a line, or turn the direction of the text after them."""

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+.!|~$:-])")
"""Characters that may act as markdown."""


def quote_token(token: str) -> str:
    """A token as code, in one line; an empty one as a space."""
    return f"`{_BREAKS_A_LINE.sub(' ', shortened(token)).replace('`', 'ˋ') or ' '}`"


def quote_place(tokens: Sequence[str], position: int) -> str:
    """The token at a position as code, with its position below the line."""
    return name_place(quote_token(tokens[position]), position)


def escape_markdown(text: object) -> str:
    """A text in which nothing acts as markdown, such as an error's sentence that quotes somebody's words."""
    return _MARKUP.sub(r"\\\1", str(text))
