"""Bars of an explanation: they add up, say their numbers, and mark the chosen key."""

import numpy as np
import pytest

from playground.charts import bars as figures
from playground.charts import palette


def test_contributions_keep_their_order_and_add_up_however_many_there_are() -> None:
    generator = np.random.default_rng(0)
    for n in (1, 5, figures.MOST_BARS - 1, figures.MOST_BARS, figures.MOST_BARS + 1, 60):
        amounts = generator.standard_normal(n)
        names = [f"layer {i} attention" for i in range(n)]
        bars = figures.contributions(names, ["attention"] * n, amounts, title="part")
        assert sum(bars.values) == pytest.approx(amounts.sum(), abs=1e-5)
        assert len(bars.values) == min(n, figures.MOST_BARS)
        assert (bars.labels[-1] in names) == (n <= figures.MOST_BARS), "no bar stands for one other alone"
        drawn = [name for name in bars.labels if name in names]
        assert drawn == [name for name in names if name in drawn]
        assert set(bars.colours[: len(drawn)]) == {palette.ATTENTION}
        if n > figures.MOST_BARS:
            assert bars.labels[-1] == f"{n - figures.MOST_BARS + 1} others"
            others = [abs(amount) for name, amount in zip(names, amounts, strict=True) if name not in drawn]
            assert max(others) <= min(map(abs, bars.values[:-1]))


def test_numbers_are_written_with_their_signs_and_lengths_without() -> None:
    amounts = np.array([1.0, -0.25, np.nan])
    names = ["token", "position", "bias"]
    assert figures.contributions(names, names, amounts, title="part").texts == ["+1.00", "−0.25", "–"]
    assert figures.contributions(names, names, amounts, title="length", signed=False).texts == ["1.00", "−0.25", "–"]


def test_the_chosen_key_stands_out_and_is_always_drawn() -> None:
    weights = np.linspace(1, 0, 30)
    shown = figures.strongest(weights, 29)
    assert shown.tolist() == [*range(figures.MOST_BARS - 1), 29]
    assert figures.strongest(weights, 3).tolist() == list(range(figures.MOST_BARS))
    assert figures.strongest(np.array([0.2, np.nan]), 1).tolist() == [0, 1]
    assert figures.highlight(3, 1) == [palette.ATTENTION, palette.K, palette.ATTENTION]
