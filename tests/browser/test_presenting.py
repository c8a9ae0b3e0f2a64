"""A page for a projector: large type and charts, no sidebar, and keys that go through a lesson."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_every_page import in_both_schemes
from tests.browser.test_lessons import button, expect_step
from tests.browser.visitor import Visitor

_SMALLEST = """selector => Math.min(...[...document.querySelectorAll(selector)]
  .filter(each => each.getBoundingClientRect().height && each.textContent)
  .map(each => parseFloat(getComputedStyle(each).fontSize)))"""
_OVERFLOW = """() => [document.scrollingElement, document.querySelector("[data-testid=stMain]")]
  .map(each => each.scrollWidth - each.clientWidth)"""


@pytest.fixture
def projected(visitor: Visitor) -> Visitor:
    visitor.page.set_viewport_size({"width": 960, "height": 540})
    return visitor


@pytest.mark.parametrize(("page", "seen"), [("attention", 0.8), ("norms", 1), ("step-by-step", 0.8), ("parts", 0.3)])
def test_at_960_by_540_everything_can_be_read(page: str, seen: float, projected: Visitor) -> None:
    projected.open(f"/{page}?present=true")
    for hidden in ("stSidebar", "stHeader"):
        expect(projected.page.get_by_test_id(hidden)).to_be_hidden()
    for _ in in_both_schemes(projected):
        assert projected.page.evaluate(_SMALLEST, ".stMain :is(p, li, label, summary, button, code)") >= 22
        assert projected.page.evaluate(_SMALLEST, ".js-plotly-plot :is(.xtick, .ytick) > text") >= 18
        assert projected.small_texts(18) == []
    assert projected.page.evaluate(_OVERFLOW) == [0, 0]
    chart = projected.page.locator(".plot").first
    expect(chart).to_be_in_viewport(ratio=seen)
    assert (chart.bounding_box() or {"width": 0})["width"] > 900


def test_keys_go_through_a_lesson_but_not_where_they_move_a_chart(projected: Visitor) -> None:
    projected.open("/attention?present=true&tour=1&lesson=pronoun")
    projected.page.keyboard.press("ArrowRight")
    expect_step(projected, 2, 4, "Why animal and not street?")
    projected.page.keyboard.press("PageUp")
    expect_step(projected, 1, 4, "Click that cell in the row of it.")
    key = projected.focused()["key"]
    projected.widget("attention_pattern").locator(".frame").focus()
    projected.page.keyboard.press("ArrowRight")
    projected.eventually(lambda: projected.focused()["key"] == key + 1, "another key")
    expect_step(projected, 1, 4, "it")
    projected.page.locator(".st-key-lesson_line p").first.click()
    projected.page.keyboard.press("PageDown")
    expect_step(projected, 2, 4, "Why animal and not street?")
    projected.page.keyboard.press("ArrowRight")
    expect_step(projected, 3, 4, "Guess")
    assert projected.query()["present"] == ["true"], "a step's own link goes on presenting"


def test_whoever_presents_goes_to_other_pages_and_leaves(projected: Visitor) -> None:
    projected.open("/norms?seed=3&weights=random")
    projected.unfold("More")
    button(projected, "present_start").click()
    expect(projected.page.get_by_test_id("stSidebar")).to_be_hidden()
    projected.settled()
    button(projected, "presenter").click()
    projected.page.get_by_test_id("stPopoverBody").get_by_role("link", name="Parameters").click()
    expect(projected.page).to_have_title(re.compile("^Parameters"))
    projected.eventually(lambda: projected.query()["present"] == ["true"], "the new page's address")
    assert projected.query()["seed"] == ["3"], "the hidden sidebar has lost nothing"
    projected.settled()
    button(projected, "presenter").click()
    button(projected, "present_end").click()
    expect(projected.page.get_by_test_id("stSidebar")).to_be_visible()
    projected.settled()
    assert "present" not in projected.query()
    button(projected, "undo").click()
    projected.settled()
    assert "present" not in projected.query(), "no Undo begins it again"
