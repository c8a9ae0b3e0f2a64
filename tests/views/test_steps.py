"""The view Steps as a function on values: each stage's numbers against torch's own, its words and its changes."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder
from playground.analysis.steps import work_out
from playground.analysis.walkthrough import STAGES, Walk, order, tutorial_b
from playground.charts import palette
from playground.charts.chart import (
    Bars,
    Chart,
    Formula,
    Heatmap,
    Item,
    Paragraph,
    Picture,
    Table,
    Vectors,
)
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import run_with_dropout
from playground.text import characters
from playground.tutorials.comparison import SHORT_TITLES
from playground.views.steps.dropout import DroppedWalk, draw_drops, show_dropout
from playground.views.steps.page import answer_what_the_layer_does, compare_walks, explain_symbols, show_steps
from tests.views.scenes import parts_of, small_walk

FOCUS = Focus(1, 2, 3, 1)
RESULTS = {
    "embedding": "embed.out", "mask": "attn.scores", "softmax": "attn.pattern", "weighted sum": "attn.z",
    "output projection": "attn.out", "first residual": "resid_mid", "first norm": "norm1.out",
    "feed-forward": "ffn.out", "second residual": "resid_post", "second norm": "norm2.out",
}  # fmt: skip


def show(scene: Scene[Walk], stage: str) -> list[Item]:
    """What the view yields, without groups and columns."""
    return parts_of(show_steps(scene, {"step_stage": stage, "weights": "mine"}))


def charts_of(scene: Scene[Walk], stage: str) -> dict[str, Chart[Any]]:
    return {each.key: each for each in show(scene, stage) if isinstance(each, Chart)}


def alone(*text: str, focus: Focus = FOCUS, **changes: Any) -> tuple[Scene[Walk], Any]:
    walk, trace = small_walk(*text, focus=focus, **changes)
    return compare_walks(walk, None, ""), trace


def words(scene: Scene[Walk], stage: str) -> str:
    items = show(scene, stage)
    captions = [draw_chart(each, scene).now.caption for each in items if isinstance(each, Chart)]
    return " ".join([*(each.text for each in items if isinstance(each, Paragraph)), *captions])


def expected(trace: Any, stage: str) -> Any:
    name = RESULTS[stage] if stage == "embedding" else f"layers.1.{RESULTS[stage]}"
    numbers = trace[name][0].double().numpy()
    return numbers[FOCUS.head, FOCUS.query] if numbers.ndim == 3 else numbers[FOCUS.query]


LATER: dict[str, dict[str, Any]] = {
    "norm of q and k": {"qk_norm": True},
    "rotation": {"positions": "rotary"},
    "distance bias": {"positions": "alibi"},
    "norm after attention": {"norm_placement": "both"},
    "norm after feed-forward": {"norm_placement": "both"},
}
"""Stages that only some architectures have, and what these have."""


@pytest.mark.parametrize("stage", LATER)
def test_a_stage_that_the_pinned_encoder_has_not_is_said_not_to_be_there(stage: str) -> None:
    walk, _ = small_walk("abcab", focus=FOCUS, **LATER[stage])
    scene = compare_walks(walk, small_walk("abcab", focus=FOCUS)[0], "pinned: as in 2017")
    assert "has no such stage" in words(scene, stage)
    assert "step_pinned" not in charts_of(scene, stage)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_drawn_and_its_result_stands_beside_the_pinned_one(stage: str) -> None:
    walk, trace = small_walk("abcab", focus=FOCUS, **LATER.get(stage, {}))
    other, pinned_trace = small_walk("abcab", focus=FOCUS, seed=5, **LATER.get(stage, {}))
    scene = compare_walks(walk, other, "pinned: seed 5")
    for key, chart in charts_of(scene, stage).items():
        drawn = draw_chart(chart, scene)
        go.Figure(drawn.now.figure)  # raises where a name or a value is none of Plotly's
        assert key.startswith("step_")
        assert not drawn.beside
    if stage not in RESULTS:
        return
    now, before = expected(trace, stage), expected(pinned_trace, stage)
    pinned = draw_chart(charts_of(scene, stage)["step_pinned"], scene).now
    traces = pinned.figure["data"]
    drawn_numbers = [each["y"] for each in traces] if len(traces) == 2 else traces[0]["z"][[1, 0, 2]]
    wanted = [now, before] if len(traces) == 2 else [each[:8] for each in (now, before, now - before)]
    np.testing.assert_allclose(drawn_numbers, wanted, atol=1e-5)
    assert pinned.table is not None
    np.testing.assert_allclose(pinned.table().filter(like="now − pinned").iloc[:, 0], now - before, atol=1e-5)
    assert r"pinned\: seed 5" in pinned.caption
    if len(traces) == 1:
        own = [
            each for key, each in charts_of(scene, stage).items() if key not in ("step_pinned", "step_hidden_features")
        ]
        vectors = own[-1]
        assert isinstance(vectors, Vectors)
        row = -2 if stage == "embedding" else -1
        np.testing.assert_allclose(list(vectors.rows(walk).values())[row], now, atol=1e-5)


@pytest.mark.parametrize("norm", ["none", "layer"])
def test_no_stage_of_an_encoder_without_norms_says_that_it_brings_a_common_scale(norm: str) -> None:
    scene, _ = alone("abcab", norm=norm, norm_placement="both")
    stages = [stage for stage in order(scene.now.config) if "norm" in stage]
    assert len(stages) == 4
    for stage in stages:
        assert ("has no norms" in words(scene, stage)) == (norm == "none")
        assert ("common scale" in words(scene, stage)) == (norm != "none")


@pytest.mark.parametrize("stage", ["output projection", "feed-forward"])
def test_vectors_whose_numbers_have_nothing_in_common_stand_in_charts_of_their_own(stage: str) -> None:
    walk, _ = small_walk("abcab", focus=FOCUS)
    charts = [each for each in charts_of(compare_walks(walk, None, ""), stage).values() if isinstance(each, Vectors)]
    assert len({each.numbers for each in charts}) == len(charts) == 2
    assert all(len({vector.size for vector in each.rows(walk).values()}) == 1 for each in charts)


def answer(scene: Scene[Walk], weights: str = "mine") -> str:
    items = show_steps(scene, {"step_stage": "scale", "weights": weights})
    (found,) = (each.text for each in items if isinstance(each, Paragraph) and each.kind == "answer")
    return found


@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_the_answer_has_the_vectors_way_and_how_long_what_both_sublayers_give_is(norm_placement: str) -> None:
    scene, trace = alone("abcab", norm_placement=norm_placement)
    middle = {"post": "layers.1.norm1.out", "pre": "layers.1.resid_mid"}[norm_placement]
    names = ("layers.0.out", "layers.1.attn.out", middle, "layers.1.ffn.out")
    before, read, between, made = (np.linalg.norm(trace[name][0, 3].double().numpy()) for name in names)
    told = answer(scene)
    assert f"In {len(order(scene.now.config))} stages: the vector of `a`₃ goes into layer 1 (the first is 0)." in told
    assert f"(length **{read:.3g}**, added to one of length {before:.3g}), the" in told
    assert f"(length **{made:.3g}**, added to one of length {between:.3g})." in told
    for stage, (one, other) in (("first residual", (before, read)), ("second residual", (between, made))):
        (chart,) = (each for each in charts_of(scene, stage).values() if isinstance(each, Vectors))
        assert f"length {one:.3g}, the second {other:.3g}." in chart.caption
    assert ("random" in told, "random" in answer(scene, "random")) == (False, True)
    assert "puts in its place" in answer(alone("abcab", residual=False)[0])


@pytest.mark.parametrize(
    "changes", [{}, {"norm": "rms"}, {"norm": "scalar"}, {"positions": "alibi"}, {"gated": True, "activation": "silu"}]
)
def test_every_symbol_of_a_formula_is_explained_and_no_other(changes: dict[str, Any]) -> None:
    walk, _ = small_walk("abcab", focus=FOCUS, **changes)
    for stage in order(walk.config):
        formulas = " ".join(work_out(walk, stage).formulas)
        legend = explain_symbols(stage, [formulas])
        for symbol in (*"EPWu", r"\mu", r"\sigma", r"\epsilon", r"\gamma", r"\beta", r"\theta", r"\odot"):
            written = re.compile(rf"(?<![A-Za-z\\]){re.escape(symbol)}(?![A-Za-z])")
            in_legend = any(written.search(each) for each in re.findall(r"\$(.+?)\$", legend))
            assert bool(written.search(formulas)) == in_legend, (stage, symbol)


def test_the_answer_of_numbers_out_of_range() -> None:
    scene, _ = alone("abcab")
    arrays = {name: np.full_like(array, np.nan) for name, array in scene.now.layer.run.arrays.items()}
    run = replace(scene.now.layer.run, arrays=arrays)
    walk = replace(scene.now, layer=replace(scene.now.layer, run=run))
    with np.errstate(invalid="ignore"):
        assert "none can be told" in answer_what_the_layer_does(walk, is_random=False)


def test_dot_products_scale_and_projections_are_those_of_the_head() -> None:
    scene, trace = alone("abcab")
    q, k, v = (trace[f"layers.1.attn.{name}"][0, 2].double() for name in "qkv")
    drawn = charts_of(scene, "dot products")
    bars, products = drawn["step_dot_products"], drawn["step_products"]
    assert isinstance(bars, Bars)
    assert isinstance(products, Vectors)
    np.testing.assert_allclose(list(bars.bars(scene.now)[""].values()), k @ q[3], atol=1e-5)
    np.testing.assert_allclose(products.rows(scene.now)["q × k"], q[3] * k[1], atol=1e-5)
    scaled = charts_of(scene, "scale")["step_scale"]
    assert isinstance(scaled, Bars)
    np.testing.assert_allclose(list(scaled.bars(scene.now)[""].values()), k @ q[3] / 2, atol=1e-5)
    picture = charts_of(scene, "projections")["step_projections"]
    assert isinstance(picture, Picture)
    figure = picture.figure(scene.now)
    for cells, matrix in zip(figure["data"], (q, k, v), strict=True):
        np.testing.assert_allclose(cells["z"], matrix, atol=1e-5)
        assert cells["zmax"] == figure["data"][0]["zmax"]
    frames = [(each["xref"], each["y0"], each["line"]["color"]) for each in figure["layout"]["shapes"]]
    assert frames == [("x", 2.5, palette.FOCUS), ("x2", 0.5, palette.FOCUS), ("x3", 0.5, palette.FOCUS)]


def test_masked_keys_are_grey_and_counted_by_their_reason() -> None:
    scene, trace = alone("abc", "abcdefg", focus=Focus(1, 2, 1, 5), causal=True)
    assert "hidden from `b`: 1 later in the sentence (the mask is causal), 4 of padding" in words(scene, "mask")
    matrix = charts_of(scene, "mask")["step_mask"]
    assert isinstance(matrix, Heatmap)
    assert matrix.shown is not None
    np.testing.assert_array_equal(matrix.shown(scene.now), np.tri(7, dtype=bool) & (np.arange(7) < 3))
    assert matrix.rows.numbers is not None
    assert list(matrix.rows.numbers(scene.now)) == [0, 1, 2, *[None] * 4], "padding asks nothing"
    bars = charts_of(scene, "softmax")["step_softmax"]
    assert isinstance(bars, Bars)
    weights = np.array(list(bars.bars(scene.now)[""].values()))
    np.testing.assert_allclose(weights[:2], trace["layers.1.attn.pattern"][0, 2, 1, :2], atol=1e-6)
    assert np.isnan(weights[2:]).all()
    assert bars.grey is not None
    assert list(bars.grey(scene.now)) == [False, False, *[True] * 5]
    assert "is masked: it has no bar. Grey places are masked keys." in words(scene, "softmax")
    number = [each.latex for each in show(scene, "softmax") if isinstance(each, Formula)][-1]
    assert number.startswith(r"a_{t,j} = \frac{e^{-\infty - ")
    assert number.endswith("= 0")
    assert "masked" not in words(scene, "scale"), "the mask is still to come"
    seen, _ = alone("abc", focus=Focus(1, 2, 1, 0), causal=True)
    assert "marks the chosen key, `a`; click a bar to choose another. Grey places" in words(seen, "softmax")
    assert "No key is hidden from `d`." in words(alone("abcde")[0], "mask")


def test_the_words_follow_the_architecture() -> None:
    plain, trace = alone("abcdef", head_merge="reshape", focus=Focus(0, 0, 1, 0))
    merge = charts_of(plain, "merge")["step_merge"]
    assert isinstance(merge, Vectors)
    z = trace["layers.0.attn.z"][0]
    np.testing.assert_allclose(list(merge.rows(plain.now).values()), [z[0, 4], z[0, 5], z[1, 0], z[1, 1]], atol=1e-5)
    assert "**Heads and positions are scrambled**" in merge.caption
    assert "3 of 4 pieces" in merge.caption  # head 0 at 4 and 5, head 1 at 0 and 1
    assert "results of several tokens" in words(plain, "merge")
    assert "results of the heads" not in words(plain, "output projection")
    single, _ = alone("abcdef", head_merge="reshape", n_heads=1, focus=Focus(0, 0, 1, 0))
    assert "joined end to end" in words(single, "merge"), "then the reshape moves nothing"
    assert "Three learned maps" in words(plain, "projections")
    fused, _ = alone("abcab", fused_qkv=True)
    assert "One learned map gives" in words(fused, "projections")
    for scene, formula in ((plain, "q_t = W_Q"), (fused, "W^{(2)}_{QKV}")):
        assert formula in next(each.latex for each in show(scene, "projections") if isinstance(each, Formula))
    assert "by one learned map" in tutorial_b(fused.now.config)[1].idea
    for norm, output in (("scalar", "after gain and bias"), ("rms", "after gain"), ("none", "after")):
        scene, _ = alone("abcab", norm=norm)
        vectors = charts_of(scene, "second norm")["step_second_norm"]
        assert isinstance(vectors, Vectors)
        assert list(vectors.rows(scene.now)) == ["before", "normalised", output]
    assert "leaves the last layer" in words(scene, "second norm")


def test_the_pinned_name_says_which_place_stands_for_a_missing_one() -> None:
    now, _ = small_walk("abcab", focus=FOCUS)
    few, _ = small_walk("abcab", focus=Focus(0, 1, 3, 1), n_heads=2, n_layers=1)
    scene = compare_walks(now, few, "pinned: 2 heads")
    assert scene.pinned_name == "pinned: 2 heads (layer 0, as it has no layer 1; head 1, as it has no head 2)"
    assert "cannot be subtracted" in words(scene, "weighted sum")


def test_dropout_says_what_each_number_was_multiplied_by() -> None:
    before, after = np.array([2, 0, -4, 1], np.float32), np.array([2.5, 0, 0, 1.25], np.float32)
    wide = np.ones(40, np.float32)
    (cells,) = draw_drops({"weights": (before, after), "hidden": (wide, wide / 0.8)})["data"]
    np.testing.assert_allclose(cells["z"][0, :4], [1.25, np.nan, 0, 1.25])
    assert np.isnan(cells["z"][0, 4:]).all()
    np.testing.assert_allclose(cells["z"][1], np.full(16, 1.25))
    assert cells["customdata"][0, 2].tolist() == [-4, 0]
    assert cells["zmax"] == pytest.approx(1.25)


def test_the_drops_are_those_of_the_query_in_its_head() -> None:
    walk, _ = small_walk("abcab", focus=FOCUS, dropout=0.5)
    encoder, batch = Encoder(walk.config, 0), characters().encode_batch(["abcab"])
    dropped = run_with_dropout(encoder, batch, 0, 1, seed=7)
    scene = Scene(DroppedWalk(walk, dropped, 7), FOCUS)
    picture, where = show_dropout(scene, {})
    assert isinstance(picture, Picture)
    assert isinstance(where, Table)
    factors = picture.figure(scene.now)["data"][0]["z"]
    assert set(np.unique(np.round(factors[np.isfinite(factors)], 3))) == {0, 2}
    table = where.frame(scene.now)
    assert list(table[SHORT_TITLES["C"]]) == ["–", "–", "✓", "✓", "✓"]
    assert table["zeroed here"].iloc[0].endswith(" of 16")
    assert "p = 0.5. It multiplies the others by 1 / (1 − p) = 2. " in picture.caption
    assert "seed 7 repeats it" in picture.caption


def test_a_stage_that_the_encoder_has_not_is_its_first() -> None:
    scene, _ = alone("the cat sat down")
    assert charts_of(scene, "rotation").keys() == charts_of(scene, "embedding").keys()
