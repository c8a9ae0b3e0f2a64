"""The view Positions as a function on values: its tables, curves and bars against torch's own numbers."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.charts.chart import Bars, Chart, Control, Curves, Formula, Heatmap, Item, Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import Focus
from playground.model.positions import sinusoids, wavelengths
from playground.views.positions import (
    MAX_DISTANCE,
    VIEWS,
    distance_rows,
    find_order,
    moved,
    show_positions,
    swap_words,
)
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of

OPTIONS = {"positions_table": True, "positions_closer": True, "positions_view": "swap two words",
           "positions_first": 1, "positions_second": 4, "positions_curve_1": 3, "positions_curve_2": 8,
           "positions_curve_3": 100, "positions_measure": "dot product"}  # fmt: skip
FOCUS = Focus(1, 2, 3, 0)


def lab(text: str = "abcdef", *, seed: int = 0, causal: bool = False, **changes: Any) -> Lab:
    return lab_of(Encoder(ModelConfig(**SMALL | changes), seed), [text], weights="random", causal=causal, seed=seed)


def show(now: Lab, pinned: Lab | None = None, **options: object) -> list[Item]:
    return parts_of(show_positions(Scene(now, FOCUS, pinned, "pinned"), OPTIONS | options))


def chart(items: list[Item], kind: type[Chart[Lab]], key: str = "") -> Any:
    return next(item for item in items if isinstance(item, kind) and key in item.key)


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({}, "positions"),
        ({"positions": "learned"}, "positions"),
        ({"positions": "rotary"}, "positions"),
        ({"positions": "alibi"}, "positions"),
        ({"positions": "none"}, "none"),
        ({"causal": True}, "both"),
        ({"head_merge": "reshape"}, "both"),
        ({"positions": "none", "window": 2}, "part"),
    ],
    ids=str,
)
def test_two_words_are_swapped_with_positions_and_without(changes: dict[str, Any], case: str) -> None:
    now = lab(**changes)
    swap, (found, numbers) = swap_words(now, 1, 4), find_order(now, 1, 4)
    assert found == case
    is_seen = case in ("both", "part")
    assert swap.bare.max() > 1e-3 if is_seen else swap.bare.max() < 1e-9
    expected = {"with positions": swap.placed, "without positions": swap.bare * is_seen}
    if case in ("none", "part"):
        del expected["with positions"]
    assert moved(now, 1, 4).keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(moved(now, 1, 4)[name], values)
    if "placed" in numbers:
        assert (numbers["placed"], numbers["size"]) == (swap.placed.max(), swap.placed_size)
    if is_seen:
        part = "mask" if "causal" in changes else "window" if "window" in changes else "reshape"
        assert (numbers["bare"], numbers["part"]) == (swap.bare.max(), part)
    items = show(now)
    shown = chart(items, Bars).bars(now)
    assert list(next(iter(shown.values()))) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    assert ("without positions" in shown) == (is_seen or case == "none")
    assert next(item for item in items if isinstance(item, Paragraph)).kind == "answer"
    assert [control.high for control in items if isinstance(control, Control)][:2] == [4, 5]


def test_what_cannot_be_swapped_has_a_case_of_its_own() -> None:
    assert find_order(lab(), 4, 4)[0] == "same"
    assert find_order(lab("abcabc"), 1, 4)[0] == "equal"
    assert find_order(lab("abc", positions="alibi"), 0, 2)[0] == "unseen", "both are as far from the middle as before"
    assert not [item for item in show(lab("a")) if isinstance(item, Bars)]
    assert list(chart(show(lab("ab"), positions_first=7), Bars).bars(lab("ab"))["with positions"]) == ["a₀", "b₁"]


@pytest.mark.parametrize(("kind", "d_model"), [("sinusoidal", 15), ("sinusoidal-doubled", 16), ("none", 16)])
def test_sinusoids_are_drawn(kind: str, d_model: int) -> None:
    now = lab(positions=kind, d_model=d_model, n_heads=1, max_len=32)
    heatmap = chart(show(now), Heatmap, "position_table")
    np.testing.assert_array_equal(heatmap.values(now), sinusoids(32, d_model, doubled=kind == "sinusoidal-doubled"))
    assert f"{d_model} of {d_model} dimensions" in heatmap.caption


def test_tables_are_subtracted_where_they_are_as_wide() -> None:
    now, doubled = lab(), lab(positions="sinusoidal-doubled")
    scene = Scene(now, FOCUS, doubled)
    pinned, change = draw_chart(chart(show(now, doubled), Heatmap, "position_table"), scene).beside
    tables = [sinusoids(128, 16, doubled=twice).numpy() for twice in (False, True)]
    np.testing.assert_array_equal(pinned.figure["data"][0]["z"], tables[1])
    np.testing.assert_allclose(change.figure["data"][0]["z"], tables[0] - tables[1], atol=1e-6)
    for other in (lab(d_model=32), lab(positions="none")):
        assert not chart(show(now, other), Heatmap, "position_table").compares


@pytest.mark.parametrize("is_scaled", [True, False])
def test_what_is_added_is_a_formula_with_its_numbers(is_scaled: bool) -> None:
    now = lab("abcd", scale_embeddings=is_scaled)
    *_, symbols, numbers = (
        item.latex for item in show(now, positions_view="this sentence") if isinstance(item, Formula)
    )
    assert (r"\sqrt{D}" in symbols) is is_scaled
    vector = now.encoder.state_dict()["embed.tokens.weight"][now.batch.ids[0, 3], 0] * (4 if is_scaled else 1)
    assert numbers.startswith(rf"x_{{3,\,0}} = {float(vector):.4g} + {float(sinusoids(4, 16)[3, 0]):.4g} = ")


def test_chosen_dimensions_are_curves() -> None:
    now = lab("abcd")
    drawn = chart(show(now, positions_view="curves"), Curves)
    for curve, dimension in zip(drawn.curves(now), (3, 8, 15), strict=True):
        assert curve.name == f"dimension {dimension}"
        np.testing.assert_array_equal(curve.y, sinusoids(128, 16)[:, dimension])
    assert f"{wavelengths(16)[4]:,.0f}"[:2] in drawn.caption
    assert [curve.name for curve in drawn.curves(lab(d_model=8))] == ["dimension 3"]


@pytest.mark.parametrize("measure", ["dot product", "distance"])
def test_positions_are_compared(measure: str) -> None:
    now, table = lab(), sinusoids(128, 16).double()
    expected = (table @ table.T if measure == "dot product" else torch.cdist(table, table)).numpy()
    heatmap = chart(show(now, positions_view="similarity", positions_measure=measure), Heatmap, "between")
    np.testing.assert_allclose(heatmap.values(now), expected, atol=1e-4)


def test_wavelengths_of_both_exponents_are_curves() -> None:
    now = lab(max_len=64)
    drawn = chart(show(now, positions_view="doubled exponent"), Curves)
    waves = [wavelengths(16, doubled=doubled).numpy() for doubled in (False, True)]
    *both, limit = drawn.curves(now)
    for curve, expected in zip(both, waves, strict=True):
        np.testing.assert_array_equal(curve.y, expected)
    assert (limit.x.tolist(), limit.y.tolist()) == ([0, 14], [64, 64])
    turning = [int((lengths <= 64).sum()) for lengths in waves]
    assert f"Of 8 pairs, {turning[0]} complete" in drawn.caption
    assert f"exponent {turning[1]} do" in drawn.caption


@pytest.mark.parametrize("kind", ["rotary", "alibi", "relative"])
def test_what_distances_do_to_scores_is_drawn(kind: str) -> None:
    now = lab(positions=kind, relative_buckets=8, relative_distance=20)
    drawn, rows, middle = chart(show(now), Curves, "distance_curves").curves(now), distance_rows(now), MAX_DISTANCE - 1
    assert len(drawn) == min(4, len(rows))
    for curve in drawn:
        np.testing.assert_array_equal(curve.y, rows[int(curve.name.split()[1])])
        assert curve.x[middle] == 0
    if kind == "rotary":
        assert (rows[:, middle] == 1).all()
        assert rows[0, middle + 1] == pytest.approx(np.cos(1.0))
        assert (np.diff(np.arccos(rows[:, middle + 1])) < 0).all(), "fast pairs first"
    elif kind == "alibi":
        assert (rows[:, middle] == 0).all()
        np.testing.assert_allclose(rows, rows[:, ::-1])
    else:
        assert (rows[:, :10] == rows[:, :1]).all(), "the farthest range is one"
        assert (rows[:, middle - 1] != rows[:, middle + 1]).all(), "sides are told apart"
    assert not [item for item in show(now) if isinstance(item, Heatmap)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("pinned", [None, {"seed": 5}, {"d_model": 32}, {"max_len": 8}], ids=str)
def test_plotly_takes_every_view(view: str, pinned: dict[str, Any] | None) -> None:
    now, other = lab(), None if pinned is None else lab(**pinned)
    for item in show(now, other, positions_view=view):
        if isinstance(item, Chart):
            drawing = draw_chart(item, Scene(now, FOCUS, other, "pinned"))
            for drawn in (drawing.now, *drawing.beside):
                go.Figure(drawn.figure)  # raises where a name or a value is none of Plotly's
                assert drawn.table is None or len(drawn.table())
