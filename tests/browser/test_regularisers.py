"""A student compares what helps against memorising, and sends the comparison to a classmate."""

import re

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

PATIENT = 240_000


def press(visitor: Visitor, name: str) -> None:
    visitor.widget(f"regularisers_{name}").get_by_role("button").click()


def expect_status(visitor: Visitor, text: str) -> None:
    expect(visitor.page.get_by_test_id("stProgress")).to_contain_text(re.compile(text), timeout=PATIENT)


def test_what_is_chosen_travels_in_the_link(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/regularisers")
    pills = visitor.settled().widget("regularisers_chosen")
    for name in ("Early stopping", "Label smoothing", "Gradient clipping"):
        pills.get_by_role("button", name=name, exact=True).click()
        visitor.settled()
    chosen = ["Dropout on attention weights", "Weight decay", "Gradient clipping"]
    assert visitor.query() == {"regularisers_chosen": chosen}
    theirs = classmate.open(visitor.copied_link())
    assert theirs.notices() == ""
    assert theirs.query()["regularisers_chosen"] == chosen
    assert "Start 4 runs" in theirs.text()
    visitor.go_to("Norms")
    assert visitor.query() == {}
    visitor.page.go_back()
    expect(visitor.page).to_have_url(re.compile("/regularisers"))
    assert visitor.settled().query()["regularisers_chosen"] == chosen


def test_one_press_shows_an_explosion_and_what_clipping_does(visitor: Visitor, phone: Visitor) -> None:
    """Whoever presses second, on a phone, is given the same result."""
    for student in (visitor, phone):
        student.open("/regularisers")
        press(student, "ready_clipping")
        expect_status(student, "Done: 2 runs")
        answer = student.settled().widget("answer").inner_text()
        clipped, plain = map(float, re.findall(r"([0-9.]+)%", answer))
        assert clipped > 90 > 20 > plain
        assert student.query()["regularisers_clip"] == ["0.25"]


def test_a_student_sees_what_the_causal_mask_is_for(visitor: Visitor) -> None:
    visitor.open("/regularisers")
    press(visitor, "ready_no_causal_mask")
    chart = visitor.widget("regularisers_train").locator("svg[role=figure]")
    first = chart.locator("path.curve").nth(1)  # the one before it is the simple rule
    expect(first).to_be_attached(timeout=PATIENT)
    expect(chart).to_be_in_viewport()
    picture, begun = chart.element_handle(), str(first.get_attribute("d"))
    visitor.eventually(lambda: len(str(first.get_attribute("d"))) > len(begun), "a curve that grows")
    assert picture.evaluate("svg => svg.isConnected"), "the chart was made anew, and blinked"
    visitor.go_to("Norms").go_to("Regularisers")
    expect_status(visitor, "Done: 2 runs")
    curves = visitor.settled().charts()["regularisers_train"]
    assert [curve.get("name") for curve in curves[1:]] == ["plain run", "without causal mask"]
    honest, looked_up = (visitor.array("regularisers_train", trace, "y")[-1] for trace in (1, 2))
    assert looked_up > 0.99 > honest
