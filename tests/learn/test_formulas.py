"""Formulas: what they come to, and that nothing else than a formula is computed."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InputError
from playground.learn import formulas
from playground.learn.formulas import check_formula, list_computed
from playground.link import open_link

LINK = "https://host/attention?weights=random&d_model=32&n_heads=4&n_layers=2&text=a+b+c&tokenizer=word"
NOW = open_link(LINK)
VIEWS = {"now": NOW, "other": open_link(f"{LINK}&d_ff=64")}


def compute(text: str) -> object:
    return formulas.compute(check_formula(text), VIEWS, {"answer": 3.0, "row_name": "b"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 8 / 4", 5), ("2 ** 3", 8), ("sqrt(16) + abs(-2) + min(1, 2) + max(1, 2)", 9),
        ("config[d_model] / config[n_heads]", 8), ("config['d_model'] == 32 and not 1 > 2", True),
        ("1 < 2 < 3 or 1 / 0", True), ("answer == 3", True), ("row_name == 'b'", True),
        ("near(answer, 3.0000001)", True), ("near(answer, 3.1)", False),
        ("pattern[1,3,b,c]", NOW.run.pattern(1)[3, 1, 2]), ("pattern[1,3,1,2] == pattern[-1,-1,B,-1]", True),
        ("other.config[d_ff]", 64),
    ],
)  # fmt: skip
def test_what_a_formula_comes_to(text: str, expected: object) -> None:
    assert compute(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "x if 1 else 2", "__import__('os').system('true')", "().__class__", "f'{answer}'", "'a' * 10 ** 9",
        "('a' + 'b')", "10 ** 10 ** 10", "1 / 0", "nothing", "pattern[9,0]", "pattern[0,0,zebra]", "pattern[[0], 0]",
        "pattern[0,0,a] * 2", "(" * 200 + "1" + ")" * 200 + "+", "a" + ".a" * 190, "1" * 401, "1\x00",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_one_sentence_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(InputError) as error:
        compute(text)
    assert str(error.value).endswith(".")
    assert time.process_time() - start < 1


@given(st.text(alphabet="ab01.*/+-()[],'<>= pn", max_size=40))
def test_any_text_is_a_number_or_a_sentence(text: str) -> None:
    with suppress(InputError):
        compute(text)


def test_numbers_in_a_text_have_a_format() -> None:
    text = "{= 1/3} {= config[norm]} {= pattern[0,0,b,c] | .1%}"
    assert list_computed(text) == ["1/3", "config[norm]", "pattern[0,0,b,c]"]
    expected = f"0.3333 layer {NOW.run.pattern(0)[0, 1, 2]:.1%}"
    assert formulas.fill_numbers(text, compute) == expected
    for written in ("zz", "999999999f", "q"):
        with pytest.raises(InputError, match="with a format"):
            list_computed(f"{{= 1 | {written}}}")
