"""What the page Compare shows of two runs and two models, against numbers computed here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.accounting import LABELS
from playground.accounting.readable import ModelCosts
from playground.analysis.comparison import PointDifference, compare_points, moved_weight
from playground.charts.chart import Chart, Paragraph
from playground.charts.draw import Drawing, draw_chart
from playground.charts.names import subscript
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.views import compare
from playground.views.compare import differences_on_the_way
from tests.views.scenes import SMALL, parts_of, small_run


def draw(items: Any, scene: Scene[Any]) -> dict[str, Drawing]:
    return {each.key: draw_chart(each, scene) for each in parts_of(items) if isinstance(each, Chart)}


def two_runs(text: str = "abcab", pinned_text: str = "abcab", **changes: Any) -> tuple[Scene[Run], Run]:
    now, pinned = small_run(text)[0], small_run(pinned_text, **changes)[0]
    return Scene(now, Focus(1, 3, 0, 0), pinned, "pinned (other)", "now (this)", text == pinned_text), pinned


def test_one_head_stands_beside_the_pinned_one_and_the_weight_that_every_head_moved() -> None:
    scene, pinned = two_runs(seed=5)
    before, after = (small_run("abcab", seed=seed)[1]["layers.1.attn.pattern"][0, 3].numpy() for seed in (5, 0))
    drawn = draw(compare.compare_heads(scene, moved_weight(pinned, scene.now)), scene)
    assert drawn.keys() == {"head_now", "moved_weight"}
    assert [each.key for each in drawn["head_now"].beside] == ["head_pinned", "head_difference"]
    shown = [drawn["head_now"].now, drawn["head_now"].beside[0]]
    for each, expected in zip(shown, (after, before), strict=True):
        np.testing.assert_allclose(each.figure["data"][0]["customdata"], expected, atol=1e-5)
    np.testing.assert_allclose(drawn["head_now"].beside[1].figure["data"][0]["z"], after - before, atol=1e-5)
    moved = drawn["moved_weight"].now.figure["data"][0]["z"]
    assert moved[1][3] == pytest.approx(np.abs(after - before).sum(axis=1).mean() / 2, abs=1e-5)


def test_of_other_tokens_the_nearest_head_stands_in_one_row_without_a_difference() -> None:
    scene, _ = two_runs("abc", "ab", n_layers=1, n_heads=2)
    drawing = draw(compare.compare_heads(scene, None), scene)["head_now"]
    (beside,) = drawing.beside
    assert drawing.in_one_row
    assert drawing.note
    assert "Layer 0, head 1. The nearest: it has no layer 1 and no head 3." in beside.caption
    assert beside.cells is None


def test_the_nearest_head_has_the_grey_cells_of_its_own_layer() -> None:
    scene, _ = two_runs(n_layers=1, window=2, global_every=2)
    drawing = draw(compare.compare_heads(scene, None), scene)["head_now"]
    assert "Grey cells" not in drawing.beside[0].caption, "layer 0 has no window, and layer 1 would have one"


def test_points_lengths_and_costs_are_those_of_both() -> None:
    scene, pinned = two_runs(n_layers=1)
    differences = compare_points(pinned, scene.now)
    points = draw(compare.compare_points(scene, differences), scene)["compare_points"].now
    assert points.table is not None
    assert list(points.table()["point"]) == [each.name for each in differences]
    norms = draw(compare.compare_lengths(scene), scene)["compare_norms"].now
    assert norms.cells is None
    assert sum(trace["line"].get("dash") == "dot" for trace in norms.figure["data"]) >= 3


@pytest.mark.parametrize(("key", "counted"), [("compare_parameters", "parameters"), ("compare_flops", "flops")])
def test_pairs_of_components_have_both_models_sums_and_the_change(key: str, counted: str) -> None:
    config = ModelConfig(**SMALL)
    now, pinned = ModelCosts(config, 5), ModelCosts(replace(config, n_layers=1, norm="none"), 7)
    after, before = (getattr(each, counted) for each in (now, pinned))
    scene = Scene(now, pinned=pinned, pinned_name="pinned", now_name="now")
    drawn = draw(compare.compare_costs(scene), scene)[key].now
    assert drawn.table is not None
    table = drawn.table()
    assert list(table.loc["all"]) == [before.total, after.total, after.total - before.total]
    feed_forward = [count.by(lambda term: term.component)["feed_forward"] for count in (before, after)]
    assert list(table.loc[LABELS["feed_forward"]])[:2] == feed_forward
    bars = drawn.figure["data"]
    assert sum(sum(trace["x"]) for trace in bars) == before.total + after.total
    assert sum(sum(trace["x"]) for trace in bars if trace.get("opacity", 1) < 1) == before.total


@pytest.mark.parametrize(
    ("shares", "kind"), [([0, 0.02, 0.5], "linear"), ([0.001, 0, 0.5], "log"), ([0, 0, 0], "linear")]
)
def test_bars_stand_on_an_axis_from_0_unless_small_ones_could_not_be_seen(shares: list[float], kind: str) -> None:
    drawn = differences_on_the_way(np.array(shares), ["embeddings", "layer 0", "output"])
    (bars,), axis = drawn["data"], drawn["layout"]["yaxis"]
    np.testing.assert_array_equal(bars["y"], [share or np.nan for share in shares])
    assert axis.get("type", "linear") == kind
    assert kind == "log" or axis["range"][0] == 0


def test_a_bar_is_how_far_the_token_that_differs_most_is_in_its_length() -> None:
    scene, pinned = two_runs(seed=5)
    differences = compare_points(pinned, scene.now)
    bars = draw(compare.compare_points(scene, differences), scene)["compare_points"].now.figure["data"][0]
    points = ["embed.out", "layers.0.out", "layers.1.out"]
    expected = [max(unlike(pinned.arrays[point], scene.now.arrays[point])) for point in points]
    np.testing.assert_allclose(bars["y"], expected, rtol=1e-4)
    assert bars["x"] == ["embeddings", "layer 0", "layer 1"]


def unlike(one: Any, other: Any) -> list[float]:
    """How far each token's vector differs, by its length in the first, in plain numpy."""
    wide = one.astype(np.float64)
    lengths: list[float] = (np.linalg.norm(other - wide, axis=1) / np.linalg.norm(wide, axis=1)).tolist()
    return lengths


def cosine_of_means(pinned: Run, now: Run) -> float:
    one, other = (each.arrays["final"].astype(np.float64).mean(axis=0) for each in (pinned, now))
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def answer(pinned: Run, now: Run, *is_random: bool) -> str:
    found = compare.answer_parting(pinned, now, compare_points(pinned, now), is_random or (False, False))  # type: ignore[arg-type]
    assert found.kind == "answer"
    return found.text


def changed(*changes: Change) -> Run:
    batch = characters().encode_batch(["abcab"])
    return run(Encoder(ModelConfig(**SMALL), 0), batch, interventions=changes)


@pytest.mark.parametrize(
    ("pinned", "now", "point", "place"),
    [
        (small_run("abcab", seed=1)[0], small_run("abcab")[0], "embed.out", "**at the embeddings**"),
        (changed(), changed(Change("zero", 0, 1)), "layers.0.out", "**in layer 0**"),
        (changed(), changed(Change("off", 1, None, ("ffn",))), "layers.1.out",
         "the same before layer 1, and part **in layer 1**"),
        (small_run("abcab")[0], small_run("abcab", n_layers=4)[0], "final", "**2 layers**, and one goes on to 4"),
        (small_run("abcab", norm_placement="pre")[0],
         small_run("abcab", norm_placement="pre", final_norm=True)[0], "final", "**in the last norm**"),
        (small_run("abcab")[0], small_run("abcab", n_heads=2)[0], "layers.0.out", "**in layer 0**"),
    ],
    ids=["embeddings", "layer 0", "layer 1", "deeper", "last norm", "heads"],
)  # fmt: skip
def test_the_answer_is_where_two_part_by_how_much_and_what_is_left_at_the_end(
    pinned: Run, now: Run, point: str, place: str
) -> None:
    told = answer(pinned, now)
    shares = unlike(pinned.arrays[point], now.arrays[point])
    token = int(np.argmax(shares))
    assert place in told
    assert f"the vector of `{now.tokens[token]}`{subscript(token)} differs most" in told
    largest = max(shares)
    assert f"**{largest:.0%}**" in told or f"**{100 * largest:.2g}%**" in told
    cosine = cosine_of_means(pinned, now)
    digits = 2 if cosine < 0.99 else 4
    assert f"vectors at the end is **{cosine:.{digits}f}**".replace("-", "−") in told


def test_the_answer_where_there_is_nothing_to_subtract() -> None:
    plain = small_run("abcab")[0]
    assert "**the same**" in answer(plain, plain)
    assert answer(plain, plain, True, True).endswith("Both have random weights.")
    assert answer(plain, plain, False, True).endswith("The present weights are random.")
    assert "has 16 numbers in the pinned model and **32** now" in answer(plain, small_run("abcab", d_model=32)[0])
    told = answer(plain, small_run("abca")[0])
    assert "the pinned settings read 5, the present ones 4" in told
    assert "position 4: `b`, and no token now" in told
    padded = run(Encoder(ModelConfig(**SMALL), 0), characters().encode_batch(["abcab", "abcabcab"]))
    assert "same 5 tokens, with 0 and 3 of padding" in answer(plain, padded)
    weights = replace(
        plain, arrays={**plain.arrays, "layers.1.attn.pattern": plain.arrays["layers.1.attn.pattern"] * 0}
    )
    assert "only attention differs" in answer(plain, weights)
    lost = replace(plain, arrays={**plain.arrays, **{name: plain.arrays[name] * np.float32(np.nan)
                                                    for name in ("layers.1.out", "final")}})  # fmt: skip
    assert "**in layer 1**; there numbers are too large" in answer(plain, lost)
    assert "no cosine" in answer(plain, lost)


def test_a_head_that_is_the_same_in_both_is_one_map() -> None:
    pinned, now = changed(), changed(Change("off", 1, None, ("ffn",)))
    scene = Scene(now, Focus(1, 3, 0, 0), pinned, "pinned (other)", "now (this)")
    drawn = draw(compare.compare_heads(scene, moved_weight(pinned, now)), scene)
    assert not drawn["head_now"].beside
    assert drawn["head_now"].now.caption.startswith("**Pinned and now: the same weights.** Layer 1, head 3.")
    assert "leaves its weights" not in drawn["head_now"].now.caption


@pytest.mark.parametrize(("head", "told"), [(3, True), (None, True), (2, False)])
def test_a_head_that_is_switched_off_is_told_to_keep_its_weights(head: int | None, told: bool) -> None:
    pinned, now = changed(), changed(Change("zero", 1, head))
    scene = Scene(now, Focus(1, 3, 0, 0), pinned, "pinned (other)", "now (this)")
    drawn = draw(compare.compare_heads(scene, moved_weight(pinned, now)), scene)
    assert ("leaves its weights" in drawn["head_now"].now.caption) == told


def test_both_sides_have_their_name_on_their_own_map_and_the_head_that_changed_most_is_told() -> None:
    scene, pinned = two_runs(seed=5)
    moved = moved_weight(pinned, scene.now)
    told, *items = compare.compare_heads(scene, moved)
    drawn = draw(items, scene)["head_now"]
    assert drawn.now.caption.startswith(r"**Now \(this\).** Layer 1, head 3.")
    assert drawn.beside[0].caption.startswith(r"**Pinned \(other\).**")
    layer, head = np.unravel_index(moved.argmax(), moved.shape)
    assert isinstance(told, Paragraph)
    assert f"layer {layer}, head {head} has changed most, by {moved.max():.0%}." in told.text


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((0.0, 0.1, 0.5), "**grows**: it is **50%** at the end."),
        ((0.0, 0.5, 0.2), "**shrinks**: it is **20%**"),
        ((0.4, 0.4, 0.41), "**stays about as large**: it is **41%** at the end."),
        ((0.4, 0.9, 0.41), "**goes up and down**, between 40% and 90%: it is **41%** at the end."),
        ((0.22, 0.26, 0.26, 0.24, 0.24, 0.26), "**goes up and down**, between 22% and 26%: it is **26%** at the end."),
        ((0.0, 0.1, 0.05, 0.2, 0.1), "**goes up and down**, between 5% and 20%: it is **10%** at the end."),
        ((0.0, 0.5, 0.0), "**it is mended**"),
        ((0.0, 0.0, 0.5), ""),
        ((0.0, 0.0, 0.0), ""),
        ((0.1, 0.5, float("nan")), ""),
    ],
)
def test_a_difference_grows_shrinks_or_is_mended(shares: tuple[float, ...], told: str) -> None:
    points = ("embed.out", *(f"layers.{i}.out" for i in range(len(shares) - 2)), "final")
    said = compare.describe_way(
        [PointDifference(point, share, 1.0, share) for point, share in zip(points, shares, strict=True)]
    )
    assert told in said
    assert bool(said) == bool(told)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 5}, ""),
        ({}, ""),
        ({"residual": False}, "The bars above are of what leaves a layer"),
        ({"n_heads": 2}, "2 heads in the pinned run"),
    ],
    ids=["part at the embeddings", "the same", "part within a layer", "unequal shapes"],
)
def test_below_the_bars_only_what_the_answer_does_not_say(changes: dict[str, Any], told: str) -> None:
    scene, pinned = two_runs(**changes)
    items = parts_of(compare.compare_points(scene, compare_points(pinned, scene.now)))
    said = [each.text for each in items if isinstance(each, Paragraph)]
    assert [told in each for each in said] == [True] * bool(told)
