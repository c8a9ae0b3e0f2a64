"""Numbers in formulas are short, right, and never run into each other."""

import numpy as np
import pytest

from playground.text.wording import factor, number, sum_of_products


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.123456, "0.1235"),
        (-2, "-2"),
        (1.25e-7, r"1.25 \cdot 10^{-7}"),
        (-3e12, r"-3 \cdot 10^{12}"),
        (1e-5, "10^{-5}"),
        (-1e-5, r"-1 \cdot 10^{-5}"),
        (0, "0"),
        (np.float32(np.inf), r"\infty"),
        (-np.inf, r"-\infty"),
        (np.nan, r"\mathrm{NaN}"),
    ],
)
def test_a_number_has_four_digits(x: float, text: str) -> None:
    assert number(x) == text


def test_factors_stand_in_parentheses_and_a_short_sum_in_one_line() -> None:
    assert [factor(x, 3) for x in (-0.5, -np.inf, 1.23456)] == ["(-0.5)", r"(-\infty)", "1.23"]
    line = sum_of_products("y", np.array([1.0, 2]), np.array([3.0, 4]), 10, -1)
    assert line == r"y = 1 \cdot 3 + 2 \cdot 4 + (-1) = 10"


def test_of_a_long_sum_the_first_products_are_shown() -> None:
    line = sum_of_products("y", np.arange(5.0), np.arange(5.0), 30, 0)
    assert line == r"\begin{aligned} y &= 0 \cdot 0 + 1 \cdot 1 \\ &\quad + \dots + 0 = 30 \end{aligned}"
    assert sum_of_products("y", np.arange(3.0), np.arange(3.0), 5).endswith(r"+ \dots = 5 \end{aligned}")
