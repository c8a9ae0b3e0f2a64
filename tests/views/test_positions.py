"""The view Positions as a function on values: its tables, curves and bars against torch's own numbers."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.positions import describe_swap, sum_with_numbers
from playground.charts.chart import Bars, Chart, Control, Curves, Formula, Heatmap, Item, Paragraph, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.link.state import MINILM
from playground.model.positions import sinusoids, wavelengths
from playground.text import characters
from playground.text.wording import write_number
from playground.views.positions import MAX_DISTANCE, VIEWS, PlacedWords, show_closer, show_positions, show_table
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of, words

OPTIONS = {"positions_table": False, "positions_closer": True,
           "positions_first": 1, "positions_second": 4, "positions_curve_1": 3, "positions_curve_2": 8,
           "positions_curve_3": 100, "positions_measure": "dot product"}  # fmt: skip
FOCUS = Focus(1, 2, 3, 0)


def place(text: str = "abcdef", *, seed: int = 0, is_causal: bool = False, **changes: Any) -> PlacedWords:
    config = ModelConfig(**SMALL | {"n_segments": 2} | changes)
    lab = lab_of(Encoder(config, seed), [text], weights="random", causal=is_causal)
    return PlacedWords(lab, lab.run)


def as_trained(placed: PlacedWords) -> PlacedWords:
    return replace(placed, lab=placed.lab.at(replace(placed.lab.state, weights=MINILM)))


def scene(now: PlacedWords, pinned: PlacedWords | None = None, *, same_tokens: bool = True) -> Scene[PlacedWords]:
    return Scene(now, FOCUS, pinned, "pinned: <b>" if pinned else "", same_tokens=same_tokens)


def show(view: str, looked_at: Scene[PlacedWords], **options: object) -> list[Item]:
    return parts_of(show_closer(looked_at, OPTIONS | {"positions_view": view} | options))


def page(looked_at: Scene[PlacedWords], **options: object) -> list[Item]:
    """What is in view when the page opens, and what `options` open."""
    return parts_of(show_positions(looked_at, OPTIONS | {"positions_closer": False} | options))


def formulas(items: list[Item]) -> list[str]:
    return [item.latex for item in items if isinstance(item, Formula)]


def heatmap(items: list[Item]) -> Heatmap[PlacedWords]:
    return next(item for item in items if isinstance(item, Heatmap))


def curves(items: list[Item]) -> Curves[PlacedWords]:
    return next(item for item in items if isinstance(item, Curves))


def bars(items: list[Item]) -> Bars[PlacedWords]:
    return next(item for item in items if isinstance(item, Bars))


@pytest.mark.parametrize(("kind", "d_model"), [("sinusoidal", 15), ("sinusoidal-doubled", 16), ("none", 16)])
def test_sinusoids_are_drawn_as_far_as_is_said(kind: str, d_model: int) -> None:
    looked_at = scene(place(positions=kind, d_model=d_model, n_heads=1, max_len=32))
    items = list(show_table(looked_at))
    expected = sinusoids(32, d_model, doubled=kind == "sinusoidal-doubled").numpy()
    drawn = draw_chart(heatmap(items), looked_at).now
    np.testing.assert_array_equal(drawn.figure["data"][0]["z"], expected)
    assert drawn.figure["data"][0]["zmax"] == pytest.approx(np.percentile(np.abs(expected), 99))
    assert f"positions 0 to 31 of 32, dimensions 0 to {d_model - 1} of {d_model}." in drawn.caption
    assert ("**This encoder adds no positions**" in words(items)) is (kind == "none")
    assert (f"about {8**0.5:.3g}." in drawn.caption) is (d_model == 16)


def test_a_learned_table_is_told_from_a_random_one() -> None:
    untrained = place(positions="learned", d_model=320, max_len=200)
    rows = Encoder(untrained.config, 0).embed.position_vectors(128).detach().numpy()
    items = list(show_table(scene(untrained)))
    np.testing.assert_array_equal(heatmap(items).values(untrained), rows[:, :256])
    lengths = np.linalg.norm(rows, axis=1)
    assert f"of these 128 rows is {lengths.mean():.3g}" in heatmap(items).caption
    assert f"position {lengths.argmax()}: {lengths.max():.3g}" in heatmap(items).caption
    assert "nothing is trained yet" in words(items)
    assert "nothing is trained yet" not in words(list(show_table(scene(as_trained(untrained)))))


def test_tables_are_subtracted_where_they_are_as_wide_and_differ() -> None:
    now, doubled = place(), place(positions="sinusoidal-doubled")
    tables = [sinusoids(128, 16, doubled=twice).numpy() for twice in (False, True)]
    drawing = draw_chart(heatmap(list(show_table(scene(now, doubled)))), scene(now, doubled))
    pinned, change = (drawn.figure["data"][0] for drawn in drawing.beside)
    np.testing.assert_array_equal(pinned["z"], tables[1])
    np.testing.assert_allclose(change["z"], tables[0] - tables[1], atol=1e-6)
    assert drawing.now.figure["data"][0]["zmax"] == pinned["zmax"]
    assert f"The largest: {np.abs(tables[0] - tables[1]).max():.3g}." in drawing.beside[1].caption
    for other, told in ((place(d_model=32), "cannot be subtracted"), (place(seed=5), "are the same, number by number")):
        items = list(show_table(scene(now, other)))
        assert not draw_chart(heatmap(items), scene(now, other)).beside
        assert told in words(items)
    bare = place(positions="none", seed=5)
    drawing = draw_chart(heatmap(list(show_table(scene(doubled, bare)))), scene(doubled, bare))
    assert "adds no table: the standard one is drawn" in drawing.beside[0].caption


@pytest.mark.parametrize(
    ("changes", "told", "why"),
    [
        ({"positions": "sinusoidal"}, "Only positions tell", "the order is lost"),
        ({"positions": "learned"}, "Only positions tell", "the order is lost"),
        ({"positions": "none"}, "adds no positions", "the order is lost"),
        ({"is_causal": True}, "causal mask tells", "the causal mask shows"),
        ({"head_merge": "reshape"}, "reshape merge tells", "the reshape merge mixes"),
    ],
    ids=str,
)
def test_two_words_are_swapped_with_positions_and_without(changes: dict[str, Any], told: str, why: str) -> None:
    now = place(**changes)
    items, swap = page(scene(now)), now.swap(1, 4)
    chart, is_seen = bars(items), bool(swap.bare.max() > 0.005 * swap.placed.max())
    shown = chart.bars(now)
    names = ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    if now.config.positions == "none":
        assert shown == {"without positions": dict.fromkeys(names, 0.0)}, "no bars of a table that isn't there"
    else:
        assert shown["with positions"] == dict(zip(names, swap.placed.tolist(), strict=True))
    assert chart.table is not None
    assert chart.table(now)["without positions"].to_dict() == dict(zip(names, swap.bare.tolist(), strict=True))
    assert ("without positions" in shown) == (is_seen or now.config.positions == "none")
    assert is_seen == ("Without positions no bar would be seen" not in chart.reading(now))
    answer = next(item for item in items if isinstance(item, Paragraph))
    assert (answer.kind, told in answer.text, "(Random weights.)" in answer.text) == ("answer", True, True)
    large, small = (f"**{write_number(float(each.max()))}**" for each in (swap.placed, swap.bare))
    bold = {"none": {"**It does not**"}}.get(now.config.positions, {large, small} if is_seen else {large})
    assert set(re.findall(r"\*\*.*?\*\*", answer.text)) == bold
    assert (f"({write_number(float(swap.bare.max()), 1)} is rounding)" in answer.text) is not is_seen
    title = draw_chart(chart, scene(now)).now.figure["layout"]["yaxis"]["title"]
    assert ("with positions" in title["text"]) == (not is_seen and now.config.positions != "none")
    assert "Random" not in words(page(scene(as_trained(now))))
    explained = words(show("swap two words", scene(now)))
    assert describe_swap(now.config, swap, causal=now.is_causal) in explained
    assert why in explained
    (chips,) = (item.data["chips"] for item in items if isinstance(item, Widget))
    assert [chip[0] for chip in chips] == list("aecdbf")
    assert [control.high for control in items if isinstance(control, Control)] == [4, 5]


def test_what_cannot_be_swapped_is_said() -> None:
    for text, options, told in (
        ("abcdef", {"positions_second": 1}, "Choose two different positions"),
        ("abcabc", {}, "they are the same token to this encoder"),
    ):
        items = page(scene(place(text)), **options)
        assert told in words(items)
        moved = bars(items).bars(place(text))
        assert set(moved) == {"with positions"}
        assert set(moved["with positions"].values()) == {0}, "the chart stays where it is"
    items = page(scene(place("a")))
    assert "only one token" in words(items)
    assert not [item for item in items if isinstance(item, Chart)]
    last = bars(page(scene(place("ab")), positions_first=7))
    assert list(last.bars(place("ab"))["with positions"]) == ["a₀", "b₁"]


@pytest.mark.parametrize("is_scaled", [True, False])
def test_what_is_added_is_measured(is_scaled: bool) -> None:
    now = place("abcd", scale_embeddings=is_scaled)
    items = show("this sentence", scene(now))
    ids = characters().encode_batch(["abcd"]).ids
    vectors = Encoder(now.config, 0).state_dict()["embed.tokens.weight"][ids[0]] * (4 if is_scaled else 1)
    table = sinusoids(4, 16)
    for name, expected in (("token", vectors), ("position", table), ("sum", vectors + table)):
        lengths = torch.linalg.vector_norm(expected.double(), dim=-1)
        np.testing.assert_allclose(list(bars(items).bars(now)[name].values()), lengths, rtol=1e-5)
    caption = draw_chart(bars(items), scene(now)).now.caption
    relative = torch.linalg.vector_norm(table, dim=-1) / torch.linalg.vector_norm(vectors, dim=-1)
    assert f"{relative.min():.3g} to {relative.max():.3g} times as long" in caption
    assert ("multiplied by √16 = 4" in caption) is is_scaled
    assert "the vector of segment 0 is added and a norm rescales the sum" in caption
    assert formulas(items)[1] == sum_with_numbers(vectors.numpy(), table.numpy(), 3)


def test_pinned_bars_stand_beside_those_of_the_same_tokens() -> None:
    now, other = place(is_causal=True), place(seed=5, is_causal=True)  # then a swap shows without positions too
    for view, n in ((page, 2), (partial(show, "this sentence"), 3)):
        chart = bars(view(scene(now, other)))
        drawn = draw_chart(chart, scene(now, other)).now
        assert [trace.get("opacity") for trace in drawn.figure["data"]] == [None, 0.5] * n
        assert "In the pinned settings, " in drawn.caption
        unlike = scene(now, place("xyz"), same_tokens=False)
        drawing = draw_chart(bars(view(unlike)), unlike)
        assert (len(drawing.now.figure["data"]), "read other tokens" in drawing.note) == (n, True)


def test_chosen_dimensions_are_curves_with_their_wavelengths() -> None:
    now = place("abcd")
    items = show("curves", scene(now))
    table, waves = sinusoids(128, 16).numpy(), wavelengths(16)
    shown = curves(items).curves(now)
    assert [curve.name for curve in shown] == ["dimension 3", "dimension 8", "dimension 15"]
    for curve, dimension in zip(shown, (3, 8, 15), strict=True):
        np.testing.assert_array_equal(curve.y, table[:, dimension])
    told = f"{waves[1]:.3g} (dimension 3), {waves[4]:,.0f} (dimension 8), {waves[7]:,.0f} (dimension 15)"
    assert told in curves(items).caption
    assert formulas(items)[1].endswith(f"= {table[3, 8]:.4g}")
    narrow = place("abcd", d_model=8)
    assert [curve.name for curve in curves(items).curves(narrow)] == ["dimension 3"]
    assert "no wavelengths" in curves(show("curves", scene(place(positions="learned")))).caption


@pytest.mark.parametrize("measure", ["dot product", "distance"])
def test_positions_are_compared(measure: str) -> None:
    now, table = place(), sinusoids(128, 16).double()
    expected = (table @ table.T if measure == "dot product" else torch.cdist(table, table)).numpy()
    items = show("similarity", scene(now), positions_measure=measure)
    drawn = draw_chart(heatmap(items), scene(now)).now
    np.testing.assert_allclose(drawn.figure["data"][0]["z"], expected, atol=1e-4)
    assert (drawn.figure["data"][0]["zmin"] < 0) == (measure == "dot product")
    assert drawn.cells is not None
    assert drawn.cells.columns == ("key", {i: i for i in range(6)})
    (mean,) = curves(items).curves(now)
    np.testing.assert_allclose(mean.y, expected[0], atol=1e-4)
    assert mean.low is not None
    assert mean.high is not None
    assert float((mean.high - mean.low).max()) < 1e-4, "only the offset counts"
    assert len(formulas(items)) == 1
    assert not formulas(show("similarity", scene(place(positions="learned")), positions_measure=measure))
    odd = scene(place(d_model=15, n_heads=1))
    assert "leaves the last sine" in draw_chart(curves(show("similarity", odd)), odd).now.caption


def test_both_exponents_stand_side_by_side() -> None:
    now = place(max_len=64)
    items = show("doubled exponent", scene(now, place(d_model=32)))
    tables = [sinusoids(64, 16, doubled=doubled).numpy() for doubled in (False, True)]
    for chart, table in zip((item for item in items if isinstance(item, Heatmap)), tables, strict=True):
        np.testing.assert_array_equal(chart.values(now), table)
        assert not draw_chart(chart, scene(now, place(d_model=32))).beside
    waves = [wavelengths(16, doubled=doubled).numpy() for doubled in (False, True)]
    standard, doubled, limit = curves(items).curves(now)
    np.testing.assert_array_equal(standard.y, waves[0])
    np.testing.assert_array_equal(doubled.y, waves[1])
    assert (limit.name, limit.x.tolist(), limit.y.tolist()) == ("max_len = 64", [0, 14], [64, 64])
    caption = curves(items).caption
    assert f"from {waves[0][0]:.3g} to {waves[0][-1]:,.0f} (standard) or {waves[1][-1]:,.0f} (doubled" in caption
    turning = [int((lengths <= 64).sum()) for lengths in waves]
    assert f"Of 8 pairs, {turning[0]} complete a turn" in caption
    assert f"with the doubled exponent {turning[1]} do" in caption
    assert f"differ by up to {np.abs(tables[0] - tables[1]).max():.4g}." in caption
    assert "The pinned settings have d_model 32" in words(items)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("pinned", [None, {"seed": 5}, {"d_model": 32}, {"max_len": 8}], ids=str)
def test_plotly_takes_every_view(view: str, pinned: dict[str, Any] | None) -> None:
    looked_at = scene(place(), None if pinned is None else place(**pinned))
    for item in page(looked_at, positions_table=True, positions_closer=True, positions_view=view):
        if isinstance(item, Chart):
            drawing = draw_chart(item, looked_at)
            for drawn in (drawing.now, *drawing.beside):
                go.Figure(drawn.figure)  # raises where a name or a value is none of Plotly's
                assert drawn.table is None or len(drawn.table())


# --- positions that are told in attention


@pytest.mark.parametrize("kind", ["rotary", "alibi", "relative"])
def test_what_distances_do_to_scores_is_drawn(kind: str) -> None:
    now = place(positions=kind, relative_buckets=8, relative_distance=20)
    items = page(scene(now), positions_table=True)
    (chart,) = (item for item in items if isinstance(item, Chart) and item.key == "distance_curves")
    drawn = draw_chart(chart, scene(now)).now
    assert now.by_distance is not None
    names = [trace["name"] for trace in drawn.figure["data"]]
    assert len(names) == min(4, len(now.by_distance))
    middle = MAX_DISTANCE - 1
    for trace in drawn.figure["data"]:
        row = now.by_distance[int(trace["name"].split()[1])]
        np.testing.assert_allclose(trace["y"], row)
        assert trace["x"][middle] == 0
    at_zero = now.by_distance[:, middle]
    if kind == "rotary":
        assert (at_zero == 1).all()
        assert now.by_distance[0, middle + 1] == pytest.approx(np.cos(1.0))
        assert (np.diff(np.arccos(now.by_distance[:, middle + 1])) < 0).all(), "fast pairs first"
    elif kind == "alibi":
        assert (at_zero == 0).all()
        np.testing.assert_allclose(now.by_distance, now.by_distance[:, ::-1])
    else:
        assert (now.by_distance[:, :10] == now.by_distance[:, :1]).all(), "the farthest range is one"
        assert (now.by_distance[:, middle - 1] != now.by_distance[:, middle + 1]).all(), "sides are told apart"
    told = " ".join(item.text for item in items if isinstance(item, Paragraph))
    assert f"positions = {kind}" in told
    assert "longer than any seen" in told
    assert not [item for item in items if isinstance(item, Heatmap)]


@pytest.mark.parametrize("kind", ["rotary", "alibi", "relative"])
def test_swapped_words_are_noticed_by_distances_alone(kind: str) -> None:
    now = place(positions=kind, relative_buckets=8, relative_distance=20)
    swap = now.swap(1, 4)
    assert swap.ordered
    assert swap.equivariant
    told = " ".join(item.text for item in page(scene(now)) if isinstance(item, Paragraph))
    assert "Only positions tell the order" in told


def test_a_window_tells_the_order_too() -> None:
    now = place(positions="none", window=2)
    assert float(now.swap(1, 4).bare.max()) > 1e-3
    told = " ".join(item.text for item in page(scene(now)) if isinstance(item, Paragraph))
    assert "Only its window tells it the order" in told


def test_beside_a_table_there_are_no_curves_of_distances() -> None:
    now = place(positions="learned")
    assert now.by_distance is not None
    assert now.by_distance.shape == (0, 2 * MAX_DISTANCE - 1)
