"""A change that is made with a finger, switched with the keyboard on another page, and asked for by a hostile link."""

import re

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
    expect(phone.widget("examples").get_by_text("The sentence vector moves by")).to_be_in_viewport()
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


def test_the_keyboard_switches_a_change_off_on_another_page(visitor: Visitor) -> None:
    visitor.open("/attention?do=3.1:cut_10_2,2.0:zero")
    assert visitor.array("attention_pattern", name="customdata")[10, 2] == 0
    chip(visitor, "layer 3, head 1: it₁₀ ↛ animal₂").focus()
    visitor.page.keyboard.press("Space")
    expect(visitor.page.locator(".stMain")).to_contain_text("1 change")
    assert visitor.settled().query() == {"do": ["-3.1:cut_10_2,2.0:zero"]}
    assert visitor.array("attention_pattern", name="customdata")[10, 2] > 0.5
    expect(chip(visitor, "layer 3, head 1: it₁₀ ↛ animal₂")).to_be_focused()
    expect(chip(visitor, "layer 3, head 1: it₁₀ ↛ animal₂")).to_have_attribute("aria-pressed", "false")


def test_a_hostile_link_says_what_it_could_not_read_and_makes_the_rest(visitor: Visitor) -> None:
    visitor.open("/attention?do=<img src=x onerror=alert(1)>,3.1:zero,9.9:zero,0.out:patch_*_2,%F0%9F%92%A5")
    assert len(re.findall("is not a change", visitor.notices())) == 2
    line = visitor.widget("change_chips_line")
    expect(line.locator(".reason")).to_have_count(2)
    expect(line.locator("img")).to_have_count(0)
    assert visitor.query() == {"do": ["3.1:zero,9.9:zero,0.out:patch_*_2"]}


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


def test_from_attention_a_press_leads_to_what_followed_whatever_was_open_there(visitor: Visitor) -> None:
    visitor.open("/what-if?whatif_view=take+heads+out")
    visitor.page.get_by_role("link", name="Attention").first.click()
    visitor.settled()
    visitor.widget("quick_0").get_by_role("button").click()
    expect(visitor.widget("quick_effect")).to_contain_text("is off")
    visitor.settled()
    visitor.widget("changes_followed").get_by_role("button").click()
    expect(visitor.widget("answer")).to_be_in_viewport()
    expect(visitor.widget("answer")).to_contain_text("of its length")
    visitor.settled()
    assert "whatif_view" not in visitor.query(), "what followed is the view without a parameter"
    assert visitor.query()["do"] == ["3.1:zero"]


def test_a_panel_opens_by_a_press_and_in_the_link(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/what-if?do=3.1:zero")
    expect(visitor.widget("answer")).to_contain_text("the median", timeout=30_000)
    visitor.settled().widget("whatif_chosen").locator("summary").click()
    expect(visitor.widget("whatif_before")).to_be_visible()
    assert not visitor.settled().charts().keys() & {"whatif_after", "whatif_difference"}, "never two equal maps"
    visitor.widget("whatif_more").locator("summary").click()
    expect(visitor.widget("compose_make")).to_be_visible()
    link = visitor.settled().copied_link()
    theirs = classmate.open(link)
    expect(theirs.widget("compose_make")).to_be_visible()
    expect(theirs.widget("whatif_before")).to_be_visible()
    theirs.settled()
    before = classmate.open("/what-if?do=3.1:zero&whatif_measure=cosine")
    expect(before.widget("whatif_vectors")).to_be_visible()
    before.settled()
