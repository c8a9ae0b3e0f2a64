"""Lists and quotations in sentences."""

import numpy as np
import pytest

from playground.text.wording import quote_text, round_parts, write_amount, write_number
from tests.written_numbers import read_number


def test_a_quoted_text_is_short_and_plain() -> None:
    assert quote_text("my model.safetensors") == "“my model.safetensors”"
    assert quote_text("`*<![](x)" + "y" * 100) == "“x" + "y" * 51 + "…”"
    assert quote_text("[click](http://x) <b> `$x$`", longest=9) == "“clickh…”"


@pytest.mark.parametrize(
    ("x", "sign", "written"),
    [
        (1.5, "", "1.50"),
        (1.5, "+", "+1.50"),
        (-0.62, "", "−0.62"),
        (-0.004, "+", "0.00"),
        (2.067e8, "+", "+2.07e+08"),
        (-1e5, "", "−1e+05"),
    ],
)
def test_an_amount_is_as_short_as_it_can_be_read(x: float, sign: str, written: str) -> None:
    assert write_amount(x, sign) == written


@pytest.mark.parametrize(
    ("parts", "total"),
    [((3.864, -3.366), 0.498), ((-0.744, -0.052, 0.972, 2.234, 0.184), 2.594), ((0.333,) * 3, 1.0), ((), 0.0)],
)
def test_rounded_parts_add_up_and_none_is_moved_by_more_than_a_digit(parts: tuple[float, ...], total: float) -> None:
    rounded = round_parts(parts, total)
    assert sum(rounded) == pytest.approx(round(total, 2), abs=1e-9)
    np.testing.assert_allclose(rounded, parts, atol=0.01)


@pytest.mark.parametrize(
    ("x", "written"),
    [
        (0.36, "0.36"), (804.2, "804"), (18_432.0, "18,400"), (-2.051e-5, "−2.05 × 10⁻⁵"), (1e6, "10⁶"), (0.0, "0"),
        (float("nan"), "NaN"), (float("inf"), "∞"), (float("-inf"), "−∞"),
    ],
)  # fmt: skip
def test_a_small_or_large_number_has_a_power_of_ten(x: float, written: str) -> None:
    assert write_number(x).replace("\u00a0", " ") == written
    assert x != x or read_number(written.replace("∞", "inf")) == pytest.approx(x, rel=1e-2)
