"""Counts as people read them."""

from collections.abc import Callable

import pytest

from playground import ModelConfig, count_parameters
from playground.accounting import count_flops
from playground.accounting.readable import breakdown_table, duration, in_millions, in_units, substitute, times
from playground.presets import PRESETS

CONFIG = ModelConfig(vocab_size=30_522, d_model=384, n_heads=12, n_layers=3, d_ff=1_536)


@pytest.mark.parametrize(
    ("formula", "numbers"),
    [
        ("d_model² + d_model", "384² + 384"),
        ("2 · B · T² · d_model", "2 · 1 · 19² · 384"),
        ("(4 weights + 4 moments) · N", "(4 weights + 4 moments) · 1,000,000"),
    ],
)
def test_numbers_take_the_place_of_names(formula: str, numbers: str) -> None:
    assert substitute(formula, CONFIG, B=1, T=19, N=1_000_000) == numbers


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (
            lambda number: in_units(number, "B"),
            {0: "0 B", 999: "999 B", 999.6: "1 kB", 1_000: "1 kB", 90_261_504: "90.3 MB", 999_960_000: "1 GB",
             2.79e12: "2.79 TB", 1.5e18: "1.5e+03 PB"},
        ),
        (in_millions, {0: "0", 512: "512", 22_713_216: "22.7 M", 174_604_259_328: "175 B", 3_280: "3.28 k"}),
        (
            times,
            {1: "1 ×", 0.2072: "0.21 ×", 9.94: "9.9 ×", 7_738.4: "7,738 ×", 1 / 7_738: "1/7,738 ×", 0.01: "0.01 ×"},
        ),
        (duration, {0.2: "1 s", 8: "8 s", 89: "89 s", 90: "2 min", 180: "3 min", 5_399: "90 min", 5_400: "1.5 h"}),
    ],
    ids=["units", "millions and billions", "ratios", "times to wait"],
)  # fmt: skip
def test_numbers_as_people_read_them(write: Callable[[float], str], texts: dict[float, str]) -> None:
    assert {number: write(number) for number in texts} == texts


@pytest.mark.parametrize("name", ["minilm-l6", "tutorial-c", "modernbert-base", "t5-base"])
def test_table_rows_add_up_and_multiply_out(name: str) -> None:
    config = PRESETS[name].config
    for count in (count_parameters(config), count_flops(config, 5)):
        table = breakdown_table(count, config, B=1, T=5)
        assert table["total"].sum() == count.total
        assert (table["each"] * table["times"] == table["total"]).all()
        assert table["share, %"].sum() == pytest.approx(100)
        assert list(table["part"]) == list(count.by(lambda term: term.part))
        assert list(table["total"]) == list(count.by(lambda term: term.part).values())
