"""The tour in a browser, as a newcomer takes it; and the short way to the answer without it."""

import time
from typing import Literal

import pytest
from playwright.sync_api import Locator, WebSocketRoute, expect

from tests.browser.test_every_page import AXE, grave_violations
from tests.browser.visitor import Visitor

TEXT = "Anna gave Tom the book because he had asked for it."
HE, TOM = 7, 3

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def line(visitor: Visitor) -> Locator:
    """What says where on the tour the visitor is."""
    return visitor.widget("tour_line")


def expect_step(visitor: Visitor, number: int) -> None:
    """The step's number on the page and in the address, and the line in sight."""
    expect(line(visitor)).to_contain_text(f"Step {number} of 6")
    visitor.settled()
    assert visitor.query()["tour"] == [str(number)]
    expect(line(visitor)).to_be_in_viewport(ratio=0.9)


def test_a_newcomer_takes_the_tour_and_a_classmate_opens_its_link(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/")
    visitor.widget("tour_start").get_by_role("button").click()
    expect_step(visitor, 1)
    visitor.type_text(TEXT)
    expect_step(visitor, 2)
    expect(visitor.page.get_by_role("status").filter(has_text="Step 2 of 6")).to_have_count(1)
    line(visitor).get_by_role("link", name="Open Attention").click()
    expect(visitor.page.locator("h1")).to_contain_text("Who attends")
    expect(line(visitor)).to_contain_text("the row of he")
    visitor.settled().click_cell("attention_pattern", HE, TOM)
    expect_step(visitor, 3)
    line(visitor).get_by_role("button", name="Show me").click()
    expect(visitor.widget("attention_why")).to_be_in_viewport()
    visitor.choose("attention_why", "competition")
    expect_step(visitor, 4)
    visitor.page.evaluate(AXE)
    for scheme in SCHEMES:
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.settled()
        assert (scheme, grave_violations(visitor)) == (scheme, set())
    button = visitor.widget("pin").get_by_role("button")
    button.focus()
    button.press("Enter")
    expect_step(visitor, 5)
    visitor.page.get_by_test_id("stSidebar").get_by_text("Tokens and masks").click()
    visitor.widget("causal").get_by_text("causal mask").click()
    expect_step(visitor, 6)
    line(visitor).get_by_role("button", name="Show me").click()
    expect(visitor.widget("head_pinned")).to_be_in_viewport(ratio=0.6)
    link = visitor.copied_link()
    expect(line(visitor)).to_contain_text("That was the tour")
    assert "tour=" not in link
    classmate.open(link)
    expect(line(classmate)).to_have_count(0)
    assert classmate.focused() == {"layer": 3, "head": 1, "query": HE, "key": TOM}
    expect(classmate.widget("head_pinned")).to_be_visible()
    line(visitor).get_by_role("button", name="Close").click()
    expect(line(visitor)).to_have_count(0)


def test_on_a_phone_the_line_stays_in_sight_and_in_the_window(phone: Visitor) -> None:
    phone.open("/?tour=1")
    expect_step(phone, 1)
    field = phone.widget("phone_text").locator("textarea")
    field.fill(TEXT)
    field.press("Control+Enter")
    expect_step(phone, 2)
    line(phone).get_by_role("link", name="Open Attention").tap()
    expect(phone.page.locator("h1")).to_contain_text("Who attends")
    phone.settled()
    line(phone).get_by_role("button", name="Show me").tap()
    expect(phone.widget("attention_pattern").locator(".frame")).to_be_in_viewport()
    phone.settled().tap_cell("attention_pattern", HE, TOM)
    expect_step(phone, 3)
    line(phone).get_by_role("button", name="Show me").tap()
    answer = phone.widget("why").get_by_text("The difference,")
    expect(answer).to_be_in_viewport(ratio=0.9)
    expect(phone.widget("why").get_by_role("heading")).to_be_in_viewport()
    for number in (4, 5, 6):
        line(phone).get_by_role("button", name="Skip").tap()
        expect_step(phone, number)
        box = line(phone).bounding_box()
        assert box
        assert box["height"] < 844 / 4
        edges = [button.bounding_box() for button in line(phone).get_by_role("button").all()]
        assert all(edge and edge["x"] >= 0 and edge["x"] + edge["width"] <= 390 for edge in edges)
    phone.widget("pin").get_by_role("button").tap()
    expect(phone.page.locator(".st-key-head_pinned")).to_be_attached()
    phone.settled()
    line(phone).get_by_role("button", name="Show me").tap()
    expect(phone.widget("head_pinned")).to_be_in_viewport(ratio=0.6)
    assert phone.page.locator(".stMain").evaluate("main => main.scrollWidth") <= 390


def test_what_a_step_needs_first_leaves_its_line_once_it_is_there(visitor: Visitor) -> None:
    visitor.open("/attention?tour=3&attention_show=average+of+heads")
    expect(line(visitor)).to_contain_text("one head")
    visitor.choose("attention_show", "one head")
    expect(line(visitor)).not_to_contain_text("one head")
    expect_step(visitor, 3)


@pytest.mark.parametrize(("width", "height"), [(1366, 900), (390, 844)])
def test_one_click_on_the_overview_shows_why_it_looks_at_animal(width: int, height: int, visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": width, "height": height})
    visitor.open("/")
    visitor.widget("overview_why").get_by_role("button").click()
    expect(visitor.widget("why")).to_contain_text("animal")
    expect(visitor.widget("why_parts").locator(".bar").first).to_be_in_viewport()


def test_over_a_slow_connection_the_answer_comes_into_sight_once_it_is_there(phone: Visitor) -> None:
    def pass_on(socket: WebSocketRoute) -> None:
        upstream = socket.connect_to_server()

        def answer(message: str | bytes) -> None:
            time.sleep(0.03)  # of the part that scrolls there, of the page above it, and of the answer itself
            socket.send(message)

        upstream.on_message(answer)

    phone.page.route_web_socket("**/_stcore/stream", pass_on)
    phone.open("/")
    phone.widget("overview_why").get_by_role("button").tap()
    expect(phone.widget("why")).to_contain_text("animal")
    phone.settled()
    expect(phone.widget("why_parts").locator(".bar").first).to_be_in_viewport()
