"""A finger on a phone."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from playground.link.query import VERSION
from playground.pages import page_at
from tests.browser.server import Server
from tests.browser.visitor import ADDRESSES, Visitor


def test_a_tap_opens_the_thumbnail_under_the_finger_and_the_last_of_two_counts(phone: Visitor) -> None:
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
    slow = {"rate": 6}  # times slower than this machine
    phone.page.context.new_cdp_session(phone.page).send("Emulation.setCPUThrottlingRate", slow)
    for layer, head in ((4, 6), (2, 11)):
        phone.tap_head(layer, head)
        expect(phone.focus("layer")).to_have_value(str(layer))
        expect(phone.focus("head")).to_have_value(str(head))
        phone.settled()


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
    link = menu.get_by_role("link", name=page.title, exact=bool(page.group))
    box = link.bounding_box()
    assert box is None or box["height"] >= 40
    link.tap()
    expect(phone.page).to_have_title(re.compile(f"^{page.title} · "))
    expect(phone.page.get_by_test_id("stPopoverBody")).to_have_count(0)
    phone.settled()


_EDGES = """() => [
  Math.max(...[document.scrollingElement, document.querySelector(".stMain")].map(each => each.scrollWidth)),
  [...document.querySelectorAll(".plot, .stMain button, .stMain iframe")]
    .map(element => element.closest("[style*='--least-width'] > *") ?? element)  // scrolled in its own box
    .map(element => element.getBoundingClientRect()).map(({ left, right }) => [left, right]),
  [...document.querySelectorAll(".stMain .katex-display, .stMain .stHeading, .stMain .stCaption")]
    .filter(each => each.scrollWidth > each.clientWidth + 4).map(each => each.textContent),
]"""


@pytest.mark.parametrize("page", ADDRESSES)
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
    boxes = [box for box in map(Locator.bounding_box, links.all()) if box]
    rows = np.diff(sorted({box["y"] for box in boxes}))
    assert min(rows) >= max(40, *(box["height"] for box in boxes)), "rows of the menu that a finger can tell apart"
    title = phone.page.locator("h1").bounding_box()
    assert title is not None
    assert title["y"] <= 260, "text and menu leave the first window to the page"
    width, edges, cut = phone.page.evaluate(_EDGES)
    assert width <= 390
    assert len(edges) > 1
    assert all(left >= 0 and right <= 390 for left, right in edges)
    assert cut == []
    assert phone.small_texts() == []


def test_a_finger_hits_a_cell_of_the_large_map_and_scrolls_the_map_and_the_page(phone: Visitor) -> None:
    phone.open("/attention")
    box, page = phone.widget("attention_pattern_chart"), phone.page.locator(".stMain")
    n_tokens = len(phone.array("attention_pattern", name="customdata"))
    cells = box.locator(".nsewdrag").bounding_box()
    assert cells is not None
    assert min(cells["width"], cells["height"]) / n_tokens >= 23.9
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
    phone.open("/attention").tap_cell("attention_pattern", 6, 8)
    expect(phone.focus("key")).to_have_value("8")
    # The map is in sight now, and the line is below the page's header.
    phone.settled().focus("key").evaluate("field => field.scrollIntoView({ block: 'center' })")
    phone.focus("key").select_option("9")
    expect(phone.focus("key")).to_have_value("9")
    assert phone.settled().query() == {"query": ["6"], "key": ["9"]}


def test_text_typed_on_the_page_is_the_sidebars_and_goes_along_to_the_next_page(phone: Visitor) -> None:
    phone.open("/attention")
    phone.widget("phone_text").locator("textarea").fill("one two")
    phone.widget("phone_controls_menu").get_by_role("link", name="Compare").tap()
    expect(phone.page.locator("h1")).not_to_contain_text("Who attends")
    assert phone.settled().settings() == {"text": ["one two"]}
    expect(phone.widget("phone_text").locator("textarea")).to_have_value("one two")


def test_the_sidebars_controls_are_one_tap_away(server: Server, browser: Browser) -> None:
    """A browser of its own: Streamlit keeps an opened sidebar open on every later page."""
    phone = Visitor.anew(server, browser, 390, 844, has_touch=True, is_mobile=True).open("/attention")
    phone.page.get_by_test_id("stExpandSidebarButton").tap()
    for key in ("n_layers", "positions"):
        expect(phone.widget(f"minilm_{key}")).to_be_in_viewport()
    phone.assert_well()
    phone.page.context.close()


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
    assert [each for each in targets if each[1] < 24] == [], "the least that WCAG 2.2 asks for"
    assert [each for each in targets if each[2] < 16] == []
    large = ".stMain :is([data-testid^=stBaseButton-], [data-testid=stPopoverButton], summary, select):visible"
    menus = walker.page.locator(large)
    assert menus.count() > 3
    assert [box for box in map(Locator.bounding_box, menus.all()) if box and box["height"] < 43.9] == []


def test_the_link_is_copied_by_a_button_that_is_always_there(phone: Visitor) -> None:
    phone.open("/attention?head=3")
    button = phone.widget("phone_copy_link").get_by_role("button")
    phone.page.locator(".stMain").evaluate("main => main.scrollTo(0, 900)")
    box, header = button.bounding_box(), phone.page.get_by_test_id("stHeader").bounding_box()
    assert box is not None
    assert header is not None
    assert box["y"] + box["height"] <= header["y"] + header["height"], "it stands where Streamlit has its own buttons"
    assert min(box["width"], box["height"]) >= 44
    phone.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button.tap()
    expect(button).to_have_text("Copied")
    copied = parse_qs(urlsplit(phone.page.evaluate("navigator.clipboard.readText()")).query)
    assert copied == {"head": ["3"], "v": [VERSION]}


def test_a_finger_makes_a_change_takes_it_back_and_saves_a_chart(phone: Visitor) -> None:
    phone.open("/what-if")
    phone.widget("example_0").get_by_role("button").tap()
    line = phone.widget("change_chips_line")
    chip = line.get_by_role("button", name="layer 3, head 1 off", exact=True)
    expect(chip).to_have_attribute("aria-pressed", "true")
    assert phone.settled().query() == {"do": ["3.1:zero"]}
    expect(phone.widget("answer").get_by_text("6.6%")).to_be_in_viewport()
    box = chip.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    line.get_by_role("button", name="Take back: layer 3, head 1 off").tap()
    expect(chip).to_have_count(0)
    assert phone.settled().query() == {}
    phone.open("/norms").widget("norms_by_layer_save_menu").get_by_role("button").tap()
    button = phone.widget("norms_by_layer_save_picture").get_by_role("button", name="PNG")
    expect(button).to_be_visible()
    phone.settled()
    with phone.page.expect_download() as download:
        button.tap()
    assert download.value.suggested_filename == "norms_by_layer.png"
