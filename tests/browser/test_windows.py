"""A laptop's window, also enlarged: its menu, and the cells of its maps."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_every_page import AXE, grave_violations
from tests.browser.visitor import ADDRESSES, Visitor

_REACHABLE = """links => links.filter(link => {
  const { left, top, width, height } = link.getBoundingClientRect()
  return link.contains(document.elementFromPoint(left + width / 2, top + height / 2))
})"""
_PATHS = f"""links => ({_REACHABLE})(links)
  .map(link => new URL(link.getAttribute("href") || "/", document.baseURI).pathname.slice(1))"""


def open_in(visitor: Visitor, width: int, height: int, path: str) -> Visitor:
    visitor.page.set_viewport_size({"width": width, "height": height})
    return visitor.open(path)


def test_the_menu_has_at_most_eight_items_and_room_for_every_page(visitor: Visitor) -> None:
    menu = open_in(visitor, 1280, 900, "/parameters").page.get_by_test_id("stTopNav")
    found = menu.get_by_role("link").evaluate_all(_PATHS)
    folds = menu.get_by_test_id("stTopNavSection")
    assert folds.evaluate_all(f"buttons => ({_REACHABLE})(buttons).length") == folds.count()
    assert 3 < len(found) + folds.count() <= 8
    visitor.page.evaluate(AXE)
    for fold in folds.all():
        fold.focus()
        fold.press("Enter")
        items = visitor.page.get_by_role("menuitem")
        expect(items.first).to_be_visible()
        found += items.evaluate_all(_PATHS)
        visitor.eventually(lambda: grave_violations(visitor) == set(), "no grave fault, once its help has faded in")
        fold.press("Escape")
        expect(items).to_have_count(0)
    assert sorted(found) == sorted(ADDRESSES)


def test_on_a_laptop_the_columns_names_and_the_row_to_click_are_in_the_first_window(visitor: Visitor) -> None:
    laptop = open_in(visitor, 1280, 800, "/attention")
    names = laptop.widget("attention_pattern_chart").locator(".xtick text")
    expect(names).to_have_count(16)
    for name in names.all():
        expect(name).to_be_in_viewport(ratio=1)
    expect(laptop.widget("attention_pattern").locator(".frame")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", [(640, 400), (768, 432)])
def test_at_200_percent_a_maps_cells_can_be_told_apart(size: tuple[int, int], visitor: Visitor) -> None:
    for page, chart, n in (("attention", "attention_pattern", 16), ("similarity", "similarity_matrix", 10)):
        laptop = open_in(visitor, *size, f"/{page}")
        cells = laptop.widget(f"{chart}_chart").locator(".nsewdrag").bounding_box()
        assert cells is not None
        assert min(cells["width"], cells["height"]) / n >= 20
