"""A change that is made with a finger, switched with the keyboard on another page, and asked for by a hostile link."""

from playwright.sync_api import Locator, expect

from tests.browser.visitor import Visitor


def chip(visitor: Visitor, name: str) -> Locator:
    """The part of a change's chip that switches it."""
    return visitor.widget("change_chips_line").get_by_role("button", name=name, exact=True)


def test_a_finger_makes_a_change_and_takes_it_back(phone: Visitor) -> None:
    phone.open("/what-if")
    expect(phone.widget("answer")).to_contain_text("Nothing is changed yet")
    phone.widget("example_0").get_by_role("button").tap()
    expect(chip(phone, "layer 3, head 1 off")).to_have_attribute("aria-pressed", "true")
    assert phone.settled().query() == {"do": ["3.1:zero"]}
    expect(phone.widget("answer").get_by_text("6.6%")).to_be_in_viewport()
    assert phone.array("whatif_heads")[4].max() > 0
    expect(phone.widget("answer")).to_contain_text("the median of the 72 heads", timeout=30_000)
    edges = chip(phone, "layer 3, head 1 off").evaluate(
        "each => [each.offsetHeight, document.scrollingElement.scrollWidth]"
    )
    assert edges[0] >= 44
    assert edges[1] <= 390
    phone.widget("change_chips_line").get_by_role("button", name="Take back: layer 3, head 1 off").tap()
    expect(chip(phone, "layer 3, head 1 off")).to_have_count(0)
    assert phone.settled().query() == {}


def test_many_changes_fold_and_the_keyboard_goes_on_where_one_is_taken_back(visitor: Visitor) -> None:
    visitor.open("/attention?do=" + ",".join(f"3.{head}:zero" for head in range(9)))
    line = visitor.widget("change_chips_line")
    expect(line.locator(".change:visible")).to_have_count(6)
    line.get_by_role("button", name="3 more").click()
    expect(line.locator(".change:visible")).to_have_count(9)
    line.get_by_role("button", name="Take back: layer 3, head 0 off").press("Enter")
    expect(line.locator(".change:visible")).to_have_count(8)
    expect(line.get_by_role("button", name="Take back: layer 3, head 1 off")).to_be_focused()
    visitor.open("/attention?do=3.1:zero")
    visitor.widget("change_chips_line").get_by_role("button", name="Take back: layer 3, head 1 off").press("Enter")
    expect(visitor.widget("change_chips_line")).to_have_count(0)
    expect(visitor.page.locator(".stMain h1")).to_be_focused()
