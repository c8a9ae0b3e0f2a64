"""Numbers to take along: a run's arrays as one `.npz` file, tables and figures as CSV files.

The arrays have their names in `Trace`, `about` is JSON; no pickle is read. A spreadsheet takes no word for a formula.
"""

import csv
import hashlib
import html
import io
import json
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from torch import nn

from playground.charts.figure import BAND
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.runs.arrays import Array
from playground.runs.encoder_run import Rows, Run, run_rows

MOST_NUMBERS = 8_000_000
"""In a file: 32 MB in fp32."""

LAYER = "layers.{i}."

_TINY = {"T": 5, "H": 2, "d_head": 4, "D": 8, "d_ff": 7}
"""Sizes of a small encoder, all different: its arrays' shapes say what they count."""


@lru_cache(maxsize=64)
def list_points(config: ModelConfig) -> dict[str, tuple[str, ...]]:
    """Return every point of the forward pass with the symbols of its axes, read off a small encoder of this kind."""
    sizes: Any = {"d_model": 8, "n_heads": 2, "d_ff": 7, "n_layers": 1, "max_len": 5, "d_head": 0}
    small = {field: min(vars(config)[field], 2) for field in ("vocab_size", "d_embedding")}
    config = replace(config, **sizes, **small, n_kv_heads=int(config.kv_heads < config.n_heads))
    encoder, trace = Encoder(config, seed=0).eval(), Trace()
    shape = (1, _TINY["T"])
    x = torch.zeros(shape, dtype=torch.int64) if config.vocab_size else torch.zeros(*shape, config.d_model)
    run_rows(encoder, Rows(x, torch.ones(1, *shape, dtype=torch.bool)), trace)
    symbols = {size: symbol for symbol, size in _TINY.items()}
    return {
        name.replace("layers.0.", LAYER): tuple(symbols.get(size, "H") for size in tensor.shape[1:])
        for name, tensor in trace.items()
    }


def name_arrays(config: ModelConfig, points: Iterable[str]) -> list[str]:
    """Return the names of these points' arrays, a layer's in every layer."""
    layers = range(config.n_layers)
    return [name for point in points for name in dict.fromkeys(point.replace("{i}", str(i)) for i in layers)]


def count_numbers(config: ModelConfig, n_tokens: int, points: Iterable[str]) -> int:
    """Return how many numbers the arrays of these points have."""
    sizes = {"T": n_tokens, "H": config.n_heads, "d_head": config.head_width, "D": config.d_model, "d_ff": config.d_ff}
    axes = list_points(config)
    layers = {point: config.n_layers if point.startswith(LAYER) else 1 for point in points}
    return sum(n * math.prod(sizes[axis] for axis in axes[point]) for point, n in layers.items())


def describe_run(
    run: Run, *, seed: int, causal: bool, sentence: str, weights: str, link: str, do: str
) -> dict[str, Any]:
    """Return what a run is of, for JSON; `do` as in the link."""
    return {
        "link": link,
        "config": asdict(run.config),
        "seed": seed,
        "causal": causal,
        "weights": weights,
        "do": do,
        "sentence": sentence,
        "tokens": list(run.tokens),
        "special": run.special.tolist(),
        "padding": run.padding.tolist(),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions that a run rests on."""
    try:
        own = {"playground": version("transformer-encoder-playground")}
    except PackageNotFoundError:
        own = {}
    return {**own, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


def write_npz(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return the compressed file: `about` as JSON, and the arrays by their names."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def weights_sha256(model: nn.Module) -> str:
    """Return the SHA-256 of a model's parameters: names, shapes and little-endian fp32, in the order of the names."""
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().astype("<f4", copy=False).data)
    return digest.hexdigest()


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet begins a formula with."""


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return a table's header and rows; its index is the first column, unless it only counts."""
    columns = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in table.columns]
    counts = isinstance(table.index, pd.RangeIndex) and table.index.name is None
    across = table.columns.name
    corner = " \\ ".join(str(name) for name in (table.index.name, across) if name is not None)
    values = [column.tolist() for _, column in table.items()]
    if not counts:
        columns, values = [corner, *columns], [table.index.tolist(), *values]
    return [columns, *(list(row) for row in zip(*values, strict=True))]


def write_csv(rows: Iterable[Sequence[Any]]) -> bytes:
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
    text = re.sub("<sup>([^<]*)</sup>", lambda found: found[1].translate(_RAISED), text)
    return html.unescape(re.sub(r"</?[a-z][^<>]*>", "", text))


def _axis(figure: go.Figure, trace: Any, letter: str) -> str:
    number = (trace[f"{letter}axis"] or letter).removeprefix(letter)
    return plain_label(figure.layout[f"{letter}axis{number}"].title.text)


def _places(places: Any, n: int) -> list[Any]:
    return (
        list(range(n)) if places is None else [each.item() if isinstance(each, np.generic) else each for each in places]
    )
