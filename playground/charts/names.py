"""Names on charts and in tables: tokens with their places, strangers' words without markup."""

import html
import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import pandas as pd
from numpy.typing import NDArray

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LONGEST_LABEL = 18


def shortened(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A text, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def label(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A stranger's text as Plotly shows it, letter by letter."""
    return html.escape(shortened(text, longest), quote=False)


def subscript(number: int) -> str:
    """A whole number below the line: `₉`."""
    return str(number).translate(_SUBSCRIPTS)


_ISOLATE, _END = "\u2068", "\u2069"


def name_place(name: str, position: int) -> str:
    """A token's name with its position below the line, isolated if written from right to left."""
    if any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in name):
        name = f"{_ISOLATE}{name}{_END}"
    return f"{name}{subscript(position)}"


def token_names(tokens: Sequence[str]) -> list[str]:
    """Each token with its position below the line: `it₉`. For tables."""
    return [name_place(shortened(token), i) for i, token in enumerate(tokens)]


def token_labels(tokens: Sequence[str]) -> list[str]:
    """The same for Plotly's axes."""
    return [html.escape(name, quote=False) for name in token_names(tokens)]


def token_table(values: NDArray[Any], queries: Sequence[str], keys: Sequence[str] | None = None) -> pd.DataFrame:
    """An array (Tq, Tk) as a table named by its tokens."""
    return pd.DataFrame(values, token_names(queries), token_names(queries if keys is None else keys))


def text_width(labels: Sequence[str]) -> int:
    """About how many pixels the longest label takes."""
    return math.ceil(max((sum(map(_letter_width, html.unescape(text))) for text in labels), default=0))


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 13
    if letter in "iIjlftr.,:;'|!()[]₀₁₂₃₄₅₆₇₈₉":
        return 4.5
    return 10 if letter in "mwMW@%…" else 6.5
