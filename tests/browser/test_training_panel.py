"""A student sets regularisers in their panel, which moves only when it is told to."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_the_panel_stays_as_it_is_while_a_student_sets_what_is_in_it(visitor: Visitor) -> None:
    visitor.open("/training")
    panel = visitor.page.get_by_test_id("stExpander").filter(has_text="Regularisers")
    panel.locator("summary").click()
    visitor.settled()
    clip = visitor.slider("training_clip")
    expect(clip).to_be_visible()
    for presses in (("ArrowRight",), ("ArrowRight",), ("Home",), ("ArrowRight",)):
        visitor.press("training_clip", *presses)
        visitor.settled()
        expect(clip).to_be_visible()
        expect(panel.locator("details[open]")).to_have_count(1)
    assert visitor.query()["training_clip"] == ["0.1"]
    panel.locator("summary").click()
    visitor.settled()
    expect(clip).not_to_be_visible()
    assert visitor.query()["training_clip"] == ["0.1"]


def test_what_a_link_sets_in_a_closed_panel_outlasts_a_visit_elsewhere(visitor: Visitor) -> None:
    visitor.open("/training?training_clip=0.5")
    visitor.go_to("Norms").go_to("Training")
    assert visitor.query()["training_clip"] == ["0.5"]
