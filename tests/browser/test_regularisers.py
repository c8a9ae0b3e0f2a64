"""A student compares what helps against learning by heart, and sends the comparison to a classmate."""

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
    visitor.widget("regularisers_own_open").locator("summary").click()
    pills = visitor.settled().widget("regularisers_chosen")
    for name in ("Token swapping", "Early stopping", "Label smoothing", "Without padding mask", "Gradient clipping"):
        pills.get_by_role("button", name=name, exact=True).click()
        visitor.settled()
    chosen = ["Dropout on attention weights", "Weight decay", "Gradient clipping"]
    assert visitor.query() == {"regularisers_chosen": chosen}
    theirs = classmate.open(visitor.copied_link())
    assert theirs.notices() == ""
    assert theirs.query()["regularisers_chosen"] == chosen
    assert "5 runs" in theirs.text()
    for name in chosen:
        theirs.widget("regularisers_chosen").get_by_role("button", name=name, exact=True).click()
        theirs.settled()
    assert theirs.query()["regularisers_chosen"] == [""]
    assert "Choose at least one" in theirs.notices()
    theirs.open(theirs.page.url)
    assert "Choose at least one" in theirs.notices()
    assert "used instead" not in theirs.notices()


def test_the_choice_survives_a_visit_elsewhere_and_a_step_back(visitor: Visitor) -> None:
    chosen = "regularisers_chosen=Weight+decay&regularisers_chosen=Without+causal+mask"
    visitor.open(f"/regularisers?{chosen}&regularisers_task=Sort")
    before = visitor.query()
    visitor.go_to("Norms")
    assert visitor.query() == {}
    visitor.page.go_back()
    expect(visitor.page).to_have_url(re.compile("/regularisers"))
    visitor.settled()
    assert visitor.query() == before
    assert "“Next character” hides what comes later" in visitor.text()


def test_one_press_shows_an_explosion_and_what_clipping_does(visitor: Visitor, phone: Visitor) -> None:
    """Whoever presses second, on a phone, is given the same result."""
    for student in (visitor, phone):
        student.open("/regularisers")
        assert "Nothing is measured yet" in student.widget("answer").inner_text()
        press(student, "ready_clipping")
        expect_status(student, "Both runs are done")
        answer = student.settled().widget("answer").inner_text()
        clipped, plain = map(float, re.findall(r"([0-9.]+)%", answer))
        assert clipped > 90 > 20 > plain
        assert "diverged at step" in answer
        expect(student.widget("regularisers_train")).to_contain_text("diverged at step")
        assert student.query()["regularisers_clip"] == ["0.25"]
    theirs = phone.open(visitor.copied_link())
    expect(theirs.widget("regularisers_own_open").locator("details[open]")).to_have_count(1)


def test_a_student_sees_what_the_causal_mask_is_for(visitor: Visitor) -> None:
    visitor.open("/regularisers")
    visitor.widget("regularisers_cards").locator("summary").click()
    press(visitor, "ready_no_causal_mask")
    expect(visitor.widget("answer")).to_be_in_viewport()
    chart = visitor.widget("regularisers_train").locator("svg[role=figure]")
    first = chart.locator("path.curve").nth(1)  # the one before it is the simple rule
    expect(first).to_be_attached(timeout=PATIENT)
    picture, begun = chart.element_handle(), str(first.get_attribute("d"))
    visitor.eventually(lambda: len(str(first.get_attribute("d"))) > len(begun), "a curve that grows")
    assert picture.evaluate("svg => svg.isConnected"), "the chart was made anew, and blinked"
    press(visitor, "pause")
    expect_status(visitor, "Paused: run 1 of 2")
    visitor.go_to("Norms").go_to("Regularisers")
    expect_status(visitor, "Paused: run 1 of 2")
    press(visitor, "resume")
    expect_status(visitor, "Both runs are done")
    visitor.settled()
    visitor.widget("regularisers_details_open").locator("summary").first.click()
    curves = visitor.settled().charts()["regularisers_train"]
    assert [curve.get("name") for curve in curves[1:]] == ["plain run", "without causal mask"]
    honest, looked_up = (visitor.array("regularisers_train", trace, "y")[-1] for trace in (1, 2))
    assert looked_up > 0.99 > honest
    expect(visitor.page.get_by_text("In use, where nobody knows it yet")).to_be_visible()
    expect(visitor.widget("regularisers_card_2")).to_contain_text("Without it, on “Next character”")
