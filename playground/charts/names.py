"""Strangers' words on charts and in markdown; tokens with their positions."""

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LONGEST_LABEL = 18

_BREAKS_A_LINE = re.compile(r"[\s\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+.!|~$:-])")

_ISOLATE, _END = "\u2068", "\u2069"

escape = partial(html.escape, quote=False)


def shortened(text: str, longest: int = _LONGEST_LABEL) -> str:
    """Return a text, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def label(text: str, longest: int = _LONGEST_LABEL) -> str:
    """Return a shortened text as Plotly shows it."""
    return escape(shortened(text, longest))


def name_place(name: str, position: int) -> str:
    """Return a name with its position below the line, isolated if written from right to left."""
    if not name.isascii() and any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in name):
        name = f"{_ISOLATE}{name}{_END}"
    return f"{name}{str(position).translate(_SUBSCRIPTS)}"


def token_names(tokens: Sequence[str]) -> list[str]:
    """Return each token with its position below the line: `it₉`."""
    return [name_place(shortened(token), i) for i, token in enumerate(tokens)]


def text_width(labels: Iterable[str]) -> int:
    """Return about how many pixels the longest label takes."""
    return math.ceil(max((sum(map(_letter_width, html.unescape(text))) for text in labels), default=0))


@lru_cache(maxsize=1024)
def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 13
    if letter in "iIjlftr.,:;'|!()[]₀₁₂₃₄₅₆₇₈₉":
        return 4.5
    return 10 if letter in "mwMW@%…" else 6.5


def quote_token(token: str) -> str:
    """Return a token as code in markdown, in one line."""
    return f"`{_BREAKS_A_LINE.sub(' ', shortened(token)).replace('`', 'ˋ') or ' '}`"


def quote_place(tokens: Sequence[str], position: int) -> str:
    """Return a token as code, with its position."""
    return name_place(quote_token(tokens[position]), position)


def escape_markdown(text: object) -> str:
    """Return a text in which nothing acts as markdown."""
    return _MARKUP.sub(r"\\\1", str(text))
