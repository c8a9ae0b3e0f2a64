"""Tables as files, and the numbers of every figure: they come back, and no word acts."""

import csv
import io
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from playground.charts.chart import Heatmap
from playground.charts.draw import draw_chart
from playground.charts.heads import head_map
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.export.tables import numbers_of, rows_of, write_csv
from tests.views.every_figure import every_figure

WORDS = ["=1+1", "+x", "-x", "@sum", "\tx", "＝x", 'a"b', "a,b", "a\nb", "|", "it's", "漢", "5", ""]


def read(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"))))


def test_a_csv_file_has_every_digit() -> None:
    values = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    values[1, 2], values[2, 2] = np.nan, np.inf
    file = write_csv(rows_of(pd.DataFrame(values, token_names("abcdef"), token_names("wxyz"))))
    back = pd.read_csv(io.BytesIO(file), index_col=0)
    np.testing.assert_array_equal(back.to_numpy(np.float32), values)
    assert list(back.index) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    assert file.startswith(b"\xef\xbb\xbf"), "else spreadsheets take it for another encoding"


def test_no_word_is_a_formula_and_each_comes_back() -> None:
    header, *body = read(write_csv([WORDS, *([word] for word in WORDS)]))
    for cell, word in zip(header, WORDS, strict=True):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "＝"))
        assert cell.removeprefix("'") == word
    assert [row[0] if row else "" for row in body] == header


RNG = np.random.default_rng(5)


def read_table(rows: list[list[Any]]) -> Any:
    """The rows as pandas reads them from their file, the first column as the index."""
    return pd.read_csv(io.BytesIO(write_csv(rows)), index_col=0)


def test_a_heatmaps_numbers_are_the_weights_and_not_their_colours() -> None:
    weights = RNG.dirichlet(np.ones(6), 6).astype(np.float32)
    allowed = np.tri(6, dtype=bool)
    chart: Heatmap[None] = head_map(
        key="", alt="", caption="",
        weights=lambda _: weights, tokens=lambda _: list("abcdef"), allowed=lambda _: allowed,
    )  # fmt: skip
    figure = draw_chart(chart, Scene(None)).now.figure
    table = read_table(numbers_of(go.Figure(figure)))
    np.testing.assert_array_equal(table.to_numpy(np.float32), np.where(allowed, weights, np.nan))
    assert table.index.name == "query: who asks \\ key: attended to [weight]"
    assert list(table.columns) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]


def test_lines_have_a_row_a_number_and_bands_their_own() -> None:
    norms = every_figure()["norms norms_by_layer"]
    table = read_table(numbers_of(norms))
    assert list(table.columns) == ["after layer (emb. = embeddings)", "number"]
    residual = table.loc["residual stream [median length]", "number"].to_numpy(np.float32)
    line = next(trace for trace in norms.data if trace.name == "residual stream")
    np.testing.assert_array_equal(residual, line.y)
    low = table.loc["attention band from [median length]", "number"].to_numpy(np.float32)
    assert len(low) == len(residual) - 1, "a block has an output, and the stream a state before the first"


def test_every_figure_of_every_page_has_numbers() -> None:
    for name, figure in every_figure().items():
        header, *rows = numbers_of(figure)
        assert all(len(row) == len(header) for row in rows), name
        assert header[0], name
