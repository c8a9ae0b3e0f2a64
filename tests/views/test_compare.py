"""What the page Compare shows of two runs and two models, against numbers computed here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.comparison import compare_points, moved_weight
from playground.charts.chart import Chart
from playground.charts.draw import Drawing, draw_chart
from playground.charts.names import quote_place
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.views.compare import find_difference, find_head_change, show_compare
from tests.views.scenes import SMALL, parts_of, small_run

OPEN = {"compare_head": True}


def draw(scene: Scene[Run], options: dict[str, bool] = OPEN) -> dict[str, Drawing]:
    return {
        each.key: draw_chart(each, scene) for each in parts_of(show_compare(scene, options)) if isinstance(each, Chart)
    }


def two_runs(text: str = "abcab", pinned_text: str = "abcab", **changes: Any) -> tuple[Scene[Run], Run]:
    now, pinned = small_run(text)[0], small_run(pinned_text, **changes)[0]
    return Scene(now, Focus(1, 3, 0, 0), pinned, "pinned (other)", "now (this)", text == pinned_text), pinned


def changed(*changes: Change) -> Run:
    batch = characters().encode_batch(["abcab"])
    return run(Encoder(ModelConfig(**SMALL), 0), batch, interventions=changes)


def unlike(one: Any, other: Any) -> list[float]:
    """How far each token's vector differs, by its length in the first, in plain numpy."""
    wide = one.astype(np.float64)
    lengths: list[float] = (np.linalg.norm(other - wide, axis=1) / np.linalg.norm(wide, axis=1)).tolist()
    return lengths


def cosine_of_means(pinned: Run, now: Run) -> float:
    one, other = (each.arrays["final"].astype(np.float64).mean(axis=0) for each in (pinned, now))
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def found(pinned: Run, now: Run) -> tuple[str, dict[str, Any]]:
    return find_difference(pinned, now, compare_points(pinned, now))


@pytest.mark.parametrize(
    ("pinned", "now", "point", "place"),
    [
        (small_run("abcab", seed=1)[0], small_run("abcab")[0], "embed.out", ("embeddings", 0)),
        (changed(), changed(Change("zero", 0, 1)), "layers.0.out", ("layer", 0)),
        (changed(), changed(Change("off", 1, None, ("ffn",))), "layers.1.out", ("layer", 1)),
        (small_run("abcab")[0], small_run("abcab", n_layers=4)[0], "final", ("end", 2)),
        (small_run("abcab", norm_placement="pre")[0],
         small_run("abcab", norm_placement="pre", final_norm=True)[0], "final", ("norm", 2)),
    ],
    ids=["embeddings", "layer 0", "layer 1", "deeper", "last norm"],
)  # fmt: skip
def test_the_answer_is_where_two_part_by_how_much_and_what_is_left_at_the_end(
    pinned: Run, now: Run, point: str, place: tuple[str, int]
) -> None:
    case, numbers = found(pinned, now)
    shares = unlike(pinned.arrays[point], now.arrays[point])
    assert (case, numbers["place"], numbers["layer"]) == ("apart", *place)
    assert numbers["token"] == quote_place(now.tokens, int(np.argmax(shares)))
    assert numbers["share"] == pytest.approx(max(shares), rel=1e-4)
    assert numbers["end"] == pytest.approx(max(unlike(pinned.arrays["final"], now.arrays["final"])), rel=1e-4)
    assert numbers["cosine"] == pytest.approx(cosine_of_means(pinned, now), abs=1e-5)


def test_the_answer_where_there_is_nothing_to_subtract() -> None:
    plain = small_run("abcab")[0]
    assert found(plain, plain) == ("same", {})
    assert found(plain, small_run("abcab", d_model=32)[0]) == ("widths", {"pinned": 16, "now": 32})
    sizes = {"pinned": 5, "now": 4, "position": 4, "one": "`b`", "other": "`–`"}
    assert found(plain, small_run("abca")[0]) == ("tokens", sizes)
    lost = replace(plain, arrays={**plain.arrays, "layers.1.out": plain.arrays["layers.1.out"] * np.float32(np.nan)})
    assert found(plain, lost) == ("lost", {})
    assert not draw(Scene(lost, Focus(0, 0, 0, 0), plain))
    assert not draw(Scene(plain))


def test_a_bar_is_how_far_the_token_that_differs_most_is_in_its_length() -> None:
    scene, pinned = two_runs(seed=5)
    points = draw(scene)["compare_points"].now
    expected = [max(unlike(pinned.arrays[f"{at}.out"], scene.now.arrays[f"{at}.out"])) for at in
                ("embed", "layers.0", "layers.1")]  # fmt: skip
    np.testing.assert_allclose(points.figure["data"][0]["y"], expected, rtol=1e-4)
    assert points.table is not None
    assert list(points.table()["point"]) == [each.name for each in compare_points(pinned, scene.now)]


def test_one_head_stands_beside_the_pinned_one_and_the_weight_that_every_head_moved() -> None:
    scene, pinned = two_runs(seed=5)
    before, after = (small_run("abcab", seed=seed)[1]["layers.1.attn.pattern"][0, 3].numpy() for seed in (5, 0))
    head, moved = (draw(scene)[key] for key in ("head_now", "moved_weight"))
    assert [each.key for each in head.beside] == ["head_pinned", "head_difference"]
    for each, expected in zip((head.now, head.beside[0]), (after, before), strict=True):
        np.testing.assert_allclose(each.figure["data"][0]["customdata"], expected, atol=1e-5)
    np.testing.assert_allclose(head.beside[1].figure["data"][0]["z"], after - before, atol=1e-5)
    np.testing.assert_allclose(moved.now.figure["data"][0]["z"], moved_weight(pinned, scene.now), atol=1e-6)
    case, numbers = find_head_change(scene)
    assert case == "moved"
    assert numbers["moved"] == pytest.approx(np.abs(after - before).sum(axis=1).mean() / 2, abs=1e-5)
    assert abs(numbers["after"] - numbers["before"]) == pytest.approx(np.abs(after - before).max(), abs=1e-5)


def test_of_other_tokens_the_nearest_head_stands_in_one_row_without_a_difference() -> None:
    scene, _ = two_runs("abc", "ab", n_layers=1, n_heads=2)
    assert find_head_change(scene) == ("tokens", {})
    drawn = draw(scene)
    (beside,) = drawn["head_now"].beside
    assert drawn["head_now"].in_one_row
    assert "The nearest: it has no layer 1 and no head 3." in beside.caption
    assert not drawn.keys() & {"compare_points", "moved_weight"}
