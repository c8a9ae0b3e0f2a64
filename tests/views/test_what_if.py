"""What if, on values: what followed is what two runs differ by; maps and words have the numbers that they are given."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder, ModelConfig
from playground.accounting import count_flops
from playground.analysis.attention import pattern_spread
from playground.charts import palette
from playground.charts.chart import Heatmap, Paragraph, Table
from playground.charts.draw import draw_chart, draw_table
from playground.charts.label import chart_label
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.text.wording import write_share
from playground.views.what_if.followed import (
    Followed,
    show_chosen_head,
    show_details,
    show_followed,
    show_most_changed,
    show_sentences,
    show_tokens,
)
from playground.views.what_if.parts import PARTS, Effects, Parts, rank_correlation, show_heads
from playground.views.what_if.patching import Patches, show_patches
from playground.views.what_if.pruning import Pruning, show_pruning
from playground.views.what_if.verdict import HeadEffects, judge_changes, say_how_far
from tests.views.scenes import SMALL, parts_of, small_run, words

TEXT = ["abcdefgh", "abc"]
FOCUS = Focus(1, 2, 3, 4)


def changed_run(*changes: Change, sentence: int = 0) -> Run:
    return run(Encoder(ModelConfig(**SMALL), 0), characters().encode_batch(TEXT), sentence, interventions=changes)


def follow(*changes: Change, sentence: int = 0) -> Scene[Followed]:
    similarity = np.array([[1, 0.5, 0.25], [0.5, 1, 0.75], [0.25, 0.75, 1]])
    after = similarity - np.array([[0, 0.1, 0], [0.1, 0, 0.5], [0, 0.5, 0]])
    runs = changed_run(*changes, sentence=sentence), changed_run(sentence=sentence)
    followed = Followed(*runs, 0, 3, lambda _: (similarity, after), pooled_in_training=False, causal=False)
    return Scene(followed, FOCUS)


OPTIONS_OF_WORDS: dict[str, Any] = {"whatif_measure": "cosine", "whatif_pooling": "mean"}
OPTIONS = {"whatif_tokens": False, "whatif_sentence": False, "whatif_chosen": False} | OPTIONS_OF_WORDS


def charts(items: Any) -> dict[str, Any]:
    """The charts of a view, by key, also of those in columns, and its first paragraph."""
    return {getattr(item, "key", type(item).__name__): item for item in reversed(parts_of(items))}


def cosine(one: Any, two: Any) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_token_has_moved_by_the_difference_of_two_runs(sentence: int) -> None:
    scene = follow(Change("zero", 0, 1), sentence=sentence)
    before, after = (each.arrays["layers.1.out"][~each.padding] for each in (scene.now.untouched, scene.now.run))
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
    ((shape),) = drawn.figure["layout"]["shapes"]
    assert (shape["y0"], shape["x1"], shape["line"]["color"]) == (0.5, len(before) - 0.5, palette.CHANGE)


def test_a_frame_around_one_cell_is_wide_enough_to_be_seen_around_the_focus() -> None:
    scene = follow(Change("uniform", 0, 1, (3,)), Change("zero", 1, 1))
    chart: Heatmap[Followed] = charts(show_tokens(scene, {"whatif_measure": "cosine"}))["whatif_vectors"]
    one, row = chart.frames(scene.now)
    assert (one.columns, one.width > 2 * 3) == ((3, 3), True), "the focus's frame is 3 pixels within the cell"
    assert (row.rows, row.columns, row.width) == ((2, 2), (0, 7), 3)


def moved_shares(scene: Scene[Followed]) -> Any:
    before, after = (each.patterns().astype(np.float64) for each in (scene.now.untouched, scene.now.run))
    return np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2


def test_the_head_that_changed_most_is_named_and_its_difference_drawn() -> None:
    scene = follow(Change("zero", 0, 1))
    items = [*show_most_changed(scene, {})]
    shares = moved_shares(scene)
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    assert f"**Layer {layer}, head {head}:** on average, {100 * shares.max():.2g}% " in words(items)
    found = charts(items)
    np.testing.assert_allclose(found["whatif_heads"].values(scene.now), shares, atol=1e-6)
    before, after = (each.pattern(int(layer))[head] for each in (scene.now.untouched, scene.now.run))
    (framed,) = found["whatif_heads"].frames(scene.now)
    assert (framed.rows, framed.columns) == ((layer, layer), (head, head)), "the map beside it is of this head"
    most = found["whatif_most"]
    np.testing.assert_allclose(most.values(scene.now), after - before, atol=1e-6)
    assert most.saved_as == f"whatif_most_layer{layer}_head{head}"
    for chosen, has_frame in ((int(head), True), ((int(head) + 1) % 4, False)):
        looked_at = replace(scene, focus=replace(FOCUS, layer=int(layer), head=chosen))
        drawn = draw_chart(charts(show_most_changed(looked_at, {}))["whatif_most"], looked_at).now
        assert (drawn.cells is not None) == has_frame, "the focus's frame belongs to the chosen head"


def test_where_no_head_changed_the_tokens_are_the_proof() -> None:
    scene = follow(Change("off", 1, None, ("ffn",)))
    items = [*show_most_changed(scene, OPTIONS)]
    assert "No head attends otherwise" in words(items)
    assert charts(items).keys() >= {"whatif_vectors"}
    assert not charts(items).keys() & {"whatif_heads", "whatif_most"}
    assert "whatif_tokens" not in {getattr(each, "key", "") for each in show_details(scene, OPTIONS)}


def test_the_chosen_head_is_shown_before_after_and_as_a_difference() -> None:
    scene = follow(Change("zero", 0, 1))
    found = charts(show_chosen_head(scene))
    before, after = (each.pattern(1)[2] for each in (scene.now.untouched, scene.now.run))
    expected = {"whatif_before": before, "whatif_after": after, "whatif_difference": after - before}
    for key, numbers in expected.items():
        np.testing.assert_allclose(found[key].values(scene.now), numbers, atol=1e-6)
    assert charts(show_chosen_head(scene, most=(1, 2))).keys() & expected.keys() == {"whatif_before", "whatif_after"}


@pytest.mark.parametrize(
    ("change", "told"),
    [(Change("zero", 1, 0), ""), (Change("zero", 1, 2), "still attends"),
     (Change("zero", 1, 2, strength=0.5), ""),
     (Change("patch", 1, None, ("out", 0, 0)), ""), (Change("mean", 0, 0, (), 0.0), "")],
)  # fmt: skip
def test_a_head_that_attends_as_before_has_one_map(change: Change, told: str) -> None:
    items = [*show_chosen_head(follow(change))]
    assert charts(items).keys() == {"whatif_before", "Paragraph"}
    assert "Layer 1, head 2 gives the same weights" in words(items)
    assert told in words(items)
    assert ("still attends" in words(items)) == bool(told)


def test_before_any_change_the_head_that_can_be_changed_is_seen_as_it_is() -> None:
    untouched = changed_run()
    items = [*show_followed(follow(), {"whatif_view": "what followed"})]
    (chart,) = [item for item in parts_of(items) if isinstance(item, Heatmap)]
    np.testing.assert_allclose(chart.values(follow().now), untouched.pattern(1)[2], atol=1e-6)


def test_panels_are_made_only_where_they_are_open() -> None:
    closed = charts(show_details(follow(Change("zero", 0, 1)), OPTIONS))
    assert not any(isinstance(each, Heatmap | Table) for each in closed.values())
    opened = charts(show_details(follow(Change("zero", 0, 1)), dict.fromkeys(OPTIONS, True) | OPTIONS_OF_WORDS))
    assert opened.keys() >= {"whatif_vectors", "whatif_similarities", "whatif_before"}


def verdict(change: Change, *others: Change, effects: Any = None, n: int | None = None, is_random: bool = False) -> str:
    runs = changed_run(), changed_run(change, *others)
    heads = (
        None
        if effects is None
        else HeadEffects(np.reshape(np.array(effects, np.float32), (2, 4)), 8 if n is None else n)
    )
    return judge_changes(*runs, heads, is_random=is_random)


def moved_by(*changes: Change) -> float:
    """How far the sentence's vector has moved, in plain numpy."""
    before, after = (
        each.arrays["final"].astype(np.float64).mean(axis=0) for each in (changed_run(), changed_run(*changes))
    )
    return float(np.linalg.norm(after - before) / np.linalg.norm(before))


@pytest.mark.parametrize(
    ("times", "judged"),
    [(0.1, "much"), (0.9, "about what one head does"), (1.5, "about what one head does"), (4, "little")],
)
def test_the_verdict_is_how_far_the_sentence_moved_beside_the_median_head(times: float, judged: str) -> None:
    change = Change("zero", 0, 1)
    moved = moved_by(change)
    effects = moved * times * np.array([0.1, 1, 0.5, 1.5, 1, 1, 0.2, 3])
    effects[1] = moved * 1.001  # the head itself, measured in another batch
    told = verdict(change, effects=effects)
    others = np.delete(effects, 1)
    assert f"moves by **{moved:.0%}**" in told or f"moves by **{100 * moved:.2g}%**" in told
    median = float(np.median(effects))
    assert f"**{median:.0%}**" in told or f"**{100 * median:.2g}%**" in told
    assert f"That is {judged}" in told
    n = int((others > moved).sum())
    assert f"and {n or 'no'} other head" in told


def test_the_verdict_says_what_is_not_known_yet_and_what_cannot_be() -> None:
    change, effects = Change("off", 0, None, ("ffn",)), np.full(8, np.nan)
    assert "of the 8 heads" not in verdict(change)
    assert "each of the 8 heads is switched off alone: 3 so far." in verdict(change, effects=effects, n=3)
    assert "median" not in verdict(change, effects=effects), "numbers that are lost have no median"
    assert "every head moves it further" in verdict(change, effects=np.full(8, 1e3))
    assert "no head moves it further" in verdict(change, effects=np.zeros(8))
    assert "1 head moves it further" in verdict(change, effects=[1e3] + 7 * [0.0])
    assert "With your 2 changes" in verdict(change, Change("zero", 1, 1))
    assert "stays where it is" in verdict(Change("off", 0, None, ("ffn",), 0.0), effects=effects)
    assert verdict(change, is_random=True).endswith("The weights are random.")
    lost = changed_run(change)
    lost = replace(lost, arrays={**lost.arrays, "final": lost.arrays["final"] * np.float32(np.nan)})
    assert "cannot be told" in judge_changes(changed_run(), lost, None, is_random=False)
    assert "cannot be told" in say_how_far(changed_run(), lost, None)


def test_beside_the_button_stands_the_same_distance_and_how_it_compares_once_all_heads_are_measured() -> None:
    change = Change("zero", 0, 1)
    moved, runs = moved_by(change), (changed_run(), changed_run(change))
    told = f"With your change, the sentence moves by **{write_share(moved)}** of its length."
    assert say_how_far(*runs, None) == told
    quarter = np.full((2, 4), moved / 4, np.float32)
    assert say_how_far(*runs, HeadEffects(quarter, 8)) == f"{told} That is much."
    quarter[1] = np.nan
    assert say_how_far(*runs, HeadEffects(quarter, 4)) == told
    assert "**stays where it is**" in say_how_far(runs[0], changed_run(replace(change, strength=0.0)), None)


def test_pairs_of_sentences_stand_by_the_size_of_their_change() -> None:
    *_, group = show_sentences(follow(Change("zero", 0, 1)), {"whatif_pooling": "mean"})
    (table,) = (item for item in group.items if isinstance(item, Table))  # type: ignore[union-attr]
    shown = draw_table(table, follow(Change("zero", 0, 1)))
    assert shown["sentences"].tolist() == ["2 and 3", "1 and 2", "1 and 3"]
    np.testing.assert_allclose(shown["after − before"], [-0.5, -0.1, 0])


VALUES = np.array([0.1, 0.4, np.nan, 0.0, 0.0, 0.2, 0.3, 0.35], np.float32)
SPREAD = {"whatif_spread": True}
PLAIN = Effects(VALUES, "how far it moves", "it moves by {}", ".1%")
SIGNED = Effects(VALUES - np.float32(0.15), "what is added", "{} is added", "+.2f")


def parts(effects: Effects, sublayers: Effects | None = None, focus: Focus = FOCUS) -> Scene[Parts]:
    return Scene(Parts(changed_run(), effects, sublayers), focus)


@pytest.mark.parametrize(
    ("kind", "key", "shape"),
    [("heads", "head_effects", (2, 4)), ("sublayers", "sublayer_effects", (2, 2)),
     ("hidden tokens", "hidden_tokens", (2, 8)), ("pairs of one head", "pair_effects", (8, 8))],
)  # fmt: skip
@pytest.mark.parametrize("is_signed", [False, True])
def test_maps_of_parts_show_their_numbers(kind: Any, key: str, shape: tuple[int, int], is_signed: bool) -> None:
    numbers = np.linspace(-0.5 if is_signed else 0, 0.5, np.prod(shape), dtype=np.float32)
    scene = parts(Effects(numbers, "told", "{}", "+.4f" if is_signed else ".1%"))
    chart = charts(PARTS[kind](scene, SPREAD))[key]
    figure = go.Figure(draw_chart(chart, scene).now.figure)
    cells = figure.data[0]
    np.testing.assert_array_equal(cells.z, numbers.reshape(shape))
    assert (cells.zmin, cells.zmax) == pytest.approx((-0.5 if is_signed else 0, 0.5))
    assert cells.colorbar.title.text == "change"


def test_the_answer_is_the_largest_effect_beside_the_median_then_those_that_follow() -> None:
    answers, nexts = zip(*([*show_heads(parts(each), SPREAD)][:2] for each in (PLAIN, SIGNED)), strict=True)
    plain, signed = (item.text for item in answers if isinstance(item, Paragraph) and item.kind == "answer")
    assert "**Layer 0, head 1 matters most** (of 7 heads measured so far): without it, it moves by **40.0%**." in plain
    assert f"The median of the 7 heads is {np.nanmedian(VALUES):.1%}." in plain
    assert "**+0.25** is added" in signed
    assert "is +0.05; without signs 0.15." in signed
    assert [item.text.partition(": ")[2] for item in nexts if isinstance(item, Paragraph)] == [
        "layer 1, head 3 (35.0%); layer 1, head 2 (30.0%).",
        "layer 1, head 3 (+0.20); layer 0, head 3 (−0.15).",
    ]


def test_heads_are_points_and_the_chosen_one_stands_out() -> None:
    scene = parts(SIGNED)
    chart = charts(show_heads(scene, SPREAD))["spread_and_effect"]
    figure = draw_chart(chart, scene).now.figure
    others, chosen = go.Figure(figure).data
    spread = pattern_spread(scene.now.run)
    assert (chosen.x[0], chosen.y[0]) == pytest.approx((spread[1, 2], abs(SIGNED.values[6])))
    np.testing.assert_allclose(others.y, np.delete(np.abs(SIGNED.values), 6))
    assert others.customdata.tolist() == [[i, j] for i, j in np.ndindex(2, 4) if (i, j) != (1, 2)]
    assert chosen.marker.color == palette.FOCUS
    assert chart_label("Heads", figure).startswith("Heads. every other head: 6, up to ")


@pytest.mark.parametrize(("attention", "replaced"), [(0.9, False), (9.0, True)])
def test_the_verdict_has_the_heads_of_a_layer_together(attention: float, replaced: bool) -> None:
    known = Effects(np.nan_to_num(VALUES), "", "{}", ".1%")
    sublayers = Effects(np.array([0.1, 0, attention, 0], np.float32), "", "{}", ".1%")
    told = words(parts_of(show_heads(parts(known, sublayers), SPREAD)))
    assert "of the 4 heads in layer 1, the strongest alone brings 35.0%, " in told
    assert f"and the layer's whole attention {attention:.1%}" in told
    assert ("others do its work" in told) == replaced


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 1000], 1),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1),
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 1 - 6 * 4 / (5 * 24)),  # 1 − 6 Σd² / (n (n² − 1))
        ([1, 1, 2], [1, 2, 3], np.sqrt(3) / 2),  # ranks ½, ½, 2 and 0, 1, 2
        ([1, 1, 1], [1, 2, 3], np.nan),
        ([1, 2], [1, 2], np.nan),
        ([], [], np.nan),
    ],
)
def test_rank_correlations(one: list[float], two: list[float], expected: float) -> None:
    found = rank_correlation(np.array(one, np.float32), np.array(two, np.float32))
    assert found == pytest.approx(expected, nan_ok=True)


def test_patched_places_are_depths_downwards_with_changed_tokens_framed() -> None:
    shares = np.array([[0, 0.5, 0, 0.001], [0, -0.2, 0.1, 0], [0.3, 0.2, 0.1, 0]], np.float32)
    patches = Patches(small_run("a<bc")[0], shares, 0, 1, list("ax<c"), [1, 2])
    scene = Scene(patches, FOCUS)
    items = charts(show_patches(scene, {}))
    drawn = draw_chart(items["patched_places"], scene).now
    figure = go.Figure(drawn.figure)
    np.testing.assert_array_equal(figure.data[0].z, shares)
    assert list(figure.data[0].x) == ["a₀", "x for &lt;₁", "&lt; for b₂", "c₃"]
    assert figure.layout.yaxis.autorange == "reversed", "as layers in every other map"
    assert [(each.x0, each.x1, each.y0, each.y1) for each in figure.layout.shapes] == [
        (0.5, 1.5, -0.5, 2.5),
        (1.5, 2.5, -0.5, 2.5),
    ]
    assert items["Paragraph"].kind == "answer"
    assert "`x` in place of `<`₁ at depth 0 brings it nearest, by **50%**." in items["Paragraph"].text
    told = words(show_patches(scene, {}))
    assert "**2 tokens differ:**" in told
    assert "At the embeddings, `x` in place of `<`₁ brings it nearest, by **50%**." in told
    assert "both sentences share, `a`₀ at depth 2 brings it nearest, by **30%**." in told


def test_curves_have_a_band_of_random_orders_where_all_are_measured() -> None:
    left = np.ones((3, 9), np.float32)
    left[1:, 1] = 0.5, 0.7
    left[0, 8] = left[2, 2:] = np.nan
    pruning = Pruning(small_run("abc")[0], tuple(range(8)), left, "left", ".3f", "measured")
    scene = Scene(pruning, FOCUS)
    items = charts(show_pruning(scene, {"whatif_pruned": 1}))
    figure = go.Figure(draw_chart(items["pruning_curves"], scene).now.figure)
    area, mean, ordered = figure.data
    np.testing.assert_allclose(area.y, np.array([1, 0.7, 0.5, 1], np.float32))
    np.testing.assert_allclose(mean.y, [1, 0.6])
    np.testing.assert_allclose(ordered.y, left[0])
    assert [(each.x0, each.line.color) for each in figure.layout.shapes] == [(1, palette.FOCUS)]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("heads taken out", "left")
    told = items["Paragraph"].text
    assert "**Without the 1 of 8 heads with the least effect**, left: **1.000**, and 0.600 in random order" in told
    assert "0.600 in random order (0.500 to 0.700)" in told


def test_curves_without_any_number_are_empty() -> None:
    nothing = np.full((4, 9), np.nan, np.float32)
    scene = Scene(Pruning(small_run("abc")[0], tuple(range(8)), nothing, "left", ".3f", "measured"), FOCUS)
    items = charts(show_pruning(scene, {"whatif_pruned": 0}))
    assert not len(draw_chart(items["pruning_curves"], scene).now.figure["data"][1]["y"])
    assert "not measured yet" in items["Paragraph"].text


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
def test_a_heads_share_of_the_flops_is_what_its_layer_computes_of_it(changes: dict[str, Any], own: int) -> None:
    run, _ = small_run("abcdefgh", **changes)
    pruning = Pruning(run, (5, 0, 1, 2, 3, 4, 6, 7), np.ones((3, 9), np.float32), "left", ".3f", "measured")
    told = words(show_pruning(Scene(pruning, FOCUS), {"whatif_pruned": 1}))
    assert f"and {own / count_flops(run.config, 8).total:.1%} of the FLOPs at 8 tokens" in told
    all_heads = words(show_pruning(Scene(pruning, FOCUS), {"whatif_pruned": 8}))
    feed_forward = 2 * 2 * 2 * 8 * 16 * 32
    if "n_kv_heads" not in changes:
        assert f"and {1 - feed_forward / count_flops(run.config, 8).total:.1%} of the FLOPs" in all_heads
