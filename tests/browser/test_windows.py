"""A laptop's window, also enlarged, and addresses at which there is nothing."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import Server
from tests.browser.visitor import Visitor


@pytest.fixture
def open_window(server: Server, browser: Browser) -> Iterator[Callable[[int, int], Visitor]]:
    """Opens a window of a size in pixels; nothing may have gone wrong in any when the test ends."""
    opened: list[Visitor] = []

    def open_one(width: int, height: int) -> Visitor:
        opened.append(Visitor.anew(server, browser, width, height))
        return opened[-1]

    yield open_one
    for visitor in opened:
        visitor.assert_well()
        visitor.page.context.close()


def test_on_a_laptop_the_columns_names_and_the_row_to_click_are_in_the_first_window(
    open_window: Callable[[int, int], Visitor],
) -> None:
    laptop = open_window(1280, 800).open("/attention")
    names = laptop.widget("attention_pattern_chart").locator(".xtick text")
    expect(names).to_have_count(16)
    for name in names.all():
        expect(name).to_be_in_viewport(ratio=1)
    expect(laptop.widget("attention_pattern").locator(".frame")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", [(640, 400), (683, 384), (720, 450), (768, 432), (960, 540)])
def test_at_200_percent_a_maps_cells_can_be_told_apart(
    size: tuple[int, int], open_window: Callable[[int, int], Visitor]
) -> None:
    laptop = open_window(*size)
    for page, chart, n in (("attention", "attention_pattern", 16), ("similarity", "similarity_matrix", 10)):
        laptop.open(f"/{page}")
        cells = laptop.widget(f"{chart}_chart").locator(".nsewdrag").bounding_box()
        assert cells is not None
        assert min(cells["width"], cells["height"]) / n >= 20
