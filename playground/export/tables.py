"""Tables as files and as text to paste: CSV, Markdown and LaTeX.

Words may be a stranger's. A spreadsheet takes `=…` for a formula, Markdown and LaTeX have marks of their own: in each,
words stay words.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

Rows = Iterable[Sequence[Any]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet begins a formula with, also in letters of full width."""

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "-{}",  # brackets and a star act after a line's end, two dashes are one
    "−": "$-$", "×": r"$\times$", "·": r"\textperiodcentered{}", "…": r"\ldots{}", "–": "--", "’": r"\textquoteright{}",
} | {subscript: rf"\textsubscript{{{digit}}}" for digit, subscript in enumerate("₀₁₂₃₄₅₆₇₈₉")}  # fmt: skip

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~$-])")


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """The table's header and its rows; its index is the first column, unless it only counts them."""
    columns = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in table.columns]
    counts = isinstance(table.index, pd.RangeIndex) and table.index.name is None
    across = table.columns.name
    corner = " \\ ".join(str(name) for name in (table.index.name, across) if name is not None)
    values = [table[column].tolist() if table.columns.is_unique else table.iloc[:, place].tolist()
              for place, column in enumerate(table.columns)]  # fmt: skip
    if not counts:
        columns, values = [corner, *columns], [table.index.tolist(), *values]
    return [columns, *(list(row) for row in zip(*values, strict=True))]


def write_csv(rows: Rows) -> bytes:
    """Rows, the header first, as a file that spreadsheets and pandas read: UTF-8 with its mark; NaN is empty."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_csv_cell(cell) for cell in row] for row in rows)
    return ("\ufeff" + file.getvalue()).encode("utf-8", "replace")


def _csv_cell(cell: Any) -> str:
    """A number with all its digits; a word that would be a formula has an apostrophe before it."""
    if isinstance(cell, Real):
        number = float(cell)
        return "" if np.isnan(number) else str(int(number)) if number.is_integer() else str(cell)
    text = "" if cell is None else str(cell).replace("\x00", "")
    return f"'{text}" if text.startswith(_FORMULA) else text


def write_markdown(rows: Rows) -> str:
    """Rows, the header first, as a table of GitHub's Markdown; numbers have four digits and stand on the right."""
    header, *body = rows
    numeric = _numeric_columns(header, body)
    lines = [[_markdown_cell(cell) for cell in row] for row in (header, *body)]
    lines.insert(1, ["---:" if is_number else "---" for is_number in numeric])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(cell: Any) -> str:
    return _short(cell) if isinstance(cell, Real) else _MARKDOWN.sub(r"\\\1", _one_line(cell))


def write_latex(rows: Rows) -> str:
    """Rows, the header first, as a `tabular` of the package booktabs; numbers have four digits, on the right."""
    header, *body = rows
    columns = "".join("r" if is_number else "l" for is_number in _numeric_columns(header, body))
    lines = [r" & ".join(map(_latex_cell, row)) + r" \\" for row in (header, *body)]
    return "\n".join(
        [
            r"% \usepackage{booktabs}; letters beyond Latin need LuaLaTeX or XeLaTeX",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_cell(cell: Any) -> str:
    text = _short(cell) if isinstance(cell, Real) else _one_line(cell)
    if isinstance(cell, Real):
        return f"${text}$" if text.startswith("-") else text
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _numeric_columns(header: Sequence[Any], body: Sequence[Sequence[Any]]) -> list[bool]:
    return [bool(body) and all(isinstance(row[place], Real) for row in body) for place in range(len(header))]


def _short(number: Any) -> str:
    if isinstance(number, Integral):
        return str(int(number))
    return "–" if np.isnan(number) else f"{float(number):.4g}"


def _one_line(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return re.sub(r"[\s\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]+", " ", text)
