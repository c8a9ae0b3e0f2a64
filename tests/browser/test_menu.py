"""The menu of a laptop and of a phone: its first row, its folds, and where the visitor is."""

from playwright.sync_api import Locator, expect

from tests.browser.test_every_page import AXE, grave_violations
from tests.browser.test_places import PAGES
from tests.browser.visitor import Visitor

_REACHABLE = """links => links.filter(link => {
  const { left, top, width, height } = link.getBoundingClientRect()
  return link.contains(document.elementFromPoint(left + width / 2, top + height / 2))
})"""
_PATHS = f"""links => ({_REACHABLE})(links)
  .map(link => new URL(link.getAttribute("href") || "/", document.baseURI).pathname.slice(1))"""


def test_the_menu_of_a_laptop_has_at_most_eight_items_and_room_for_every_page(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 900})
    menu = visitor.open("/parameters").page.get_by_test_id("stTopNav")
    found = menu.get_by_role("link").evaluate_all(_PATHS)
    folds = menu.get_by_test_id("stTopNavSection")
    assert folds.evaluate_all(f"buttons => ({_REACHABLE})(buttons).length") == folds.count()
    assert 3 < len(found) + folds.count() <= 8
    for fold in folds.all():
        fold.focus()
        fold.press("Enter")
        expect(visitor.page.get_by_role("menuitem").first).to_be_visible()
        found += visitor.page.get_by_role("menuitem").evaluate_all(_PATHS)
        visitor.page.evaluate(AXE)
        visitor.eventually(
            lambda: grave_violations(visitor) == set(), "a menu without faults, once its help has faded in"
        )
        fold.press("Escape")
        expect(visitor.page.get_by_role("menuitem")).to_have_count(0)
    assert sorted(found) == sorted(PAGES)


def test_the_menu_of_a_phone_has_as_many_items_and_a_finger_opens_every_page(phone: Visitor) -> None:
    menu = phone.open("/attention").widget("phone_controls_menu")
    links, folds = menu.get_by_role("link"), menu.get_by_role("button")
    expect(folds).to_have_count(3)
    assert links.count() + folds.count() <= 8
    found = links.evaluate_all(_PATHS)
    for fold in folds.all():
        fold.tap()
        inside = phone.page.get_by_test_id("stPopoverBody").get_by_role("link")
        expect(inside.first).to_be_visible()
        phone.page.evaluate(AXE)
        phone.eventually(lambda: grave_violations(phone) == set(), "no grave fault, once the menu has faded in")
        assert min(box["height"] for box in map(Locator.bounding_box, inside.all()) if box) >= 40
        found += inside.evaluate_all(_PATHS)
        fold.tap()
        expect(inside).to_have_count(0)
    assert sorted(found) == sorted(PAGES)
