"""A finger on a phone."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from playground.link.query import VERSION
from playground.pages import page_at
from tests.browser.server import Server
from tests.browser.test_places import PAGES
from tests.browser.visitor import Visitor

HEADS = [(4, 6), (0, 0), (5, 9), (2, 11)]


@pytest.mark.parametrize(("slower", "heads"), [(1, HEADS), (6, HEADS[:2])])
def test_a_tap_opens_the_thumbnail_under_the_finger(slower: int, heads: list[tuple[int, int]], phone: Visitor) -> None:
    """`slower`: how many times slower the phone is than this machine."""
    phone.open("/attention")
    phone.page.context.new_cdp_session(phone.page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    for layer, head in heads:
        phone.tap_head(layer, head)
        expect(phone.focus("layer")).to_have_value(str(layer))
        expect(phone.focus("head")).to_have_value(str(head))
        phone.settled()


def test_of_two_taps_the_second_counts_also_on_the_same_thumbnail(phone: Visitor) -> None:
    phone.open("/attention")
    phone.tap_head(5, 9)
    phone.tap_head(0, 4)
    expect(phone.focus("layer")).to_have_value("0")
    expect(phone.focus("head")).to_have_value("4")
    first = phone.settled().array("attention_pattern", name="customdata")
    phone.tap_head(0, 4)
    phone.tap_head(0, 4)
    assert phone.settled().query() == {"layer": ["0"], "head": ["4"]}
    np.testing.assert_array_equal(phone.array("attention_pattern", name="customdata"), first)


@pytest.fixture(scope="module")
def walker(server: Server, phone_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a phone who goes from page to page by the menu, for all tests of it."""
    visitor = Visitor(server, phone_context).open("/")
    yield visitor
    visitor.assert_well()
    visitor.page.close()


def go_by_menu(phone: Visitor, path: str) -> None:
    """Tap a page's link in the menu, in the fold that it lies in."""
    page, menu = page_at(path), phone.widget("phone_controls_menu")
    if page.group:
        menu.get_by_role("button").filter(has_text=page.group).tap()
        menu = phone.page.get_by_test_id("stPopoverBody")
    menu.get_by_role("link", name=page.title, exact=bool(page.group)).tap()
    expect(phone.page).to_have_title(re.compile(f"^{page.title} · "))
    expect(phone.page.get_by_test_id("stPopoverBody")).to_have_count(0)
    phone.settled()


@pytest.mark.parametrize("page", PAGES)
def test_text_and_menu_stand_on_the_page_and_nothing_runs_off_its_edge(page: str, walker: Visitor) -> None:
    phone = walker
    go_by_menu(phone, page)
    field = phone.page.locator(".st-key-phone_text textarea, .st-key-front_text input")
    reads_text = page_at(page).runs_text and page != "encoder-decoder"  # whose example reads another text
    if reads_text or page_at(page).path == "overview":
        expect(field).to_be_in_viewport()
    else:
        expect(field).to_have_count(0)
    links = phone.widget("phone_controls_menu").locator("a:visible, button")
    expect(links).to_have_count(8)
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)
    title = phone.page.locator("h1").bounding_box()
    assert title is not None
    assert title["y"] <= 260, "text and menu leave the first window to the page"
    width, edges = phone.page.evaluate(
        """() => [
          Math.max(...[document.scrollingElement, document.querySelector(".stMain")].map(each => each.scrollWidth)),
          [...document.querySelectorAll(".stPlotlyChart, .stMain button, .stMain iframe")]
            .map(element => element.closest("[style*='--least-width'] > *") ?? element)  // scrolled in its own box
            .map(element => element.getBoundingClientRect()).map(({ left, right }) => [left, right]),
        ]"""
    )
    assert width <= 390
    assert len(edges) > 1
    assert all(left >= 0 and right <= 390 for left, right in edges)
    cut = phone.page.evaluate(
        """() => [...document.querySelectorAll(".stMain .katex-display, .stMain .stHeading, .stMain .stCaption")]
          .filter(each => each.scrollWidth > each.clientWidth + 4).map(each => each.textContent)"""
    )
    assert cut == []
    assert phone.small_texts() == []
    borders = phone.page.locator("[data-testid=stButtonGroup] [role=radio]:enabled").evaluate_all(
        "all => all.map(each => getComputedStyle(each)).flatMap(look => [look.borderLeftColor, look.borderRightColor])"
    )
    assert "rgba(0, 0, 0, 0)" not in borders, "words on a second row have both their borders"
    tops = sorted({box["y"] for box in map(Locator.bounding_box, links.all()) if box})
    heights = [box["height"] for box in map(Locator.bounding_box, links.all()) if box]
    assert min(np.diff(tops)) >= max(40, *heights), "rows of the menu that a finger can tell apart"
    assert phone.page.evaluate(_COVERED_BY_TOOLBARS) == []


# Of what is read before a table; the toolbar's own box has room around its buttons.
_COVERED_BY_TOOLBARS = """() => [...document.querySelectorAll("[class*=stElementToolbar] > div")].flatMap(bar => {
  const toolbar = bar.getBoundingClientRect()
  return [...document.querySelectorAll(".stMain :is(p, li, label, summary, h1, h2, h3, button)")].filter(each => {
    const text = each.getBoundingClientRect()
    return !bar.contains(each) && toolbar.width > 0 && text.width > 0 && text.left < toolbar.right
      && text.right > toolbar.left && text.top < toolbar.bottom && text.bottom > toolbar.top
      && each.closest(".st-key-phone_copy_link, details:not([open]) > :not(summary)") === null
  }).map(each => each.textContent)
})"""


def test_the_cells_of_the_large_map_are_as_wide_as_a_finger_hits_and_its_box_scrolls_beside_the_rows_names(
    phone: Visitor,
) -> None:
    phone.open("/attention")
    box, page = phone.widget("attention_pattern_chart"), phone.page.locator(".stMain")
    n_tokens = len(phone.array("attention_pattern", name="customdata"))
    cells = box.locator(".nsewdrag").bounding_box()
    assert cells is not None
    assert cells["width"] / n_tokens >= 23.9
    assert cells["height"] / n_tokens >= 23.9
    name = box.locator(".ytick text").first
    before = name.bounding_box()
    assert before is not None
    box.evaluate("each => each.scrollBy(30, 0)")
    assert box.evaluate("each => each.scrollLeft") == 30
    phone.eventually(
        lambda: abs((name.bounding_box() or before)["x"] - before["x"]) < 1, "the rows' names stay where they are"
    )
    x, y = cells["x"] + cells["width"] / 2, 500
    finger = page.page.context.new_cdp_session(phone.page)
    scrolled = page.evaluate("each => each.scrollTop")
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for moved in range(20, 200, 20):
        points = [{"x": x, "y": y - moved}]
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    phone.eventually(lambda: page.evaluate("each => each.scrollTop") > scrolled, "a finger on the map scrolls the page")


def test_text_typed_on_the_page_is_the_sidebars_and_goes_along_to_the_next_page(phone: Visitor) -> None:
    phone.open("/attention")
    field = phone.widget("phone_text").locator("textarea")
    field.fill("one two")
    phone.widget("phone_controls_menu").get_by_role("link", name="Compare").tap()
    expect(phone.page.locator("h1")).not_to_contain_text("Who attends")
    assert phone.settled().settings() == {"text": ["one two"]}
    expect(phone.widget("phone_text").locator("textarea")).to_have_value("one two")


# Of what a finger hits: a word on it, the smaller side in pixels, and the size of its letters where it is a field.
_TARGETS = """() => {
  const found = [], kinds = "a[href], button, input, select, textarea, summary, [role=radio]"
  const walk = root => root.querySelectorAll("*").forEach(each => {
    if (each.shadowRoot) walk(each.shadowRoot)
    const { left, right, top, width, height } = each.getBoundingClientRect(), small = Math.min(width, height)
    const isThere = each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && small > 1
    if (!each.matches(kinds) || !isThere || left < 0 || right > innerWidth) return
    if (each.matches("[type=range], [type=radio], [type=checkbox]")) return // read out, behind what is seen
    const letters = each.matches("input, select, textarea") ? parseFloat(getComputedStyle(each).fontSize) : 16
    found.push([each.ariaLabel || each.textContent.slice(0, 30), small, letters])
  })
  walk(document)
  return found
}"""


@pytest.mark.parametrize("page", ["", "attention", "similarity", "training", "lessons"])
def test_a_finger_hits_what_there_is_to_press_and_a_phone_does_not_zoom_into_fields(page: str, walker: Visitor) -> None:
    walker.open(f"/{page}")
    targets = walker.page.evaluate(_TARGETS)
    assert len(targets) > 10
    assert [each for each in targets if each[1] < 24] == []
    assert [each for each in targets if each[2] < 16] == []
    menus = walker.page.locator(
        ".stMain :is([data-testid^=stBaseButton-], [data-testid=stPopoverButton], summary):visible"
    )
    assert menus.count() > 3
    assert [box for box in map(Locator.bounding_box, menus.all()) if box and box["height"] < 43.9] == []


def test_the_link_is_copied_by_a_button_that_is_always_there_and_covers_nothing(phone: Visitor) -> None:
    phone.open("/attention?head=3")
    button = phone.widget("phone_copy_link").get_by_role("button")
    phone.page.locator(".stMain").evaluate("main => main.scrollTo(0, 900)")
    box, header = button.bounding_box(), phone.page.get_by_test_id("stHeader").bounding_box()
    assert box is not None
    assert header is not None
    assert box["y"] + box["height"] <= header["y"] + header["height"], "it stands where Streamlit has its own buttons"
    assert min(box["width"], box["height"]) >= 44
    others = phone.page.get_by_test_id("stHeader").locator("button:visible").all()
    edges = [each for each in map(Locator.bounding_box, others) if each]
    assert edges
    assert all(each["x"] + each["width"] <= box["x"] or box["x"] + box["width"] <= each["x"] for each in edges)
    phone.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button.tap()
    expect(button).to_have_text("Copied")
    copied = parse_qs(urlsplit(phone.page.evaluate("navigator.clipboard.readText()")).query)
    assert copied == {"head": ["3"], "v": [VERSION]}
