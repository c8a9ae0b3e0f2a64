"""Tables, and the numbers that a figure draws, as CSV files. A spreadsheet takes no word for a formula."""

import csv
import html
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from playground.charts.figure import BAND, Array
from playground.charts.names import token_names

Rows = Iterable[Sequence[Any]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet begins a formula with."""


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return a table's header and rows; its index is the first column, unless it only counts."""
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
    """Return a file that spreadsheets and pandas read: UTF-8 with its mark; NaN is empty."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_csv_cell(cell) for cell in row] for row in rows)
    return ("\ufeff" + file.getvalue()).encode("utf-8", "replace")


def _csv_cell(cell: Any) -> str:
    if isinstance(cell, Real):
        number = float(cell)
        return "" if np.isnan(number) else str(int(number)) if number.is_integer() else str(cell)
    text = "" if cell is None else str(cell).replace("\x00", "")
    return f"'{text}" if text.startswith(_FORMULA) else text


MOST_WEIGHTS = 250_000
"""Weights in one CSV file: about 3 MB."""


def all_weights(patterns: Array, queries: Sequence[str], keys: Sequence[str]) -> list[list[Any]]:
    """Return a row a query of every head, with a column a key; a header first."""
    header = ["layer", "head", "query \\ key [weight]", *token_names(keys)]
    names = token_names(queries)
    places = np.ndindex(patterns.shape[:3])
    return [header, *([layer, head, names[query], *patterns[layer, head, query]] for layer, head, query in places)]


Row = list[Any]


def numbers_of(figure: go.Figure) -> list[Row]:
    """Return the numbers of a figure, a header first: a heatmap as it is, lines and bars with a row a number."""
    drawn = [trace for trace in figure.data if trace.hoverinfo != "skip" or trace.type == "heatmap"]
    heatmaps = [trace for trace in drawn if trace.type == "heatmap"]
    if heatmaps:
        return [row for number, trace in enumerate(heatmaps) for row in _cells(figure, trace, len(heatmaps), number)]
    series = [trace for trace in drawn if trace.type in ("bar", "scatter") and trace.y is not None]
    return _series(figure, [trace for trace in series if any(value is not None for value in trace.y)])


def _cells(figure: go.Figure, trace: go.Heatmap, n: int, number: int) -> Iterator[Row]:
    z = np.asarray(trace.z)
    if np.shape(trace.customdata) == z.shape:  # the numbers, where colours stand for something else
        z = np.where(np.isfinite(z), trace.customdata, np.nan).astype(trace.customdata.dtype)
    across, down = _axis(figure, trace, "x"), _axis(figure, trace, "y")
    unit = plain_label(trace.colorbar.title.text) or "value"
    names = [plain_label(name) if isinstance(name, str) else name for name in _places(trace.x, z.shape[1])]
    first = [across] if n > 1 else []
    if number == 0:
        corner = f"{down or 'row'} \\ {'column' if n > 1 else across or 'column'} [{unit}]"
        yield [*(["chart"] if n > 1 else []), corner, *names]
    for name, row in zip(_places(trace.y, z.shape[0]), z, strict=True):
        yield [*first, plain_label(name) if isinstance(name, str) else name, *row]


def _series(figure: go.Figure, traces: Sequence[Any]) -> list[Row]:
    rows: list[Row] = [["line", "place", "number"]]
    for trace in traces:
        sideways = trace.type == "bar" and trace.orientation == "h"
        along, across = ("y", "x") if sideways else ("x", "y")
        rows[0][1] = _axis(figure, trace, along) or "place"
        unit = _axis(figure, trace, across)
        name = plain_label(trace.name)
        columns = {name: list(trace[across])}
        if trace.type == "scatter" and "text" in (trace.mode or "") and trace.customdata is not None:
            columns = {name: list(map(str, trace.customdata))}  # 0, ∞ and NaN, which have no height
        if trace.meta == BAND:
            low, high = np.asarray(trace.customdata).T
            columns |= {f"{name} band from": list(low), f"{name} band to": list(high)}
        places = _places(trace[along], len(trace[across]))
        for column, values in columns.items():
            line = f"{column} [{unit}]".strip() if unit else column
            rows += [[line, _plain(place), value] for place, value in zip(places, values, strict=True)]
    return rows


def _plain(place: Any) -> Any:
    return plain_label(place).replace("\n", " ") if isinstance(place, str) else place


_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


def plain_label(text: str | None) -> str:
    """A figure's label as plain text."""
    text = re.sub(r"<br\s*/?>", "\n", text or "")
    text = re.sub("<sup>(.*?)</sup>", lambda found: found[1].translate(_RAISED), text)
    return html.unescape(re.sub(r"</?[a-z]+[^<>]*>", "", text))


def _axis(figure: go.Figure, trace: Any, letter: str) -> str:
    number = (trace[f"{letter}axis"] or letter).removeprefix(letter)
    return plain_label(figure.layout[f"{letter}axis{number}"].title.text)


def _places(places: Any, n: int) -> list[Any]:
    return (
        list(range(n)) if places is None else [each.item() if isinstance(each, np.generic) else each for each in places]
    )
