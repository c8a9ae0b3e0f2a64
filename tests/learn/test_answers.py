"""Numbers as students type them."""

import pytest

from playground.errors import InputError
from playground.learn.answers import parse_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" .25 ", 0.25),
        ("0,25", 0.25),
        ("1/4", 0.25),
        ("25 %", 0.25),
        ("1/4 %", 0.0025),
        ("−3", -3),
        ("+7.", 7),
        ("22,713,216", 22_713_216),
        ("1,024.5", 1024.5),
        ("1 024", 1024),
        ("3e-4", 3e-4),
        ("2,5/5", 0.5),
    ],
)
def test_ways_to_write_a_number(text: str, number: float) -> None:
    assert parse_number(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "many", "1/0", "1/2/3", "%", "1.2.3", "1,2,3", "nan", "1e999", "0x10", "√2", "50%%", "1" * 5_000 + "x"]
)
def test_what_is_no_number_gets_a_sentence_that_shows_some(text: str) -> None:
    with pytest.raises(InputError, match=r"0\.25, 1/4 and 25 %"):
        parse_number(text)
