"""Tables as files and as text: numbers come back, and no word acts."""

import csv
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from playground.export.tables import rows_of, write_csv, write_latex, write_markdown
from playground.figures.theme import token_table

WORDS = ["=1+1", "+x", "-x", "@sum", "\tx", "＝x", 'a"b', "a,b", "a\nb", "|", "it's", "漢", "5", ""]


def read(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"))))


def test_a_csv_file_has_every_digit() -> None:
    values = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    values[1, 2], values[2, 2] = np.nan, np.inf
    file = write_csv(rows_of(token_table(values, list("abcdef"), list("wxyz"))))
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


def test_numbers_below_zero_stay_numbers() -> None:
    assert read(write_csv([["x"], [-1.5], [np.float32(-0.1)], [-3], [np.float64(2e6)]])) == [
        ["x"], ["-1.5"], ["-0.1"], ["-3"], ["2000000"],
    ]  # fmt: skip


TABLE = pd.DataFrame({"head | H": [0, 1], "share_%": [0.123456, np.nan]}, index=pd.Index(["[CLS]₀", "a&b"], name="key"))


def test_markdown_has_a_line_a_row_with_numbers_on_the_right() -> None:
    assert write_markdown(rows_of(TABLE)).splitlines() == [
        r"| key | head \| H | share\_% |",
        "| --- | ---: | ---: |",
        r"| \[CLS\]₀ | 0 | 0.1235 |",
        "| a&b | 1 | – |",
    ]


def test_latex_is_a_table_of_booktabs_in_which_no_letter_acts() -> None:
    assert write_latex(rows_of(TABLE)).splitlines()[1:] == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"key & head \textbar{} H & share\_\% \\",
        r"\midrule",
        r"{[}CLS{]}\textsubscript{0} & 0 & 0.1235 \\",
        r"a\&b & 1 & – \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize("word", [r"\input{x}", "$x$", "#", "~^_", "{", "}", "%", "a\nb", "\u2028", "--", "*", "`"])
def test_a_word_is_one_cell_in_one_line(word: str) -> None:
    rows: list[list[Any]] = [["x", "y"], [word, 1.0]]
    assert len(write_latex(rows).splitlines()) == 8
    assert len(write_markdown(rows).splitlines()) == 3
    line = write_latex(rows).splitlines()[5]
    assert all(line.count(f"\\{letter}") >= word.count(letter) for letter in "$#{}%_&")
    assert "~" not in line
    assert "$x$" not in line
    assert r"\input{" not in line
    assert "--" not in line


def test_several_levels_of_names_and_equal_names_are_kept() -> None:
    table = pd.DataFrame([[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "b")]))
    assert rows_of(table) == [["a b", "a b"], [1, 2], [3, 4]]
    named = pd.DataFrame([[1.0]]).rename_axis("layer").rename_axis("head", axis=1)
    assert rows_of(named) == [[r"layer \ head", "0"], [0, 1.0]]
