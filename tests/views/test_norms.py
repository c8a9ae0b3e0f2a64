"""The view Norms as a function on values: the numbers of its charts against torch's own."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground.analysis.streams import length_band
from playground.charts.chart import Curves, Heatmap, Item, Paragraph, Table, Vectors
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.config import ModelConfig, Norm
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views.norms import (
    VIEWS,
    describe_outliers,
    describe_widest_band,
    lengths_by_depth,
    norm_effect,
    norm_numbers,
    norm_stages,
    show_norms,
    work_out_first,
)
from tests.views.scenes import parts_of, small_run, words

OPTIONS = {"norms_closer": True, "norms_view": "tokens", "norms_part": "residual", "norms_layer": 2, "norms_norm": 1}
FOCUS = Focus(1, 2, 3, 0)


def show(view: str, scene: Scene[Run], **options: object) -> list[Item]:
    return parts_of(show_norms(scene, OPTIONS | {"norms_view": view} | options))


def test_lengths_by_depth_are_medians_with_a_band_without_outliers() -> None:
    run, trace = small_run("abcab", norm_placement="pre", embedding_norm=False)  # else all are of one length
    chart = lengths_by_depth(Scene(run, FOCUS))
    stream, attention, _ = chart.curves(run)
    names = ["embed.out", "layers.0.out", "layers.1.out"]
    lengths = torch.stack([torch.linalg.vector_norm(trace[name][0].double(), dim=-1) for name in names]).numpy()
    np.testing.assert_allclose(stream.y, np.median(lengths, axis=1), rtol=1e-5)
    assert stream.low is not None
    np.testing.assert_allclose(stream.low, length_band(lengths)[0], rtol=1e-5)
    assert stream.x.tolist() == [-1, 0, 1]
    assert attention.x.tolist() == [0, 1]
    (answer, *_) = (each for each in show("tokens", Scene(run, FOCUS)) if isinstance(each, Paragraph))
    first, _, last = np.median(lengths, axis=1)
    assert answer.kind == "answer"
    assert f"grow from **{first:.3g}** to **{last:.3g}** through 2 layers" in answer.text
    shortest, longest = lengths[-1].min(), lengths[-1].max()
    assert f"the shortest is {shortest:.3g} long, the longest {longest:.3g}." in chart.reading(run)


def test_the_answer_names_what_it_is_of() -> None:
    for run, told in (
        (small_run("a")[0], "length of the only token"),
        (small_run("ab")[0], "end as long as they begin: **4** before and after 2 layers"),  # √16, of any norm's output
        (small_run("ab", n_layers=96, d_model=64, norm="none")[0], "**Overflow**"),
    ):
        answer = next(iter(show_norms(Scene(run), OPTIONS | {"norms_closer": False})))
        assert isinstance(answer, Paragraph)
        assert told in answer.text


def test_tokens_far_from_the_others_are_named_with_what_the_tokenizer_added() -> None:
    run, _ = small_run("abcabcab", norm_placement="pre", embedding_norm=False)
    arrays = dict(run.arrays)
    arrays["layers.0.out"] = arrays["layers.0.out"].copy()
    arrays["layers.0.out"][5] *= 10
    far = replace(run, arrays=arrays, special=np.arange(8) == 5)
    length = np.linalg.norm(arrays["layers.0.out"][5].astype(np.float64))
    assert f"`c`₅ ({length:.3g} after layer 0)" in describe_outliers(far)
    assert "The tokenizer adds `c`." in describe_outliers(far)
    assert "adds" not in describe_outliers(replace(far, special=run.special))
    assert not describe_outliers(small_run("abab")[0]), "all of one length"


def test_the_widest_band_is_explained_by_its_token_and_that_tokens_largest_numbers() -> None:
    run, trace = small_run("abcabc")
    assert not describe_widest_band(run), "random vectors are about equally long"
    outputs = trace["layers.1.ffn.out"][0].numpy().copy()
    outputs[3:] *= 9
    outputs[4, 7] = 500.0  # of three that are long, so that none is an outlier
    outputs[3], outputs[5] = 0.9 * outputs[4], 0.8 * outputs[4]
    wide = replace(run, arrays=dict(run.arrays) | {"layers.1.ffn.out": outputs})
    told = describe_widest_band(wide)
    lengths = np.linalg.norm(outputs, axis=1)
    assert f"in layer 1?** At its upper end, {lengths[4]:.3g}, lies its vector for `b`₄" in told
    assert f"the median is {np.median(lengths):.3g}. Of its 16 numbers, number 7 (500) alone makes up 100%" in told
    after = torch.linalg.vector_norm(trace["layers.1.out"][0], dim=-1).numpy()
    assert f"`b`₄ leaves it {after[4]:.3g} long, the median is {np.median(after):.3g}." in told


@pytest.mark.parametrize("norm", ["layer", "scalar", "rms"])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_a_norm_is_shown_by_one_vector_before_and_after(norm: str, placement: str) -> None:
    run, trace = small_run("abcab", norm=norm, norm_placement=placement)
    scene = Scene(run, FOCUS)
    ends = [trace[f"layers.1.norm2.{end}"][0, 3].double().numpy() for end in ("in", "normalized", "out")]
    numbers, chart = norm_numbers(scene, 2), norm_effect(scene, 2)
    for row, curve, vector in zip(numbers.rows(run).values(), chart.curves(run), ends, strict=True):
        np.testing.assert_allclose(row, vector, atol=1e-5)
        np.testing.assert_allclose(curve.y, np.quantile(vector, np.linspace(0.02, 0.98, 97)), atol=1e-5)
    before, normalised, after = (f"{np.linalg.norm(vector):.3g}" for vector in ends)
    scaled = "gain" if norm == "rms" else "gain + bias"
    assert f"Length {before} → {normalised} normalised → {after} with {scaled}." in numbers.reading(run)
    assert numbers.reading(run).endswith(f"= {ends[1][0]:.2g}.".replace("-", "−"))
    assert ("Mean" in numbers.reading(run)) == (norm != "rms"), "an rms norm subtracts none"
    assert list(norm_stages(run, 1, 2, 3))[-1] == f"× {scaled}"
    lengths, deviations = ([f"{of(vector):.3g}" for vector in ends[::2]] for of in (np.linalg.norm, np.std))
    assert f"length {' → '.join(lengths)}, mean" in chart.reading(run)
    assert f"deviation {' → '.join(deviations)}." in chart.reading(run)
    assert ("→ 0, deviation" in chart.reading(run)) == (norm != "rms")
    assert ("before the feed-forward" in numbers.caption) == (placement == "pre")
    shallow, bare = small_run("abcab", n_layers=1)[0], small_run("abcab", norm="none")[0]
    assert not [*chart.curves(shallow), *chart.curves(bare)]
    for each in (numbers, chart):
        go.Figure(draw_chart(each, Scene(run, FOCUS, shallow, "pinned", "now")).now.figure)


@pytest.mark.parametrize(
    ("norm", "told"),
    [
        ("layer", "Mean 3, deviation 2.449. Number 0 by hand: (−1 − 3) / 2.449 = −1.6."),
        ("scalar", "Mean 3, deviation 2.828. Number 0 by hand: (−1 − 3) / 2.828 = −1.4."),
        ("rms", "Root mean square 3.873. Number 0 by hand: −1 / 3.873 = −0.26."),
    ],
)
def test_the_first_number_is_normalised_by_hand(norm: Norm, told: str) -> None:
    x = np.array([-1, 3, 5, 5], np.float32)  # mean 3, mean square 15, squared distances from the mean 24 in all
    assert work_out_first(x, ModelConfig(vocab_size=1, norm=norm, norm_eps=1e-12)) == told
    assert "with ε = 0.5" in work_out_first(x, ModelConfig(vocab_size=1, norm=norm, norm_eps=0.5))
    assert "(1 + 3) /" in work_out_first(-x, ModelConfig(vocab_size=1, norm=norm)) or norm == "rms"


def test_a_layer_without_its_first_norm_says_so() -> None:
    run, _ = small_run("abc", norm_placement="pre", first_norm=False)
    items = parts_of(show_norms(Scene(run), OPTIONS | {"norms_closer": False}))
    assert [each.key for each in items if isinstance(each, Vectors)] == ["norm_numbers_2"]
    assert "Layer 0 has no norm before attention." in words(items)


def test_a_closed_fold_makes_nothing_and_no_norm_shows_none() -> None:
    run, _ = small_run("abc", norm="none")
    items = parts_of(show_norms(Scene(run), OPTIONS | {"norms_closer": False}))
    assert [each.key for each in items if isinstance(each, Curves | Heatmap | Vectors)] == ["norms_by_layer"]
    assert "This encoder has none" in words(items)


@pytest.mark.parametrize(("part", "name", "n"), [("residual", "out", 3), ("attention", "attn.out", 2),
                                                 ("feed-forward", "ffn.out", 2)])  # fmt: skip
def test_a_cell_is_a_tokens_length_after_a_block(part: str, name: str, n: int) -> None:
    run, trace = small_run("abcab")
    heatmap = next(each for each in show("tokens", Scene(run, FOCUS), norms_part=part) if isinstance(each, Heatmap))
    values = heatmap.values(run)
    assert values.shape == (n, 5)
    last = torch.linalg.vector_norm(trace[f"layers.1.{name}"][0].double(), dim=-1)
    np.testing.assert_allclose(values[-1], last, rtol=1e-5)
    assert heatmap.rows.numbers is not None
    assert list(heatmap.rows.numbers(run))[-2:] == [0, 1], "a depth belongs to the layer that ends there"


def test_statistics_have_a_row_a_norm() -> None:
    run, trace = small_run("abcab", embedding_norm=True)
    chart = next(each for each in show("statistics", Scene(run, FOCUS)) if isinstance(each, Curves) and each.order)
    assert chart.table is not None
    table = chart.table(run)
    assert list(table.index) == ["embed.norm", *(f"layers.{i}.norm{j}" for i in range(2) for j in (1, 2))]
    expected = trace["embed.sum"][0].double().std(dim=-1, correction=0).mean()
    np.testing.assert_allclose(table["std before"].iloc[0], expected, rtol=1e-5)
    panels = {curve.panel: curve.y for curve in chart.curves(run)}
    np.testing.assert_allclose(panels[0], table["std after"], rtol=1e-5)
    np.testing.assert_allclose(panels[1], table["mean after"], atol=1e-6)
    assert chart.order is not None
    assert sorted(["final_norm", "layers.10.norm1", "layers.2.norm2", "embed.norm"], key=chart.order) == [
        "embed.norm", "layers.2.norm2", "layers.10.norm1", "final_norm",
    ]  # fmt: skip


def test_cosines_are_those_of_the_depth_or_of_the_nearest() -> None:
    run, trace = small_run("abcab")
    shallow, _ = small_run("abcab", n_layers=1)
    between = [each for each in show("cosines", Scene(run, FOCUS)) if isinstance(each, Heatmap)][1]
    unit = torch.nn.functional.normalize(trace["layers.1.out"][0].double(), dim=-1)
    np.testing.assert_allclose(between.values(run), unit @ unit.T, atol=1e-6)
    assert between.nearest(shallow) == "After layer 0. The nearest: it has 1 layer."


def test_one_norm_by_hand_is_compared_by_its_name() -> None:
    run, trace = small_run("abcab")
    other, _ = small_run("abcab", seed=5)
    shown = show("by hand", Scene(run, FOCUS, other, "pinned", "now"))
    assert any(isinstance(each, Paragraph) and "`layers.0.norm1`" in each.text for each in shown)
    table = shown[-1]
    assert isinstance(table, Table)
    length = torch.linalg.vector_norm(trace["layers.0.norm1.out"][0, 3].double())
    assert table.frame(run).loc["L2 norm after the norm", "now"] == pytest.approx(float(length), rel=1e-5)
    std = trace["layers.0.norm1.in"][0, 3].double().std(correction=0)
    assert table.frame(run).loc["std of x", "now"] == pytest.approx(float(std), rel=1e-5)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_something_to_show_of_one_token_and_no_norm(view: str) -> None:
    for run, _ in (small_run("a"), small_run("ab", norm="none")):
        assert show(view, Scene(run), norms_layer=0, norms_norm=0)
