"""Bars of an explanation: they add up, say their numbers, and mark the chosen key."""

import numpy as np
import pytest

from playground.figures import attribution as figures
from playground.figures import palette


def test_contributions_keep_their_order_and_add_up_however_many_there_are() -> None:
    generator = np.random.default_rng(0)
    for n in (1, 5, figures.MOST_BARS - 1, figures.MOST_BARS, 60):
        amounts = generator.standard_normal(n)
        names = [f"layer {i} attention" for i in range(n)]
        figure = figures.contributions(names, ["attention"] * n, amounts, title="part", source="at the key")
        (bars,) = figure.data
        assert bars.x.sum() == pytest.approx(amounts.sum(), abs=1e-5)
        assert len(bars.x) <= figures.MOST_BARS
        drawn = [name for name in bars.y if name in names]
        assert drawn == [name for name in names if name in drawn]
        assert set(bars.marker.color[: len(drawn)]) == {palette.ATTENTION}
        if n > figures.MOST_BARS:
            assert bars.y[-1] == f"{n - figures.MOST_BARS + 1} others"
            others = [abs(amount) for name, amount in zip(names, amounts, strict=True) if name not in drawn]
            assert max(others) <= np.abs(bars.x[:-1]).min() + 1e-6


@pytest.mark.parametrize("amounts", [[1.0, -2.0], [1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [np.nan, 1.0]])
def test_the_axis_has_room_for_the_numbers_at_the_ends(amounts: list[float]) -> None:
    figure = figures.contributions(["token", "bias"], ["token", "bias"], np.array(amounts), title="part", source="key")
    if np.isfinite(amounts).all() and any(amounts):
        low, high = figure.layout.xaxis.range
        assert low < min(amounts) if min(amounts) < 0 else low == 0
        assert high > max(amounts) if max(amounts) > 0 else high == 0
    else:
        assert figure.layout.xaxis.range is None
    assert [text[0] for text in figure.data[0].text if text != "+nan"] == [
        "-" if x < 0 else "+" for x in amounts if x == x
    ]


def test_a_running_sum_ends_at_the_score() -> None:
    products = np.array([3.0, -2.0, 0.5])
    bars, curve = figures.running_sum(np.array([4, 0, 2]), products, products.cumsum()).data
    assert bars.y.tolist() == products.tolist()
    assert bars.customdata.tolist() == [4, 0, 2]
    assert curve.y.tolist() == [3.0, 1.0, 1.5]
    assert (bars.marker.color, curve.line.color) == (palette.Q, palette.K)


def test_the_chosen_key_stands_out_and_is_always_drawn() -> None:
    weights = np.linspace(1, 0, 30)
    shown = figures.strongest(weights, 29)
    assert shown.tolist() == [*range(figures.MOST_BARS - 1), 29]
    assert figures.strongest(weights, 3).tolist() == list(range(figures.MOST_BARS))
    assert figures.strongest(np.array([0.2, np.nan]), 1).tolist() == [0, 1]
    (bars,) = figures.competition(["a", "b"], weights[:2], ["1.0", "0.9"], 1).data
    assert list(bars.marker.color) == [palette.ATTENTION, palette.K]
    assert list(bars.text) == ["1.0", "0.9"]
    (shares,) = figures.head_shares(["a", "b"], np.array([0.9, -0.1]), 0).data
    assert list(shares.marker.color) == [palette.K, palette.ATTENTION]


def test_no_tick_stands_beyond_the_largest_weight() -> None:
    axis = figures.competition(["a", "b"], np.array([0.62, 0.38]), ["", ""], 0).layout.xaxis
    assert axis.tickvals == pytest.approx((0, 0.31, 0.62))
    assert axis.range[1] > 0.62
