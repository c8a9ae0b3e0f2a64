"""The first experiment in a browser, as a newcomer takes it from the front page to its end."""

import re
import time

from playwright.sync_api import Locator, WebSocketRoute, expect

from tests.browser.test_every_page import expect_readable
from tests.browser.visitor import Visitor

TEXT = "Anna gave Tom the book because he had asked for one."
HE, ANNA, TOM = 7, 1, 3


def line(visitor: Visitor) -> Locator:
    """What says where on the tour the visitor is."""
    return visitor.widget("tour_line")


def conclusion(visitor: Visitor) -> Locator:
    """What stands at the tour's end."""
    return visitor.widget("tour_conclusion")


def go_on(visitor: Visitor) -> None:
    """Press the button of a step that is done."""
    visitor.widget("tour_on").get_by_role("button").click()


def expect_step(visitor: Visitor, number: int, *, is_done: bool = False) -> None:
    """The step's number on the page and in the address, and the line in sight."""
    expect(line(visitor)).to_contain_text(re.compile(rf"Step {number} of 4{': done' if is_done else ''}\."))
    visitor.settled()
    assert visitor.query()["tour"] == [str(number)]
    expect(line(visitor)).to_be_in_viewport(ratio=0.9)


def expect_end(visitor: Visitor, verdict: str = "held") -> None:
    """The conclusion in sight, with the numbers of this sentence and a test."""
    expect(conclusion(visitor)).to_contain_text("looks from he at Anna (0.34) more than at Tom (0.09)")
    expect(conclusion(visitor)).to_contain_text(verdict)
    visitor.settled()
    expect(conclusion(visitor).get_by_text("A test that can refute it")).to_be_in_viewport()


def test_from_the_front_page_a_newcomer_comes_to_a_tested_answer_and_a_classmate_opens_it(
    visitor: Visitor, classmate: Visitor
) -> None:
    visitor.open("/")
    expect_readable(visitor)
    visitor.widget("front_text").locator("input").fill(TEXT)
    visitor.widget("start_pronoun").get_by_role("button").click()  # without a press on Look, or on Enter
    expect(visitor.page.locator("h1")).to_contain_text("Who attends")
    expect_step(visitor, 1)
    expect(visitor.page.get_by_role("status").filter(has_text="Step 1 of 4")).to_have_count(1)
    assert visitor.settings()["text"] == [TEXT]
    visitor.click_cell("attention_pattern", HE, ANNA)
    expect_step(visitor, 1, is_done=True)
    go_on(visitor)
    expect_step(visitor, 2)
    line(visitor).get_by_role("button", name="Show me").click()
    expect(visitor.widget("why_rival_choice")).to_be_in_viewport()
    line(visitor).get_by_role("button", name="Keep tom").click()
    expect_step(visitor, 2, is_done=True)
    expect(visitor.widget("why_parts").locator(".bar").first).to_be_in_viewport()  # which is to be read
    go_on(visitor)
    expect_step(visitor, 3)
    expect(visitor.widget("why_tests")).to_be_hidden()  # which is to be guessed
    expect_readable(visitor)
    guess = line(visitor).get_by_role("button", name="the word decides")
    guess.focus()
    guess.press("Enter")
    expect_step(visitor, 3, is_done=True)
    expect(line(visitor)).to_contain_text("before → after the swap: Anna 0.34")
    expect(visitor.widget("why_tests").get_by_text("Test it.")).to_be_visible()
    go_on(visitor)
    expect_step(visitor, 4)
    off = visitor.widget("quick_off").get_by_role("button")
    expect(off).to_be_in_viewport()
    off.focus()
    off.press("Enter")
    expect_step(visitor, 4, is_done=True)
    go_on(visitor)
    expect_end(visitor)
    expect_readable(visitor)
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    conclusion(visitor).get_by_role("button", name="Copy link").click()
    expect(conclusion(visitor).get_by_role("button", name="Copied")).to_be_visible()
    classmate.open(visitor.page.evaluate("navigator.clipboard.readText()"))
    expect(conclusion(classmate)).to_contain_text("looks from he at Anna (0.34) more than at Tom (0.09)")
    conclusion(visitor).get_by_role("button", name="Close").click()
    expect(conclusion(visitor)).to_have_count(0)


def test_on_a_phone_the_experiment_is_done_with_a_finger(phone: Visitor) -> None:
    phone.open("/")
    field = phone.widget("front_text").locator("input")
    expect(phone.widget("phone_text")).to_have_count(0)
    field.fill(TEXT)
    field.press("Enter")
    expect(phone.widget("card_pronoun")).to_contain_text("anna or tom: at which of them does he look more?")
    expect(phone.widget("start_parts").get_by_role("button")).to_be_in_viewport(ratio=1)
    phone.settled()
    expect_readable(phone)
    phone.widget("start_pronoun").get_by_role("button").tap()
    expect(phone.page.locator("h1")).to_contain_text("Who attends")
    expect_step(phone, 1)
    expect(phone.widget("phone_text").locator("textarea")).to_have_value(TEXT)
    line(phone).get_by_role("button", name="Show me").tap()
    expect(phone.widget("attention_pattern").locator(".frame")).to_be_in_viewport()
    phone.settled().tap_cell("attention_pattern", HE, ANNA)
    expect_step(phone, 1, is_done=True)
    go_on(phone)
    expect_step(phone, 2)
    line(phone).get_by_role("button", name="Show me").tap()
    choice = phone.widget("why_rival_choice")
    expect(choice).to_be_in_viewport(ratio=0.9)
    phone.settled()
    line(phone).get_by_role("button", name="Keep tom").tap()
    expect_step(phone, 2, is_done=True)
    go_on(phone)
    expect_step(phone, 3)
    expect(phone.widget("why_tests")).to_be_hidden()
    box = line(phone).bounding_box()
    assert box
    assert box["height"] < 844 / 4
    edges = [button.bounding_box() for button in line(phone).get_by_role("button").all()]
    assert all(edge and edge["x"] >= 0 and edge["x"] + edge["width"] <= 390 for edge in edges)
    assert all(edge and edge["height"] >= 40 for edge in edges), "for a finger"
    expect(line(phone)).to_contain_text("Tom gave Anna the book")
    line(phone).get_by_role("button", name="the place decides").tap()
    expect_step(phone, 3, is_done=True)
    expect(line(phone)).to_contain_text("You guessed the place, but the word decides")
    go_on(phone)
    expect_step(phone, 4)
    expect(phone.widget("quick_off").get_by_role("button")).to_be_in_viewport()
    phone.settled().widget("quick_off").get_by_role("button").tap()
    expect_step(phone, 4, is_done=True)
    go_on(phone)
    expect_end(phone, "refuted")
    expect_readable(phone)
    assert phone.page.locator(".stMain").evaluate("main => main.scrollWidth") <= 390
    edges = [each.bounding_box() for each in (conclusion(phone), *conclusion(phone).get_by_role("button").all())]
    assert all(edge and edge["x"] >= 0 and edge["x"] + edge["width"] <= 390 for edge in edges)


def test_a_step_is_done_by_its_button_and_left_by_another(visitor: Visitor) -> None:
    visitor.open("/attention?tour=1&experiment=pronoun")
    line(visitor).get_by_role("button", name="animal").click()
    expect_step(visitor, 1, is_done=True)
    assert visitor.focused() == {"layer": 3, "head": 1, "query": 10, "key": 2}
    go_on(visitor)
    expect_step(visitor, 2)
    line(visitor).get_by_role("button", name="End").click()
    expect(line(visitor)).to_have_count(0)
    visitor.settled()
    assert "tour" not in visitor.query()


def test_what_a_step_needs_first_leaves_its_line_once_it_is_there(visitor: Visitor) -> None:
    visitor.open("/attention?tour=2&attention_show=average+of+heads")
    expect(line(visitor)).to_contain_text("one head")
    visitor.choose("attention_show", "one head")
    expect(line(visitor)).not_to_contain_text("one head")
    expect_step(visitor, 2)


def test_one_click_on_the_overview_shows_why_it_looks_at_animal(visitor: Visitor) -> None:
    """On a phone: the next test."""
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


def test_by_the_keyboard_each_step_is_one_tab_away_and_the_focus_is_never_behind_the_line(visitor: Visitor) -> None:
    visitor.open(f"/attention?tour=1&text={TEXT}&query={HE}&key={HE}")
    frame = visitor.widget("attention_pattern").locator(".frame")
    visitor.press_tab_until(frame)
    lower = line(visitor).bounding_box()
    box = frame.bounding_box()
    assert lower is not None
    assert box is not None
    assert box["y"] >= lower["y"] + lower["height"]
    for _ in range(HE - ANNA):
        visitor.page.keyboard.press("ArrowLeft")
    expect_step(visitor, 1, is_done=True)
    visitor.press_tab_until(visitor.widget("tour_on").get_by_role("button"))
    visitor.page.keyboard.press("Enter")
    expect_step(visitor, 2)
    visitor.press_tab_until(line(visitor).get_by_role("button", name="Keep tom"))
    visitor.page.keyboard.press("Enter")
    expect_step(visitor, 2, is_done=True)
    expect(line(visitor)).to_be_focused()
    visitor.page.keyboard.press("Tab")
    visitor.page.keyboard.press("Enter")
    expect_step(visitor, 3)
    expect(line(visitor)).to_be_focused()
    visitor.page.keyboard.press("Tab")
    guess = line(visitor).get_by_role("button", name="the word decides")
    expect(guess).to_be_focused()
    expect(guess).to_have_css("outline-width", "2px")
    visitor.page.keyboard.press("Enter")
    expect_step(visitor, 3, is_done=True)
    expect(line(visitor)).to_be_focused()
