"""A student climbs from 2017 to today, reads what helped, moves a rung, and sends the ladder to a classmate."""

import re

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

PATIENT = 240_000
LINK = "/ladder?ladder_cards=true&ladder_rungs=pre-norm&ladder_rungs=rotary+positions&ladder_seeds=1&ladder_task=Sort"


def press(visitor: Visitor, name: str) -> None:
    visitor.widget(f"ladder_{name}").get_by_role("button").first.click()


def move(visitor: Visitor, name: str, number: int) -> None:
    """Open the menu of a rung, and press one of its buttons."""
    press(visitor, f"move_{number}")
    press(visitor, f"{name}_{number}")


def cards(visitor: Visitor) -> list[str]:
    """What each rung's card begins with, without its year."""
    found = visitor.page.locator("[class*=st-key-ladder_rung_]")
    return [re.sub(r"^\d+ · | · \d+$", "", text.split("\n")[0]) for text in found.all_inner_texts()]


def test_a_ladder_is_trained_changed_and_sent_on(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open(LINK)
    assert cards(visitor) == ["pre-norm", "rotary positions"]
    press(visitor, "start")
    expect(visitor.page.get_by_test_id("stProgress")).to_contain_text("All 3 runs are done", timeout=PATIENT)
    visitor.settled()
    expect(visitor.widget("answer")).to_contain_text("One run each may be luck")
    for text in ("2017", "pre-norm", "rotary positions"):
        expect(visitor.widget("ladder_bars")).to_contain_text(text)
    expect(visitor.widget("ladder_bars")).not_to_contain_text("still to come")
    expect(visitor.widget("ladder_rung_2")).to_contain_text("against pre-norm, loss")
    move(visitor, "down", 1)
    visitor.eventually(lambda: cards(visitor) == ["rotary positions", "pre-norm"], "the other order")
    expect(visitor.widget("answer")).to_contain_text("The settings are no longer this run's: the order of the rungs.")
    visitor.eventually(
        lambda: visitor.query()["ladder_rungs"] == ["rotary positions", "pre-norm"], "the order in the link"
    )
    theirs = classmate.open(visitor.settled().copied_link())
    assert theirs.notices() == ""
    assert cards(theirs) == ["rotary positions", "pre-norm"]
    move(visitor, "remove", 1)
    visitor.eventually(lambda: cards(visitor) == ["pre-norm"], "one rung")
    visitor.eventually(lambda: visitor.query()["ladder_rungs"] == ["pre-norm"], "one rung in the link")
    visitor.settled().assert_well()


def test_on_a_phone_a_rung_is_added_and_opened_beside_the_one_before(phone: Visitor) -> None:
    phone.open("/ladder?ladder_cards=true&ladder_rungs=GELU")
    chosen = phone.widget("ladder_rungs")
    chosen.evaluate("field => field.scrollIntoView({ block: 'center' })")  # so that the list has room below it
    chosen.locator("input").fill("ALiBi")
    phone.page.get_by_role("option", name="ALiBi").tap()
    phone.eventually(lambda: cards(phone) == ["GELU", "ALiBi"], "the added rung comes last")
    phone.page.keyboard.press("Escape")  # the list of rungs, which stays open for more
    phone.settled().widget("ladder_open_2").get_by_role("button").first.tap()
    expect(phone.page).to_have_url(re.compile("/compare"))
    expect(phone.page.locator(".stMain")).to_contain_text("pinned (positions sinusoidal) and now (positions alibi)")
    phone.settled().assert_well()
