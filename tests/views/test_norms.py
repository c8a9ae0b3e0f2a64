"""The view Norms as a function on values: the numbers of its charts against torch's own."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground.analysis import streams
from playground.analysis.streams import length_band
from playground.charts.chart import Curves, Item
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views.norms import find_cause, lengths_by_depth, median_lengths, norm_numbers, norm_stages, show_norms
from tests.views.scenes import parts_of, small_run

OPTIONS = {"norms_closer": True, "norms_view": "tokens", "norms_norm": 1}
FOCUS = Focus(1, 2, 3, 0)


def show(view: str, scene: Scene[Run], **options: object) -> list[Item]:
    return parts_of(show_norms(scene, OPTIONS | {"norms_view": view} | options))


def chart(items: list[Item], key: str) -> Any:
    return next(each for each in items if getattr(each, "key", "") == key)


def test_lengths_by_depth_are_medians_with_a_band_without_outliers() -> None:
    run, trace = small_run("abcab", norm_placement="pre", embedding_norm=False)  # else all are of one length
    stream, attention, _ = lengths_by_depth(Scene(run, FOCUS)).curves(run)
    names = ["embed.out", "layers.0.out", "layers.1.out"]
    lengths = torch.stack([torch.linalg.vector_norm(trace[name][0].double(), dim=-1) for name in names]).numpy()
    medians = np.median(lengths, axis=1)
    np.testing.assert_allclose(stream.y, medians, rtol=1e-5)
    assert stream.low is not None
    np.testing.assert_allclose(stream.low, length_band(lengths)[0], rtol=1e-5)
    assert (stream.x.tolist(), attention.x.tolist()) == ([-1, 0, 1], [0, 1])
    np.testing.assert_allclose(median_lengths(run), medians, rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"norm_placement": "post"}, "post"), ({"norm_placement": "pre"}, "pre"), ({"norm_placement": "both"}, "both"),
        ({"norm": "none"}, "none"), ({"norm": "none", "residual": False}, "alone"),
    ],
)  # fmt: skip
def test_the_cause_is_the_place_of_the_norms(changes: dict[str, Any], cause: str) -> None:
    run, _ = small_run("abcab", **changes)
    found, numbers = find_cause(run)
    assert found == cause
    if cause == "post":
        low, high = sorted(median_lengths(run)[1:])
        assert numbers == pytest.approx({"low": low, "high": high, "normalised": 4}, abs=1e-3)  # √16


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("norm", ["layer", "rms", "scalar"])
def test_a_norm_is_shown_by_one_vector_before_and_after(norm: str, placement: str) -> None:
    run, trace = small_run("abcab", norm=norm, norm_placement=placement)
    stages = norm_stages(run, 1, 2, 3)
    for stage, point in (("before", "in"), (list(stages)[-1], "out")):
        np.testing.assert_allclose(stages[stage], trace[f"layers.1.norm2.{point}"][0, 3], atol=1e-6)
    np.testing.assert_allclose(stages["normalised"], trace["layers.1.norm2.normalized"][0, 3], atol=1e-5)
    drawn = draw_chart(norm_numbers(Scene(run, FOCUS), 2), Scene(run, FOCUS)).now
    assert f"{np.linalg.norm(stages['before'].astype(float)):.3g} →" in drawn.caption
    assert go.Figure(drawn.figure).data


def test_the_table_of_lengths_has_a_row_a_depth_and_no_addition_to_the_embeddings() -> None:
    run, _ = small_run("abcab")
    drawn = chart(show("tokens", Scene(run, FOCUS)), "norms_by_layer")
    assert isinstance(drawn, Curves)
    assert drawn.table is not None
    table, lengths = drawn.table(run), streams.lengths(run)
    assert list(table.index) == ["embeddings", "0", "1"]
    assert table.loc["1", "attention, median"] == pytest.approx(np.median(lengths["attention"][1]))
    assert table.loc["0", "residual, band to"] == pytest.approx(streams.length_band(lengths["residual"])[1][1])
    assert table.loc[["embeddings"], ["attention, median", "feed-forward, band to"]].isna().all(axis=None)


def test_statistics_are_of_every_norm() -> None:
    run, _ = small_run("abcab")
    table = chart(show("statistics", Scene(run, FOCUS)), "norm_statistics")
    assert isinstance(table, Curves)
    assert table.table is not None
    assert list(table.table(run).index) == [
        "embed.norm", *(f"layers.{i}.norm{n}" for i in (0, 1) for n in (1, 2)),
    ]  # fmt: skip
