"""The view Positions as a function on values: its tables, curves and bars against torch's own numbers."""

from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.charts.chart import Bars, Chart, Control, Curves, Heatmap, Item
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import Focus
from playground.model.positions import sinusoids, wavelengths
from playground.views.positions import MAX_DISTANCE, distance_rows, find_order, moved, show_positions, swap_words
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of

OPTIONS = {"positions_table": True, "positions_closer": True, "positions_view": "similarity",
           "positions_first": 1, "positions_second": 4}  # fmt: skip
FOCUS = Focus(1, 2, 3, 0)


def lab(text: str = "abcdef", *, seed: int = 0, causal: bool = False, **changes: Any) -> Lab:
    return lab_of(Encoder(ModelConfig(**SMALL | changes), seed), [text], weights="random", causal=causal, seed=seed)


def show(now: Lab, pinned: Lab | None = None, **options: object) -> list[Item]:
    return parts_of(show_positions(Scene(now, FOCUS, pinned, "pinned"), OPTIONS | options))


def chart(items: list[Item], kind: type[Chart[Lab]], key: str = "") -> Any:
    return next(item for item in items if isinstance(item, kind) and key in item.key)


@pytest.mark.parametrize(
    ("changes", "case", "part"),
    [
        ({}, "placed", "none"),
        ({"positions": "rotary"}, "placed", "none"),
        ({"positions": "alibi"}, "placed", "none"),
        ({"positions": "none"}, "bare", "none"),
        ({"causal": True}, "placed", "mask"),
        ({"head_merge": "reshape"}, "placed", "reshape"),
        ({"positions": "none", "window": 2}, "bare", "window"),
    ],
    ids=str,
)
def test_two_words_are_swapped_with_positions_and_without(changes: dict[str, Any], case: str, part: str) -> None:
    now = lab(**changes)
    swap, (found, numbers) = swap_words(now, 1, 4), find_order(now, 1, 4)
    assert (found, numbers["part"]) == (case, part)
    assert swap.bare.max() > 1e-3 if part != "none" else swap.bare.max() < 1e-9
    expected = {"without positions": swap.bare * (part != "none")}
    if case == "placed":
        expected["with positions"] = swap.placed
        assert (numbers["placed"], numbers["size"]) == (swap.placed.max(), swap.placed_size)
    assert numbers["bare"] == expected["without positions"].max()
    shown = chart(items := show(now), Bars).bars(now)
    assert shown.keys() == {name for name, values in expected.items() if values.any()} or case == "bare"
    for name in shown:
        assert list(shown[name].values()) == moved(now, 1, 4)[name].tolist() == expected[name].tolist()
        assert list(shown[name]) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    assert [control.high for control in items if isinstance(control, Control)][:2] == [4, 5]


def test_what_cannot_be_swapped_is_said() -> None:
    assert find_order(lab(), 4, 4)[0] == find_order(lab("abcabc"), 1, 4)[0] == "same"
    assert not [item for item in show(lab("a")) if isinstance(item, Bars)]
    assert list(chart(show(lab("ab"), positions_first=7), Bars).bars(lab("ab"))["with positions"]) == ["a₀", "b₁"]


@pytest.mark.parametrize(("kind", "d_model"), [("sinusoidal", 15), ("sinusoidal-doubled", 16), ("none", 16)])
def test_sinusoids_are_drawn(kind: str, d_model: int) -> None:
    now = lab(positions=kind, d_model=d_model, n_heads=1, max_len=32)
    heatmap = chart(show(now), Heatmap, "position_table")
    np.testing.assert_array_equal(heatmap.values(now), sinusoids(32, d_model, doubled=kind == "sinusoidal-doubled"))


def test_tables_of_two_kinds_are_subtracted() -> None:
    now, doubled = lab(), lab(positions="sinusoidal-doubled")
    pinned, change = draw_chart(chart(show(now, doubled), Heatmap, "position_table"), Scene(now, FOCUS, doubled)).beside
    tables = [sinusoids(128, 16, doubled=twice).numpy() for twice in (False, True)]
    np.testing.assert_array_equal(pinned.figure["data"][0]["z"], tables[1])
    np.testing.assert_allclose(change.figure["data"][0]["z"], tables[0] - tables[1], atol=1e-6)
    assert not chart(show(now, lab(positions="none")), Heatmap, "position_table").compares


def test_positions_are_compared_and_wavelengths_of_both_exponents_are_curves() -> None:
    now, table = lab(max_len=64), sinusoids(64, 16).double().numpy()
    np.testing.assert_allclose(chart(show(now), Heatmap, "between").values(now), table @ table.T, atol=1e-4)
    drawn = chart(show(now, positions_view="doubled exponent"), Curves)
    waves = [wavelengths(16, doubled=doubled).numpy() for doubled in (False, True)]
    for curve, expected in zip(drawn.curves(now), waves, strict=True):
        np.testing.assert_array_equal(curve.y, expected)
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
