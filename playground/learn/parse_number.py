"""A number as a student types it: 0.25, 0,25, 1/4, 25 %, 1,024, 3e-4."""

import math
import re

from playground.errors import InputError
from playground.text.wording import quote_text

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def parse_number(text: str) -> float:
    """The number that a text says.

    Raises:
        InputError: it says none; the message shows what would work.
    """
    number = _parse(text)
    if number is None or not math.isfinite(number):
        said = f"{quote_text(text.strip(), longest=24)} is no number" if text.strip() else "There is no number yet"
        raise InputError(f"{said}: 0.25, 1/4 and 25 % would be one.")
    return number


def _parse(text: str) -> float | None:
    text = re.sub(r"[\s_]", "", text).replace("−", "-").replace("–", "-")
    if text.endswith("%"):
        share = _parse(text[:-1])
        return None if share is None else share / 100
    above, slash, below = text.partition("/")
    if slash:
        numerator, denominator = _parse_plain(above), _parse_plain(below)
        return numerator / denominator if numerator is not None and denominator else None
    return _parse_plain(text)


def _parse_plain(text: str) -> float | None:
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")  # as half of Europe writes it
    return float(text) if _NUMBER.fullmatch(text) else None
