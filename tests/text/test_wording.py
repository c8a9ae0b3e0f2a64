"""Lists and quotations in sentences."""

import pytest

from playground.text.wording import join_words, quote_text, quote_word, write_amount, write_number
from tests.written_numbers import read_number


@pytest.mark.parametrize(
    ("words", "joined"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_joined_as_a_sentence_lists_them(words: list[str], joined: str) -> None:
    assert join_words(words) == joined


def test_a_quoted_text_is_short_and_plain() -> None:
    assert quote_text("my model.safetensors") == "“my model.safetensors”"
    assert quote_text("`*<![](x)" + "y" * 100) == "“x" + "y" * 51 + "…”"
    assert quote_text("[click](http://x) <b> `$x$`", longest=9) == "“clickh…”"


@pytest.mark.parametrize(
    ("word", "quoted"),
    [("!", "“!”"), ("<b>", "“<b>”"), ("a\u202eb\x00\n", "“ab”"), ("\ud800", "“”"), ("x" * 61, f"“{'x' * 60}…”")],
)
def test_a_word_is_quoted_with_all_that_can_be_seen(word: str, quoted: str) -> None:
    assert quote_word(word) == quoted


@pytest.mark.parametrize(
    ("x", "sign", "written"),
    [(1.5, "", "1.50"), (1.5, "+", "+1.50"), (-0.004, "+", "-0.00"), (2.067e8, "+", "+2.07e+08"), (-1e5, "", "-1e+05")],
)
def test_an_amount_is_as_short_as_it_can_be_read(x: float, sign: str, written: str) -> None:
    assert write_amount(x, sign) == written


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
