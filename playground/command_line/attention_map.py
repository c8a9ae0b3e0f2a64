"""One head's attention as text: rows are queries, columns keys, numbers are percent."""

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from playground.runs.arrays import Array

MOST_TOKENS = 40
"""Tokens shown along each side, at most."""

_NAME = 14
"""Letters of a token's name, at most; a wide one counts twice, as a terminal shows it."""

_CELL = 4

_LIGHT, _FULL = (222, 235, 247), (8, 81, 156)
"""Colours of no attention and of all of it."""


def draw_map(pattern: Array, tokens: Sequence[str], width: int) -> list[Text]:
    """The lines of a map of `pattern`, (T, T) weights from 0 to 1, in blocks of columns that fit into `width` letters.

    Weights are rounded to whole percents, so that a row may add up to 99 or 101; `.` is less than half a percent.
    """
    n_tokens = min(len(tokens), MOST_TOKENS)
    names = [f"{i:>3} {set_cell_size(_cut(token), _NAME)}" for i, token in enumerate(tokens[:n_tokens])]
    margin = 4 + _NAME
    n_columns = max(1, (width - margin) // _CELL)
    lines: list[Text] = []
    for first in range(0, n_tokens, n_columns):
        keys = range(first, min(first + n_columns, n_tokens))
        lines.append(Text(" " * margin + "".join(f"{key:>{_CELL}}" for key in keys), style="bold"))
        lines += [_draw_row(name, pattern[query, keys.start : keys.stop]) for query, name in enumerate(names)]
        lines.append(Text())
    return lines


def _draw_row(name: str, weights: Array) -> Text:
    row = Text(name)
    for weight in weights.tolist():
        percent = round(100 * weight)
        row.append(f"{percent or '.':>{_CELL}}", style=_style(weight))
    return row


def _style(weight: float) -> str:
    """Dark on light or light on dark, by the square root of the weight, so that faint attention shows too."""
    place = float(np.sqrt(min(max(weight, 0.0), 1.0)))
    red, green, blue = (round(low + place * (high - low)) for low, high in zip(_LIGHT, _FULL, strict=True))
    return f"{'white' if place > 0.5 else 'black'} on rgb({red},{green},{blue})"


def _cut(token: str) -> str:
    return token if cell_len(token) <= _NAME else f"{set_cell_size(token, _NAME - 1)}…"
