"""A lesson in the browser: built by a teacher, opened by a student from its link, taught to its end, printed."""

import json
import re

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from playground.learn.lesson import Lesson, LessonStep, encode_lesson, read_lesson
from tests.browser.test_every_page import expect_readable
from tests.browser.visitor import Visitor

MINE = Lesson(
    title="Two things",
    steps=[
        LessonStep(words="Look at *this*.", link="attention?text=dogs+bark&weights=random&n_layers=2"),
        LessonStep(words="Now say.", exercise="number-of-heads"),
    ],
)
CODE = encode_lesson(MINE)


def button(visitor: Visitor, key: str) -> Locator:
    return visitor.widget(key).get_by_role("button")


def step(visitor: Visitor, place: int) -> Locator:
    return visitor.widget(f"lesson_step_{place}")


def expect_step(visitor: Visitor, number: int, n_steps: int, words: str) -> None:
    """The bar is in sight, and the address has the place."""
    line = visitor.widget("tour_line")
    expect(line).to_contain_text(f"step {number} of {n_steps}")
    expect(line).to_contain_text(words)
    visitor.eventually(lambda: visitor.query()["tour"] == [str(number)], f"step {number} in the address")
    visitor.settled()
    expect(line).to_be_in_viewport(ratio=0.9)


def test_a_teacher_builds_a_lesson_and_tries_it(visitor: Visitor) -> None:
    visitor.open("/lessons")
    button(visitor, "lesson_new").click()
    words = step(visitor, 0).locator("textarea")
    words.fill("Look at *this*.")
    words.press("Control+Enter")
    visitor.settled()
    step(visitor, 0).get_by_text("a page", exact=True).click()
    link = step(visitor, 0).get_by_label("Its link")
    link.fill(f"{visitor.server.url}/attention?text=dogs+bark&weights=random&n_layers=2")
    link.press("Enter")
    visitor.settled()
    button(visitor.settled(), "lesson_add").click()
    step(visitor, 1).get_by_text("an exercise", exact=True).click()
    exercise = step(visitor, 1).get_by_role("combobox", name="Exercise")
    exercise.fill("Do more heads")
    visitor.page.get_by_role("option", name="Do more heads cost more?").click()
    expect(visitor.widget("answer")).to_contain_text("It holds")
    button(visitor, "lesson_try").click()
    expect_step(visitor, 1, 2, "Look at this.")
    expect(visitor.page.locator("h1")).to_contain_text("Who attends to whom?")
    button(visitor, "tour_end").click()
    expect(visitor.widget("tour_line")).to_have_count(0)
    visitor.settled()


def test_a_student_takes_a_lesson_with_a_finger(phone: Visitor) -> None:
    phone.open(f"/lessons?lesson={CODE}")
    expect(phone.page.locator("h1")).to_contain_text("Two things")
    button(phone, "lesson_begin").tap()
    expect_step(phone, 1, 2, "Look at this.")
    assert phone.query()["text"] == ["dogs bark"]
    button(phone, "tour_skip").tap()
    expect_step(phone, 2, 2, "Now say.")
    phone.page.reload()
    expect_step(phone, 2, 2, "Now say.")
    form = phone.page.get_by_test_id("stForm").or_(phone.widget("exercise_form")).first
    form.get_by_text("It stays the same").tap()
    button(phone, "exercise_check").tap()
    expect(phone.widget("exercise_feedback")).to_contain_text("Right.")
    button(phone, "tour_skip").tap()
    expect(phone.widget("tour_conclusion")).to_contain_text("You have found 1 of 1 answer.")
    button(phone, "tour_lessons").tap()
    expect(phone.page.locator("h1")).to_contain_text("Which lesson?")
    assert "lesson" not in phone.settled().query()
    phone.assert_well()


def test_what_was_typed_is_there_when_a_button_is_pressed_at_once(visitor: Visitor) -> None:
    """The press takes the focus from the field, which sends what was typed: both arrive together."""
    visitor.open(f"/lessons?lesson={CODE}&lessons_view=editor")
    step(visitor, 0).locator("textarea").fill("Typed just now.")
    button(visitor, "lesson_down_0").click()
    # For a moment the step as it was stands there too, with a field of its own.
    fields, read = step(visitor, 1).locator("textarea"), "all => all.map(each => each.value)"
    visitor.eventually(lambda: fields.evaluate_all(read) == ["Typed just now."], "the typed words, one step lower")
    visitor.settled()
    step(visitor, 1).locator("textarea").fill("And once more.")
    button(visitor, "lesson_try").click()
    expect_step(visitor, 1, 2, "Now say.")
    button(visitor, "tour_skip").click()
    expect_step(visitor, 2, 2, "And once more.")
    visitor.assert_well()


def test_a_shipped_lesson_from_start_to_end(phone: Visitor) -> None:
    """Every step of it opens, with its words; every lesson without a browser: tests/web/views/test_lessons_page.py."""
    phone.open("/lessons")
    button(phone, "begin_why-norms-and-residuals").tap()
    for number in range(1, 11):
        expect(phone.widget("tour_line")).to_contain_text(f"step {number} of 10")
        phone.settled().assert_well()
        button(phone, "tour_skip").tap()
    expect(phone.widget("tour_conclusion")).to_contain_text("That was the last step.")


def test_back_leads_to_the_state_before_by_keyboard(visitor: Visitor) -> None:
    visitor.open(f"/lessons?lesson={CODE}")
    button(visitor, "lesson_begin").press("Enter")
    expect_step(visitor, 1, 2, "Look")
    visitor.type_text("cats purr")
    expect(visitor.widget("answer")).to_contain_text(re.compile("cats|purr"))
    button(visitor, "tour_open").press("Enter")
    expect(visitor.widget("answer")).to_contain_text(re.compile("dogs|bark"))
    button(visitor, "tour_skip").press("Enter")
    expect_step(visitor, 2, 2, "Now")
    button(visitor, "tour_back").press("Enter")
    expect_step(visitor, 1, 2, "Look")
    expect(visitor.page.locator("h1")).to_contain_text("Who attends to whom?")
    visitor.assert_well()


@pytest.mark.parametrize("view", ["lesson", "teacher", "editor", "handout", "answers"])
def test_every_view_is_accessible_and_fits_on_a_phone(view: str, phone: Visitor) -> None:
    phone.open(f"/lessons?lesson={CODE}&lessons_view={view}")
    assert phone.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    expect_readable(phone)


def test_what_can_be_taken_along_is_the_lesson(visitor: Visitor) -> None:
    visitor.open(f"/lessons?lesson={CODE}&lessons_view=teacher")
    saved = {}
    for key in ("lesson_notebook", "lesson_file_save"):
        with visitor.page.expect_download() as download:
            button(visitor, key).click()
        saved[key] = download.value.path().read_text(encoding="utf-8")
    nbformat.validate(json.loads(saved["lesson_notebook"]))
    assert read_lesson(saved["lesson_file_save"]) == MINE
    visitor.assert_well()


def test_a_handout_is_printed_whole_and_without_menus(visitor: Visitor) -> None:
    visitor.open("/lessons?lesson=attention-in-30-minutes&lessons_view=handout")
    expect(visitor.widget("handout")).to_contain_text("Step 13")
    visitor.page.emulate_media(media="print")
    expect(visitor.page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(visitor.page.get_by_test_id("stHeader")).to_be_hidden()
    page_height = visitor.page.evaluate("document.scrollingElement.scrollHeight")
    assert page_height > visitor.page.locator(".st-key-handout").bounding_box()["height"] > 1000  # type: ignore[index]
    visitor.page.emulate_media(media="screen")
    visitor.assert_well()


def test_a_broken_link_is_one_sentence(visitor: Visitor) -> None:
    """Links that are broken otherwise: tests/web/views/test_lessons_page.py."""
    visitor.open(f"/attention?lesson=~{'A' * 5000}&tour=1")
    expect(visitor.page.get_by_test_id("stAlert")).to_contain_text("lesson")
    assert "attention_pattern" in visitor.charts()
    visitor.assert_well()
