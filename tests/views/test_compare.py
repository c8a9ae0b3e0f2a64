"""What the page Compare shows of two runs and two models, against numbers computed here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground import ModelConfig
from playground.accounting import LABELS
from playground.accounting.costs import ModelCosts
from playground.analysis.comparison import compare_points, moved_weight
from playground.charts import palette
from playground.charts.chart import Chart
from playground.charts.draw import Drawing, draw_chart
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views import compare
from playground.views.compare import SMALLEST_SHARE, differences_on_the_way
from tests.views.scenes import SMALL, parts_of, small_run


def draw(items: Any, scene: Scene[Any]) -> dict[str, Drawing]:
    return {each.key: draw_chart(each, scene) for each in parts_of(items) if isinstance(each, Chart)}


def two_runs(text: str = "abcab", pinned_text: str = "abcab", **changes: Any) -> tuple[Scene[Run], Run]:
    now, pinned = small_run(text)[0], small_run(pinned_text, **changes)[0]
    return Scene(now, Focus(1, 3, 0, 0), pinned, "pinned: other", "now: this", text == pinned_text), pinned


def test_one_head_stands_beside_the_pinned_one_and_the_weight_that_every_head_moved() -> None:
    scene, pinned = two_runs(seed=5)
    before, after = (small_run("abcab", seed=seed)[1]["layers.1.attn.pattern"][0, 3].numpy() for seed in (5, 0))
    drawn = draw(compare.compare_heads(scene, pinned, moved_weight(pinned, scene.now)), scene)
    assert drawn.keys() == {"head_now", "moved_weight"}
    assert [each.key for each in drawn["head_now"].beside] == ["head_pinned", "head_difference"]
    shown = [drawn["head_now"].now, drawn["head_now"].beside[0]]
    for each, expected in zip(shown, (after, before), strict=True):
        np.testing.assert_allclose(each.figure["data"][0]["customdata"], expected, atol=1e-5)
    np.testing.assert_allclose(drawn["head_now"].beside[1].figure["data"][0]["z"], after - before, atol=1e-5)
    moved = drawn["moved_weight"].now.figure["data"][0]["z"]
    assert moved[1][3] == pytest.approx(np.abs(after - before).sum(axis=1).mean() / 2, abs=1e-5)


def test_of_other_tokens_the_nearest_head_stands_in_one_row_without_a_difference() -> None:
    scene, pinned = two_runs("abc", "ab", n_layers=1, n_heads=2)
    drawing = draw(compare.compare_heads(scene, pinned, None), scene)["head_now"]
    (beside,) = drawing.beside
    assert drawing.in_one_row
    assert drawing.note
    assert "Layer 0, head 1. The nearest: it has no layer 1 and no head 3." in beside.caption
    assert beside.cells is None


def test_points_lengths_and_costs_are_those_of_both() -> None:
    scene, pinned = two_runs(n_layers=1)
    differences = compare_points(pinned, scene.now)
    points = draw(compare.compare_points(scene, pinned, differences), scene)["compare_points"].now
    assert list(points.figure["data"][0]["x"]) == [each.name for each in differences]
    norms = draw(compare.compare_lengths(scene, pinned), scene)["compare_norms"].now
    assert norms.cells is None
    assert sum(trace["line"].get("dash") == "dot" for trace in norms.figure["data"]) >= 3


@pytest.mark.parametrize(("key", "counted"), [("compare_parameters", "parameters"), ("compare_flops", "flops")])
def test_pairs_of_components_have_both_models_sums_and_the_change(key: str, counted: str) -> None:
    config = ModelConfig(**SMALL)
    now, pinned = ModelCosts(config, 5), ModelCosts(replace(config, n_layers=1, norm="none"), 7)
    after, before = (getattr(each, counted) for each in (now, pinned))
    scene = Scene(now, Focus(0, 0, 0, 0), pinned, "pinned", "now")
    drawn = draw(compare.compare_costs(scene, pinned), scene)[key].now
    assert drawn.table is not None
    table = drawn.table()
    assert list(table.loc["all"]) == [before.total, after.total, after.total - before.total]
    feed_forward = [count.by(lambda term: term.component)["feed_forward"] for count in (before, after)]
    assert list(table.loc[LABELS["feed_forward"]])[:2] == feed_forward
    bars = drawn.figure["data"]
    assert sum(sum(trace["x"]) for trace in bars) == before.total + after.total
    assert sum(sum(trace["x"]) for trace in bars if trace.get("opacity", 1) < 1) == before.total


@pytest.mark.parametrize(
    ("share", "height", "colour"),
    [(0, SMALLEST_SHARE, palette.MUTED), (1e-6, 1e-6, palette.MUTED), (0.5, 0.5, palette.ATTENTION)],
)
def test_what_is_rounding_is_grey(share: float, height: float, colour: str) -> None:
    (bars,) = differences_on_the_way(np.array([share], np.float32), ["embed.out"])["data"]
    assert bars["y"][0] == pytest.approx(height)
    assert list(bars["marker"]["color"]) == [colour]
