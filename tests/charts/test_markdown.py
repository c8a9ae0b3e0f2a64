"""Whatever a token holds, its quotation is one line of code."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.charts.markdown import quote_place, quote_token


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("**$x$", "`**$x$`"),
        ("``a", "`ˋˋa`"),
        ("", "` `"),
        ("a\r\n\tb", "`a b`"),
        ("a\u202eb\u2066", "`a b `"),
        ("x" * 30, f"`{'x' * 17}…`"),
    ],
)
def test_a_token_is_quoted_as_code(token: str, shown: str) -> None:
    assert quote_token(token) == shown


@given(st.text() | st.text(alphabet="`$*_\n ", max_size=40))
def test_nothing_gets_out_of_the_quotation(token: str) -> None:
    shown = quote_token(token)
    assert re.fullmatch("`[^`\n\r]{1,18}`", shown)
    assert len(shown.splitlines()) == 1


def test_a_place_is_its_token_with_its_position() -> None:
    assert quote_place(["it", "`it`"], 1) == "`ˋitˋ`₁"
    assert quote_place(["x" * 30] * 13, 12) == f"`{'x' * 17}…`₁₂"
