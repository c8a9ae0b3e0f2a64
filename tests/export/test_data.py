"""A run, tables and figures as files: what is read back is what was computed, and no word acts."""

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.charts.chart import Heatmap
from playground.charts.draw import draw_chart
from playground.charts.heads import head_map
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.export import data
from playground.export.data import numbers_of, rows_of, weights_sha256, write_csv
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.views.every_figure import every_figure
from tests.web.app_test import SMALL_CONFIG

SENTENCE = "héllo =1+1 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")


def small_run(**changes: Any) -> Run:
    config = ModelConfig(**SMALL_CONFIG | changes)
    return run(Encoder(config, seed=1), characters().encode_batch([SENTENCE, "a longer sentence"]), keep=lambda _: True)


KINDS: list[dict[str, Any]] = [
    {}, {"norm_placement": "pre", "final_norm": True}, {"fused_qkv": True, "head_merge": "reshape"}, {"vocab_size": 0},
    {"norm": "scalar", "n_heads": 1}, {"norm": "rms", "residual": False, "positions": "learned"},
    {"positions": "rotary", "gated": True}, {"positions": "relative", "qk_norm": True}, {"norm_placement": "both"},
]  # fmt: skip


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_points_and_numbers_are_those_of_the_trace(changes: dict[str, Any]) -> None:
    made = small_run(**changes)
    points = data.list_points(made.config)
    assert sorted(data.name_arrays(made.config, points)) == sorted(made.arrays)
    n = data.count_numbers(made.config, len(made.tokens), points)
    assert n == sum(array.size for array in made.arrays.values())


def test_a_file_has_the_arrays_and_what_they_are_of() -> None:
    made = small_run()
    about = data.describe_run(
        made, seed=1, causal=False, sentence=SENTENCE, weights="random", link="http://x/?seed=1&v=2", do="1.1:zero"
    )
    file = np.load(io.BytesIO(data.write_npz(about, made.arrays)), allow_pickle=False)
    for name, array in made.arrays.items():
        np.testing.assert_array_equal(file[name], array)
    said = json.loads(str(file["about"]))
    assert said == about
    trace = Trace()
    with torch.inference_mode():
        ids = characters().encode_batch([said["sentence"], "a longer sentence"])
        Encoder(ModelConfig(**said["config"]), said["seed"])(ids.ids[:1], ids.mask[:1], trace)
    np.testing.assert_allclose(trace["final"][0].numpy(), made.arrays["final"], atol=1e-6)


def test_the_fingerprint_is_of_names_shapes_and_numbers() -> None:
    configs = [ModelConfig(**SMALL_CONFIG | {"n_layers": n}) for n in (1, 2)]
    first, *others = (weights_sha256(Encoder(config, seed)) for config in configs for seed in (1, 2))
    assert first == weights_sha256(Encoder(configs[0], seed=1))
    assert first not in others
    assert re.fullmatch("[0-9a-f]{64}", first)


# --- tables and figures


WORDS = ["=1+1", "+x", "-x", "@sum", "\tx", "＝x", 'a"b', "a,b", "a\nb", "|", "it's", "漢", "5", ""]


def read_cells(file: bytes) -> list[list[str]]:
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
    header, *body = read_cells(write_csv([WORDS, *([word] for word in WORDS)]))
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
