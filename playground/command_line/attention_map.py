"""One head's attention as text: rows are queries, columns keys, numbers are percent."""

import math
from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.color import Color, blend_rgb
from rich.style import Style
from rich.text import Text

from playground.figures.palette import ATTENTION
from playground.runs.arrays import Array

MOST_TOKENS = 40
"""Tokens shown along each side, at most."""

_NAME = 14
"""Letters of a token's name, at most; a wide one counts twice, as a terminal shows it."""

_CELL = 4

_NONE, _ALL = Color.parse("#f2eefb").get_truecolor(), Color.parse(ATTENTION).get_truecolor()
"""Colours of no attention and of all of it, which is attention's colour on the pages."""

_DARK = 0.9
"""Place between them from which on white is read better than black."""


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
        if math.isfinite(weight):
            row.append(f"{round(100 * weight) or '.':>{_CELL}}", style=_style(weight))
        else:  # too many layers without a norm, for one
            row.append(f"{weight:>{_CELL}}")
    return row


def _style(weight: float) -> Style:
    """The colour of a weight goes by its square root, so that faint attention shows too."""
    place = float(np.sqrt(min(max(weight, 0.0), 1.0)))
    letters = "#ffffff" if place > _DARK else "#000000"
    return Style(color=letters, bgcolor=Color.from_triplet(blend_rgb(_NONE, _ALL, place)))


def _cut(token: str) -> str:
    return token if cell_len(token) <= _NAME else f"{set_cell_size(token, _NAME - 1)}…"
