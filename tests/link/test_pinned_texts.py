"""The pinned settings in a link's texts."""

from typing import Any

import pytest
from hypothesis import given

from playground.limits import MAX_CHARACTERS
from playground.link.link_values import MARKER, PINNED_KEYS, pinned_texts, read_pinned
from playground.link.params import SHARED
from tests.link.test_link_values import JUNK, inside, values_of_the_sidebar

NOW: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


@given(pinned=values_of_the_sidebar(), now=values_of_the_sidebar())
def test_whatever_is_pinned_is_read_back(pinned: dict[str, Any], now: dict[str, Any]) -> None:
    texts = pinned_texts(pinned, now)
    different = {key for key in SHARED if pinned[key] != now[key]}
    assert texts.keys() == ({f"b_{key}" for key in different} or {MARKER})
    assert read_pinned(texts, now) == (pinned, different, [])


@pytest.mark.parametrize("texts", [{}, {MARKER: ["false"]}, {"b": ["1"], "b_": ["1"], "b_junk": ["1"]}])
def test_a_link_without_pinned_parameters_pins_nothing(texts: dict[str, list[str]]) -> None:
    assert read_pinned(texts, NOW) == (None, set(), [])


@pytest.mark.parametrize("junk", JUNK, ids=lambda text: repr(text[:12]))
def test_junk_becomes_a_value_with_a_sentence_for_each_parameter(junk: str) -> None:
    texts = {key: [junk] for key in (MARKER, *PINNED_KEYS)}
    read, keys, complaints = read_pinned(texts, NOW)
    assert read is not None
    assert keys == set(SHARED)
    assert all(inside(SHARED[key], read[key]) for key in SHARED)
    told = [complaint for complaint in complaints if complaint.startswith("The link's b_")]
    assert len(told) == len(SHARED) - 2, "every text is one, and of changes none may be there"
    assert complaints[0].startswith(f"The link's {MARKER}=")


def test_a_pinned_text_that_is_too_long_is_told_apart_from_the_present_one() -> None:
    read, _, (complaint,) = read_pinned({"b_text": ["a" * 5000]}, NOW)
    assert read is not None
    assert len(read["text"]) == MAX_CHARACTERS
    assert complaint.startswith("In the pinned settings: The text has 5,000 characters")
