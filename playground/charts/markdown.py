"""Strangers' words in markdown, shown as they are."""

import re
from collections.abc import Sequence

from playground.charts.names import name_place, shortened

_BREAKS_A_LINE = re.compile(r"[\s\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
"""What ends a line or turns its direction."""

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+.!|~$:-])")


def quote_token(token: str) -> str:
    """A token as code, in one line."""
    return f"`{_BREAKS_A_LINE.sub(' ', shortened(token)).replace('`', 'ˋ') or ' '}`"


def quote_place(tokens: Sequence[str], position: int) -> str:
    """The token at a position as code, with its position below the line."""
    return name_place(quote_token(tokens[position]), position)


def escape_markdown(text: object) -> str:
    """A text in which nothing acts as markdown."""
    return _MARKUP.sub(r"\\\1", str(text))
