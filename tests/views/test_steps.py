"""The view Steps as a function on values: each stage's numbers against torch's own, and its changes."""

import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.steps import STAGES, order, work_out
from playground.charts.chart import Bars, Chart, Heatmap, Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link import open_link
from playground.link.opening import Focus
from playground.views.step_stages import find_idea
from playground.views.steps import LabWalk, drop_layer, explain_symbols, find_drops, show_steps, walk_scene
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of, small_walk

FOCUS = Focus(1, 2, 3, 1)
RESULTS = {
    "embedding": "embed.out", "mask": "attn.scores", "softmax": "attn.pattern", "weighted sum": "attn.z",
    "output projection": "attn.out", "first residual": "resid_mid", "first norm": "norm1.out",
    "feed-forward": "ffn.out", "second residual": "resid_post", "second norm": "norm2.out",
}  # fmt: skip
LATER: dict[str, dict[str, Any]] = {
    "norm of q and k": {"qk_norm": True},
    "rotation": {"positions": "rotary"},
    "distance bias": {"positions": "alibi"},
    "norm after attention": {"norm_placement": "both"},
    "norm after feed-forward": {"norm_placement": "both"},
}
"""Stages that only some architectures have, and what these have."""
OPTIONS = {"step_path": "as the data moves", "step_dropout": False}


def walk_of(*text: str, focus: Focus = FOCUS, seed: int = 0, causal: bool = False, **changes: Any) -> tuple[Any, Any]:
    """A walk with its lab, and the model's trace."""
    walk, trace = small_walk(*text, focus=focus, seed=seed, causal=causal, **changes)
    lab = lab_of(Encoder(ModelConfig(**SMALL | changes), seed), text, seed=seed, causal=causal)
    return LabWalk(walk.layer, walk.head, walk.query, walk.key, lab), trace


def alone(*text: str, focus: Focus = FOCUS, **changes: Any) -> tuple[Scene[LabWalk], Any]:
    walk, trace = walk_of(*text, focus=focus, **changes)
    return Scene(walk, focus), trace


def charts_of(scene: Scene[LabWalk], stage: str) -> dict[str, Any]:
    items = parts_of(show_steps(scene, {**OPTIONS, "step_stage": stage}))
    return {each.key: each for each in items if isinstance(each, Chart)}


def expected(trace: Any, stage: str) -> Any:
    name = RESULTS[stage] if stage == "embedding" else f"layers.1.{RESULTS[stage]}"
    numbers = trace[name][0].double().numpy()
    return numbers[FOCUS.head, FOCUS.query] if numbers.ndim == 3 else numbers[FOCUS.query]


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_drawn_and_its_result_stands_beside_the_pinned_one(stage: str) -> None:
    walk, trace = walk_of("abcab", **LATER.get(stage, {}))
    other, pinned_trace = walk_of("abcab", seed=5, **LATER.get(stage, {}))
    scene = Scene(walk, FOCUS, other, "pinned: seed 5")
    charts = charts_of(scene, stage)
    for key, chart in charts.items():
        go.Figure(draw_chart(chart, scene).now.figure)  # raises where a name or a value is none of Plotly's
        assert key.startswith("step_")
    if stage not in RESULTS:
        return
    now, before = expected(trace, stage), expected(pinned_trace, stage)
    if stage == "mask":
        shown = charts["step_mask"].values
        np.testing.assert_allclose([shown(each)[FOCUS.query] for each in (walk, other)], [now, before], atol=1e-5)
    elif stage == "softmax":
        traces = draw_chart(charts["step_softmax"], scene).now.figure["data"]
        np.testing.assert_allclose([each["y"] for each in traces], [now, before], atol=1e-5)
    else:
        pinned = draw_chart(charts["step_pinned"], scene).now
        wanted = [each[:8] for each in (before, now, now - before)]
        np.testing.assert_allclose(pinned.figure["data"][0]["z"], wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "stage", "idea"),
    [
        ({}, "second norm", "second-norm"), ({"norm": "none"}, "second norm", "no-norm"),
        ({"norm": "none", "norm_placement": "both"}, "norm after attention", "no-norm"),
        ({"norm": "none", "qk_norm": True}, "norm of q and k", "norm-of-q-and-k"),
        ({"residual": False}, "first residual", "no-residual"), ({"fused_qkv": True}, "projections", "fused"),
        ({"tied": "shared"}, "projections", "shared"), ({"tied": "merged"}, "projections", "merged"),
        ({"head_merge": "reshape"}, "merge", "reshape"), ({"head_merge": "reshape", "n_heads": 1}, "merge", "merge"),
    ],
)  # fmt: skip
def test_the_idea_is_that_of_the_architecture(changes: dict[str, Any], stage: str, idea: str) -> None:
    assert find_idea(small_walk("abcdef", focus=Focus(0, 0, 1, 0), **changes)[0], stage) == idea


@pytest.mark.parametrize(
    "changes", [{}, {"norm": "rms"}, {"norm": "scalar"}, {"positions": "alibi"}, {"gated": True, "tied": "merged"}]
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


def test_dot_products_scale_and_projections_are_those_of_the_head() -> None:
    scene, trace = alone("abcab")
    q, k, v = (trace[f"layers.1.attn.{name}"][0, 2].double() for name in "qkv")
    drawn = charts_of(scene, "dot products")
    bars, products = drawn["step_dot_products"], drawn["step_products"]
    np.testing.assert_allclose(list(bars.bars(scene.now)[""].values()), k @ q[3], atol=1e-5)
    np.testing.assert_allclose(products.rows(scene.now)["q × k"], q[3] * k[1], atol=1e-5)
    scaled = charts_of(scene, "scale")["step_scale"]
    np.testing.assert_allclose(list(scaled.bars(scene.now)[""].values()), k @ q[3] / 2, atol=1e-5)
    chart = charts_of(scene, "projections")["step_projections"]
    np.testing.assert_allclose(chart.values(scene.now), np.hstack([q, k, v]), atol=1e-5)


def test_masked_keys_have_no_bar() -> None:
    scene, trace = alone("abc", "abcdefg", focus=Focus(1, 2, 1, 5), causal=True)
    matrix = charts_of(scene, "mask")["step_mask"]
    assert isinstance(matrix, Heatmap)
    assert matrix.shown is not None
    np.testing.assert_array_equal(matrix.shown(scene.now), np.tri(7, dtype=bool) & (np.arange(7) < 3))
    bars = charts_of(scene, "softmax")["step_softmax"]
    assert isinstance(bars, Bars)
    weights = np.array(list(bars.bars(scene.now)[""].values()))
    np.testing.assert_allclose(weights[:2], trace["layers.1.attn.pattern"][0, 2, 1, :2], atol=1e-6)
    assert np.isnan(weights[2:]).all()
    items = parts_of(show_steps(scene, {**OPTIONS, "step_stage": "softmax"}))
    number = [each.text for each in items if isinstance(each, Paragraph) and each.kind == "formula"][-1]
    assert number.startswith(r"a_{t,j} = \frac{e^{-\infty - ")
    assert number.endswith("= 0")


LINK = "https://host/step-by-step?weights=random&tokenizer=word&d_model=32&n_heads=4&n_layers=2&text=a+cat+sat"
PLACE = "layer=1&head=3&query=2&key=1"


def test_the_pinned_walk_is_missing_if_it_has_other_tokens_or_lacks_the_place_or_the_stage() -> None:
    smaller = walk_scene(open_link(f"{LINK}&{PLACE}&b_n_heads=2&b_n_layers=1"))
    assert (smaller.pinned, smaller.same_tokens) == (None, True)
    other = walk_scene(open_link(f"{LINK}&{PLACE}&b_text=x"))
    assert (other.pinned, other.same_tokens) == (None, False)
    assert walk_scene(open_link(f"{LINK}&{PLACE}&b_positions=rotary")).pinned is not None
    lacks = walk_scene(open_link(f"{LINK}&{PLACE}&positions=rotary&step_stage=rotation&b_positions=learned"))
    assert (lacks.pinned, lacks.same_tokens) == (None, True)


def test_the_drops_are_those_of_the_query_in_its_head() -> None:
    walk, _ = walk_of("abcab", seed=7, dropout=0.5)
    for factors in find_drops(walk, drop_layer(walk.lab, 1)[1]).values():
        assert set(np.round(factors[np.isfinite(factors)], 3)) <= {0, 2}
    items = parts_of(show_steps(Scene(walk, FOCUS), {**OPTIONS, "step_stage": "scale", "step_dropout": True}))
    assert "step_drops" in {getattr(each, "key", "") for each in items}
