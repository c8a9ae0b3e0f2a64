"""Before against after in a browser: pin, change, read both, and send the comparison to a classmate."""

import numpy as np
from playwright.sync_api import expect

from playground.link.query import VERSION
from tests.browser.visitor import Visitor


def test_what_is_pinned_stays_while_a_slider_moves_and_a_classmate_sees_both(
    visitor: Visitor, classmate: Visitor
) -> None:
    visitor.open("/norms?weights=random&seed=3")
    before = visitor.array("norms_by_layer", 1, "y")
    visitor.widget("pin").get_by_role("button").click()
    expect(visitor.widget("unpin")).to_be_visible()
    assert visitor.settled().query()["pinned"] == ["true"]

    visitor.press("n_layers", "ArrowRight", "ArrowRight")
    visitor.eventually(lambda: visitor.query().get("b_n_layers") == ["6"], "the pinned layers in the link")
    visitor.settled()
    assert visitor.query() == {"weights": ["random"], "seed": ["3"], "n_layers": ["8"], "b_n_layers": ["6"]}
    assert len(visitor.array("norms_by_layer", 1, "y")) == 9
    traces = visitor.charts()["norms_by_layer"]
    ghost = next(i for i, trace in enumerate(traces) if trace["line"].get("dash") == "dot")
    np.testing.assert_array_equal(visitor.array("norms_by_layer", ghost, "y"), before)
    expect(visitor.widget("pin_line")).to_contain_text("pinned (n_layers 6) and now (n_layers 8)")
    charts, copied = visitor.charts(), visitor.copied_link()

    theirs = classmate.open(copied)
    assert theirs.charts() == charts
    assert theirs.notices() == ""
    assert theirs.query() == visitor.query() | {"v": [VERSION]}
    theirs.go_to("Compare")
    assert theirs.query() == visitor.query()
    assert "compare_points" in theirs.charts()
    theirs.widget("compare_head").locator("summary").click()
    assert "head_now" not in theirs.settled().charts(), "the first six layers are the same"
    expect(theirs.widget("answer")).to_contain_text("and one goes on")
    theirs.settled().widget("pin_swap").get_by_role("button").click()
    theirs.eventually(lambda: theirs.query().get("b_n_layers") == ["8"], "the sides change places")
    expect(theirs.settled().slider("n_layers")).to_have_attribute("aria-valuetext", "6")
    theirs.widget("unpin").get_by_role("button").click()
    expect(theirs.widget("compare_start_norms")).to_be_visible()
    assert "b_n_layers" not in theirs.settled().query()
