"""Python literals as ruff's formatter leaves them, so that what is written needs no formatter."""

import json
from collections.abc import Sequence

LINE_LENGTH = 120
_ROOM = 70
"""Columns that a literal may take in one line, beside what stands before and after it."""

_PIECE = 100
"""Columns of a line that holds a piece of a longer literal."""


def string_literal(text: str) -> str:
    """A string; a longer one in several pieces, between parentheses."""
    if len(quote(text)) <= _ROOM:
        return quote(text)
    pieces = []
    while text:
        n = next(n for n in range(min(_PIECE, len(text)), 0, -1) if len(quote(text[:n])) <= _PIECE)
        blank = text.rfind(" ", n // 2, n) + 1 if n < len(text) else 0
        pieces.append(text[: blank or n])
        text = text[blank or n :]
    return "\n".join(["(", *(f"    {quote(piece)}" for piece in pieces), ")"])


def quote(text: str) -> str:
    """A string in one line: in double quotes, or in single ones where that takes fewer escapes."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    return mark + "".join(_escape(character, mark) for character in text) + mark


def string_list(texts: Sequence[str]) -> str:
    """A list of strings; a longer one in rows that the formatter is told to leave."""
    return _list([quote(text) for text in texts])


def number_list(numbers: Sequence[float], digits: int = 7) -> str:
    """A list of numbers, whole ones as they are and others with so many digits."""
    return _list([str(x) if isinstance(x, int) else json.dumps(float(f"{x:.{digits}g}")) for x in numbers])


def id_tensor(ids: Sequence[int]) -> str:
    """A call that makes a tensor (1, T) of ids."""
    written = number_list(ids)
    return f"torch.tensor([{written}])".replace("]  # fmt: skip])", "]])  # fmt: skip").replace("([[\n", "([[\n")


def _list(items: Sequence[str]) -> str:
    in_one_line = f"[{', '.join(items)}]"
    if len(in_one_line) <= _ROOM:
        return in_one_line
    rows = [""]
    for item in items:
        if rows[-1] and len(rows[-1]) + len(item) > _PIECE:
            rows.append("")
        rows[-1] += f" {item}," if rows[-1] else f"{item},"
    return "\n".join(["[", *(f"    {row}" for row in rows), "]  # fmt: skip"])


def _escape(character: str, mark: str) -> str:
    if character in ("\\", mark):
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
