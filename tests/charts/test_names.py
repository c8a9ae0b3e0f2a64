"""Labels that cannot be mistaken for markup, and what every figure shares."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.accounting import LABELS
from playground.charts import palette
from playground.charts.names import label, token_labels, token_names


@pytest.mark.parametrize(
    ("text", "shown"),
    [("&amp;", "&amp;amp;"), ('"it\'s"', '"it\'s"'), ("a" * 18, "a" * 18), ("<" * 19, "&lt;" * 17 + "…")],
)
def test_a_label_is_read_letter_by_letter(text: str, shown: str) -> None:
    assert label(text) == shown


@pytest.mark.long
@given(st.text())
def test_no_label_holds_a_tag_or_a_broken_entity(text: str) -> None:
    shown = label(text)
    assert not set("<>") & set(shown)
    assert len(html.unescape(shown)) <= 18
    assert re.sub("&(amp|lt|gt);", "", shown).count("&") == 0


@given(st.lists(st.sampled_from(["it", "it₁", "1", "", "<b>", "[PAD]"]), max_size=300))
def test_token_labels_are_unique_and_end_in_the_position(tokens: list[str]) -> None:
    labels = token_labels(tokens)
    assert len(labels) == len(tokens)
    digits = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
    for i, (token, shown) in enumerate(zip(tokens, labels, strict=True)):
        assert shown.startswith(label(token))
        assert shown.removeprefix(label(token)).translate(digits) == str(i)


@pytest.mark.parametrize("word", ["שלום", "مرحبا", "a שלום"])
def test_a_name_from_right_to_left_ends_before_its_position(word: str) -> None:
    assert token_names(["it", word]) == ["it₀", f"\u2068{word}\u2069₁"]


def test_every_part_has_a_colour_and_a_name_of_its_own() -> None:
    assert palette.COMPONENTS.keys() == LABELS.keys()
    assert len({palette.Q, palette.K, palette.V, *palette.COMPONENTS.values()}) == 3 + len(palette.COMPONENTS)
