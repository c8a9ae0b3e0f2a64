"""A finger on a phone."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor

HEADS = [(4, 6), (1, 2), (5, 9), (0, 0), (2, 11), (3, 3)]


@pytest.mark.parametrize(("slower", "heads"), [(1, HEADS), (6, HEADS[:3])])
def test_a_tap_opens_the_thumbnail_under_the_finger(slower: int, heads: list[tuple[int, int]], phone: Visitor) -> None:
    """`slower`: how many times slower the phone is than this machine."""
    phone.open("/attention")
    phone.page.context.new_cdp_session(phone.page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    for layer, head in heads:
        phone.tap_head(layer, head)
        expect(phone.slider("attention_layer")).to_have_value(str(layer))
        expect(phone.slider("attention_head")).to_have_value(str(head))
        phone.settled()


def test_of_two_taps_the_second_counts_also_on_the_same_thumbnail(phone: Visitor) -> None:
    phone.open("/attention")
    phone.tap_head(5, 9)
    phone.tap_head(0, 4)
    expect(phone.slider("attention_layer")).to_have_value("0")
    expect(phone.slider("attention_head")).to_have_value("4")
    first = phone.settled().array("attention_pattern", name="customdata")
    phone.tap_head(0, 4)
    phone.tap_head(0, 4)
    assert phone.settled().query() == {"attention_layer": ["0"], "attention_head": ["4"]}
    np.testing.assert_array_equal(phone.array("attention_pattern", name="customdata"), first)
