"""A bug is found, on a phone."""

from playwright.sync_api import expect

from playground.mistakes.bug_lab import open_case
from playground.mistakes.registry import MISTAKES
from playground.views.bug_lab import name_suspect
from tests.browser.test_every_page import expect_readable
from tests.browser.visitor import Visitor

CASE = open_case(2, "easy")
(GUILTY,) = CASE.mistakes
WRONG = next(key for key in CASE.suspects if key not in CASE.mistakes)


def accuse(visitor: Visitor, key: str) -> None:
    visitor.widget(f"lab_accuse_{key.replace('-', '_')}").get_by_role("button").click()


def test_a_bug_is_found(phone: Visitor) -> None:
    phone.open("/bug-lab?lab_seed=2")
    expect(phone.widget("answer")).to_contain_text("Mistakes in it: 1")
    phone.widget("lab_test_pattern").get_by_role("button").click()
    expect(phone.widget("lab_evidence")).to_be_in_viewport()
    assert phone.settled().array("lab_pattern_0").shape == (8, 8)
    accuse(phone, WRONG)
    expect(phone.widget("lab_verdict").get_by_text("Not:")).to_be_in_viewport()
    accuse(phone, GUILTY)
    expect(phone.widget("answer")).to_contain_text(f"Found: {name_suspect(GUILTY)}")
    expect(phone.page.get_by_text(MISTAKES[GUILTY].source)).to_be_visible()
    assert phone.settled().settings()["lab_tests"] == ["pattern"]
    expect_readable(phone)
    assert phone.page.locator(".stMain").evaluate("main => main.scrollWidth") <= 390
