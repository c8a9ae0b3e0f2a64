"""What if, on values: what followed is what two runs differ by; maps and words have the numbers that they are given."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder, ModelConfig, count_parameters
from playground.accounting import count_flops
from playground.analysis.attention import pattern_spread
from playground.analysis.sentences import POOLINGS
from playground.analysis.sweeps import remove_heads
from playground.charts import palette
from playground.charts.chart import Heatmap, Table
from playground.charts.draw import draw_chart, draw_table
from playground.charts.scene import Scene
from playground.link.kinds import Changes, MadeChange
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.views.what_if.followed import (
    Followed,
    find_most_changed,
    find_verdict,
    find_why_nothing,
    follow,
    list_pairs_of_sentences,
    show_chosen_head,
    show_details,
    show_followed,
    show_most_changed,
    show_sentences,
    show_tokens,
)
from playground.views.what_if.parts import (
    PARTS,
    Parts,
    Pruning,
    Target,
    find_largest,
    find_relation,
    find_saved,
    rank_correlation,
    show_heads,
    show_pruning,
)
from playground.views.what_if.patching import Patches, find_nearest, show_patches
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of, small_run

TEXT = ["abcdefgh", "abc"]
FOCUS = Focus(1, 2, 3, 4)


def changed_run(*changes: Change, sentence: int = 0) -> Run:
    return run(Encoder(ModelConfig(**SMALL), 0), characters().encode_batch(TEXT), sentence, interventions=changes)


def followed(*changes: Change, sentence: int = 0, is_on: bool = True) -> Scene[Followed]:
    made = Changes(tuple(MadeChange(each, is_on) for each in changes))
    encoder = Encoder(ModelConfig(**SMALL), 0)
    return Scene(follow(lab_of(encoder, TEXT, do=made, sentence=sentence + 1)), FOCUS)


OPTIONS: dict[str, Any] = {
    "whatif_view": "what followed", "whatif_tokens": False, "whatif_sentence": False, "whatif_chosen": False,
    "whatif_measure": "cosine", "whatif_pooling": "mean",
}  # fmt: skip


def charts(items: Any) -> dict[str, Any]:
    """The charts of a view, by key, also of those in columns."""
    return {getattr(item, "key", type(item).__name__): item for item in reversed(parts_of(items))}


def cosine(one: Any, two: Any) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_token_has_moved_by_the_difference_of_two_runs(sentence: int) -> None:
    scene = followed(Change("zero", 0, 1), sentence=sentence)
    runs = changed_run(sentence=sentence), changed_run(Change("zero", 0, 1), sentence=sentence)
    before, after = (each.arrays["layers.1.out"][~each.padding] for each in runs)
    expected = {
        "length of the change": np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1),
        "cosine": [cosine(one, two) for one, two in zip(before, after, strict=True)],
    }
    for measure, numbers in expected.items():
        chart = charts(show_tokens(scene, {"whatif_measure": measure}))["whatif_vectors"]
        drawn = draw_chart(chart, scene).now
        np.testing.assert_allclose(drawn.figure["data"][0]["z"][2], numbers, atol=1e-5)
        assert drawn.cells is not None
        assert drawn.cells.rows == ("layer", {1: 0, 2: 1})


def test_frames_are_where_changes_first_show_and_one_cell_is_framed_around_the_focus() -> None:
    scene = followed(Change("uniform", 0, 1, (3,)), Change("zero", 1, 1))
    chart: Heatmap[Followed] = charts(show_tokens(scene, {"whatif_measure": "cosine"}))["whatif_vectors"]
    one, row = chart.frames(scene.now)
    assert (one.columns, one.width > 2 * 3) == ((3, 3), True), "the focus's frame is 3 pixels within the cell"
    assert (row.rows, row.columns, row.width) == ((2, 2), (0, 7), 3)


def test_the_head_that_changed_most_is_found_and_its_difference_drawn() -> None:
    scene = followed(Change("zero", 0, 1))
    before, after = (each.patterns().astype(np.float64) for each in (scene.now.untouched, scene.now.run))
    shares = np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    assert find_most_changed(scene.now.moved_weight) == (layer, head)
    found = charts(show_most_changed(scene, OPTIONS))
    np.testing.assert_allclose(found["whatif_heads"].values(scene.now), shares, atol=1e-6)
    (framed,) = found["whatif_heads"].frames(scene.now)
    assert (framed.rows, framed.columns) == ((layer, layer), (head, head)), "the map beside it is of this head"
    np.testing.assert_allclose(found["whatif_most"].values(scene.now), (after - before)[layer, head], atol=1e-6)
    for chosen, has_frame in ((int(head), True), ((int(head) + 1) % 4, False)):
        looked_at = replace(scene, focus=replace(FOCUS, layer=int(layer), head=chosen))
        drawn = draw_chart(charts(show_most_changed(looked_at, OPTIONS))["whatif_most"], looked_at).now
        assert (drawn.cells is not None) == has_frame, "the focus's frame belongs to the chosen head"


def test_where_no_head_changed_the_tokens_are_the_proof() -> None:
    scene = followed(Change("off", 1, None, ("ffn",)))
    assert find_most_changed(scene.now.moved_weight) is None
    found = charts(show_followed(scene, OPTIONS))
    assert "whatif_vectors" in found
    assert not found.keys() & {"whatif_heads", "whatif_most"}


def test_the_chosen_head_is_shown_before_after_and_as_a_difference() -> None:
    scene = followed(Change("zero", 0, 1))
    found = charts(show_chosen_head(scene))
    before, after = (each.pattern(1)[2] for each in (changed_run(), changed_run(Change("zero", 0, 1))))
    expected = {"whatif_before": before, "whatif_after": after, "whatif_difference": after - before}
    for key, numbers in expected.items():
        np.testing.assert_allclose(found[key].values(scene.now), numbers, atol=1e-6)
    assert charts(show_chosen_head(followed(Change("zero", 1, 2)))).keys() == {"whatif_before", "Paragraph"}


def test_panels_are_made_only_where_they_are_open() -> None:
    scene = followed(Change("zero", 0, 1))
    closed = charts(show_details(scene, OPTIONS))
    assert not any(isinstance(each, Heatmap | Table) for each in closed.values())
    opened = {key: True if value is False else value for key, value in OPTIONS.items()}
    assert charts(show_details(scene, opened)).keys() >= {"whatif_vectors", "whatif_similarities", "whatif_before"}


@pytest.mark.parametrize(
    ("changes", "is_on", "why"),
    [([], True, "nothing"), ([Change("zero", 9, 9)], True, "unfit"), ([Change("zero", 0, 1)], False, "off")],
)
def test_before_any_change_the_head_that_can_be_changed_is_seen_as_it_is(
    changes: list[Change], is_on: bool, why: str
) -> None:
    scene = followed(*changes, is_on=is_on)
    assert find_why_nothing(scene.now.lab) == why
    (chart,) = [item for item in parts_of(show_followed(scene, OPTIONS)) if isinstance(item, Heatmap)]
    np.testing.assert_allclose(chart.values(scene.now), changed_run().pattern(1)[2], atol=1e-6)


@pytest.mark.parametrize(("times", "size"), [(0.1, "much"), (0.9, "alike"), (1.5, "alike"), (4, "little")])
def test_the_verdict_is_how_far_the_sentence_moved_beside_the_median_head(times: float, size: str) -> None:
    change = Change("zero", 0, 1)
    before, after = (
        each.arrays["final"].astype(np.float64).mean(axis=0) for each in (changed_run(), changed_run(change))
    )
    moved = float(np.linalg.norm(after - before) / np.linalg.norm(before))
    case, numbers = find_verdict(followed(change).now)
    assert (case, numbers["changes"]) == ("moved", 1)
    assert numbers["moved"] == pytest.approx(moved, rel=1e-4)
    effects = moved * times * np.array([[0.1, 1, 0.5, 1.5], [1, 1, 0.2, 3]])
    further = int((np.delete(effects, 1) > moved).sum())
    effects[0, 1] = moved * 1.0005  # the head itself, measured in another batch
    case, numbers = find_verdict(replace(followed(change).now, heads=effects))
    assert (case, numbers["size"], numbers["heads"], numbers["further"]) == ("compared", size, 8, further)
    assert numbers["median"] == pytest.approx(np.median(effects))
    lost = changed_run(change)
    lost = replace(lost, arrays={**lost.arrays, "final": lost.arrays["final"] * np.float32(np.nan)})
    assert find_verdict(replace(followed(change).now, run=lost))[0] == "lost"


@pytest.mark.parametrize("pooling", POOLINGS)
def test_pairs_of_sentences_are_those_of_the_runs_by_the_size_of_their_change(pooling: str) -> None:
    scene = followed(Change("zero", 0, 1))
    *_, group = show_sentences(scene, {"whatif_pooling": pooling})
    (table,) = (item for item in group.items if isinstance(item, Table))  # type: ignore[union-attr]
    shown = draw_table(table, scene).set_index("sentences")

    def pooled(of: Run) -> Any:
        final = of.arrays["final"]
        if pooling == "first token":
            return final[0]
        return final.mean(axis=0) if pooling == "mean with padding" else final[~of.padding].mean(axis=0)

    for column, changes in (("before", []), ("after", [Change("zero", 0, 1)])):
        expected = cosine(*(pooled(changed_run(*changes, sentence=sentence)) for sentence in (0, 1)))
        assert shown[column]["1 and 2"] == pytest.approx(expected, abs=1e-5)
    before = np.eye(3)
    after = before + np.array([[0, 0.1, 0], [0.1, 0, -0.5], [0, -0.5, 0]])
    assert list_pairs_of_sentences(before, after)["sentences"].tolist() == ["2 and 3", "1 and 2", "1 and 3"]


VALUES = np.array([0.1, 0.4, np.nan, 0.0, 0.0, 0.2, 0.3, 0.35], np.float32)
SPREAD = {"whatif_spread": True}
NUMBERS: dict[Target, dict[str, Any]] = {
    "vector": {}, "similarity": {"other": 2, "before": 0.5}, "word": {"word": "cat", "before": 0.5},
    "answers": {"sequences": 16, "before": 0.5},
}  # fmt: skip


def parts(effects: Any, target: Target = "vector") -> Scene[Parts]:
    return Scene(Parts(changed_run(), effects, target, NUMBERS[target]), FOCUS)


@pytest.mark.parametrize(
    ("kind", "key", "shape"),
    [("heads", "head_effects", (2, 4)), ("sublayers", "sublayer_effects", (2, 2)),
     ("hidden tokens", "hidden_tokens", (2, 8)), ("pairs of one head", "pair_effects", (8, 8))],
)  # fmt: skip
@pytest.mark.parametrize("target", NUMBERS)
def test_maps_of_parts_show_their_numbers(kind: str, key: str, shape: tuple[int, int], target: Target) -> None:
    low = 0 if target == "vector" else -0.5
    numbers = np.linspace(low, 0.5, np.prod(shape), dtype=np.float32)
    scene = parts(numbers, target)
    cells = go.Figure(draw_chart(charts(PARTS[kind](scene, SPREAD))[key], scene).now.figure).data[0]
    np.testing.assert_array_equal(cells.z, numbers.reshape(shape))
    assert (cells.zmin, cells.zmax) == pytest.approx((low, 0.5))


def test_the_answer_is_the_largest_effect_beside_the_median() -> None:
    found = find_largest(parts(VALUES).now)
    assert found is not None
    assert found[0] == 1
    assert found[1] == pytest.approx({"effect": 0.4, "after": 0.4, "median": np.nanmedian(VALUES)})
    found = find_largest(parts(VALUES - np.float32(0.3), "similarity").now)
    assert found is not None
    assert found[0] in (3, 4), "the largest by size"
    assert found[1]["after"] == pytest.approx(0.2)
    assert find_largest(parts(np.full(8, np.nan)).now) is None
    assert charts(show_heads(parts(np.full(8, np.nan, np.float32)), {"whatif_spread": False}))


def test_heads_are_points_and_the_chosen_one_stands_out() -> None:
    scene = parts(VALUES - np.float32(0.15), "similarity")
    figure = draw_chart(charts(show_heads(scene, SPREAD))["spread_and_effect"], scene).now.figure
    (points,) = go.Figure(figure).data
    np.testing.assert_allclose(points.x, pattern_spread(scene.now.run).ravel())
    np.testing.assert_allclose(points.y, np.abs(scene.now.effects))
    assert points.customdata.tolist() == [[i, j] for i, j in np.ndindex(2, 4)]
    assert [i for i, symbol in enumerate(points.marker.symbol) if symbol == "diamond"] == [6]


@pytest.mark.parametrize(
    ("sizes", "case"), [([4, 3, 2, 1], "strong"), ([1, 2, 3, 4], "reverse"), ([1, 1, 1, 1], "unknown"),
                        ([3, 2, 4, 1], "weak"), ([2, 4, 1, 3], "none")],
)  # fmt: skip
def test_striking_heads_matter_by_the_rank_correlation(sizes: list[int], case: str) -> None:
    spread = np.array([[0.1, 0.2], [0.3, 0.4]])
    found, numbers = find_relation(spread, np.reshape(np.array(sizes, float), (2, 2)))
    assert found == case
    if case == "reverse":
        assert (numbers["correlation"], numbers["heads"]) == (pytest.approx(-1), 4)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 1000], 1),
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 1 - 6 * 4 / (5 * 24)),  # 1 − 6 Σd² / (n (n² − 1))
        ([1, 1, 2], [1, 2, 3], np.sqrt(3) / 2),  # ranks ½, ½, 2 and 0, 1, 2
        ([1, 1, 1], [1, 2, 3], np.nan),
        ([1, 2], [1, 2], np.nan),
    ],
)
def test_rank_correlations(one: list[float], two: list[float], expected: float) -> None:
    assert rank_correlation(np.array(one), np.array(two)) == pytest.approx(expected, nan_ok=True)


def test_patched_places_are_depths_downwards_with_changed_tokens_framed() -> None:
    shares = np.array([[0, 0.5, 0, 0.001], [0, -0.2, 0.1, 0], [0.3, 0.2, 0.1, 0]], np.float32)
    patches = Patches(small_run("a<bc")[0], shares, 1, list("ax<c"), [1, 2])
    scene = Scene(patches, FOCUS)
    figure = go.Figure(draw_chart(charts(show_patches(scene, {}))["patched_places"], scene).now.figure)
    np.testing.assert_array_equal(figure.data[0].z, shares)
    assert list(figure.data[0].x) == ["a₀", "x for &lt;₁", "&lt; for b₂", "c₃"]
    assert figure.layout.yaxis.autorange == "reversed", "as layers in every other map"
    assert [(each.x0, each.x1) for each in figure.layout.shapes] == [(0.5, 1.5), (1.5, 2.5)]
    nearest, shared = find_nearest(patches, range(4)), find_nearest(patches, [0, 3])
    assert nearest is not None
    assert shared is not None
    assert (nearest["depth"], nearest["share"]) == (0, pytest.approx(0.5))
    assert (shared["depth"], shared["share"]) == (2, pytest.approx(0.3))
    assert find_nearest(replace(patches, shares=shares * np.nan), range(4)) is None
    assert find_nearest(patches, []) is None
    assert find_nearest(patches, [3]) is None, "no percentage that rounds to 0"


def test_curves_have_a_band_of_random_orders_where_all_are_measured() -> None:
    left = np.ones((3, 9), np.float32)
    left[1:, 1] = 0.5, 0.7
    left[0, 8] = left[2, 2:] = np.nan
    scene = Scene(Pruning(small_run("abc")[0], tuple(range(8)), left), FOCUS)
    figure = go.Figure(
        draw_chart(charts(show_pruning(scene, {"whatif_pruned": 1}))["pruning_curves"], scene).now.figure
    )
    area, mean, ordered = figure.data
    np.testing.assert_allclose(area.y, np.array([1, 0.7, 0.5, 1], np.float32))
    np.testing.assert_allclose(mean.y, [1, 0.6])
    np.testing.assert_allclose(ordered.y, left[0])
    assert [(each.x0, each.line.color) for each in figure.layout.shapes] == [(1, palette.FOCUS)]
    nothing = Scene(replace(scene.now, left=left * np.nan), FOCUS)
    assert charts(show_pruning(nothing, {"whatif_pruned": 9216}))["pruning_curves"]


@pytest.mark.parametrize(
    ("changes", "own"),
    [
        ({}, 4 * 2 * 8 * 16 * 4 + 2 * 2 * 64 * 4),  # four maps, scores and the weighted sum of 8 × 8 pairs
        ({"window": 2}, 4 * 2 * 8 * 16 * 4 + 2 * 2 * 22 * 4),  # three keys a query, two at either end
        ({"window": 2, "global_every": 2}, 4 * 2 * 8 * 16 * 4 + 2 * 2 * 22 * 4),  # the head is in the second layer
        ({"n_kv_heads": 2}, 2 * 2 * 8 * 16 * 4 + 2 * 2 * 64 * 4),
    ],
    ids=str,
)
def test_what_is_saved_is_what_a_layer_computes_of_a_head(changes: dict[str, Any], own: int) -> None:
    config = ModelConfig(**SMALL | changes)
    saved = find_saved(config, remove_heads((5, 0, 1, 2, 3, 4, 6, 7), 1, config), 8)
    assert saved["flops"] == pytest.approx(own / count_flops(config, 8).total)
    if not changes:
        assert saved["share"] == pytest.approx((3 * (16 * 4 + 4) + 4 * 16) / count_parameters(config).total)
