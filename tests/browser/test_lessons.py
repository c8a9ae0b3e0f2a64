"""Lessons in a browser: from the front page and by link, with a finger and by keyboard."""

from playwright.sync_api import Locator, expect

from playground.learn.lesson import Lesson, LessonStep, encode_lesson
from tests.browser.test_every_page import expect_readable
from tests.browser.visitor import Visitor

CODE = encode_lesson(
    Lesson(
        title="Two things",
        steps=[
            LessonStep(words="Look at *this*.", link="attention?text=dogs+bark&weights=random&n_layers=2"),
            LessonStep(words="Now say.", exercise="number-of-heads"),
        ],
    )
)
IT, ANIMAL = 10, 2


def button(visitor: Visitor, key: str) -> Locator:
    return visitor.widget(key).get_by_role("button")


def expect_step(visitor: Visitor, number: int, n_steps: int, words: str) -> None:
    """The line is in sight, and the address has the place."""
    line = visitor.widget("lesson_line")
    expect(line).to_contain_text(f"step {number} of {n_steps}")
    expect(line).to_contain_text(words)
    visitor.eventually(lambda: visitor.query()["tour"] == [str(number)], f"step {number} in the address")
    visitor.settled()
    expect(line).to_be_in_viewport(ratio=0.9)


def test_from_the_front_page_a_newcomer_comes_to_a_tested_answer(visitor: Visitor) -> None:
    visitor.open("/")
    button(visitor, "begin_pronoun").click()
    expect(visitor.page.locator("h1")).to_contain_text("Who attends")
    expect_step(visitor, 1, 4, "Click that cell in the row of it.")
    expect(visitor.page.get_by_role("status").filter(has_text="step 1")).to_have_count(1)
    expect(visitor.widget("beside_map")).to_be_hidden()
    visitor.click_cell("attention_pattern", IT, ANIMAL)
    expect_step(visitor, 1, 4, "it gives animal a weight of 0.68")
    button(visitor, "lesson_next").click()
    expect_step(visitor, 2, 4, "Why animal and not street?")
    expect(visitor.widget("why_parts").locator(".bar").first).to_be_in_viewport()
    button(visitor, "lesson_next").click()
    expect_step(visitor, 3, 4, "Guess")
    expect(visitor.widget("attention_top")).to_be_hidden()
    expect_readable(visitor)
    button(visitor, "lesson_guess_0").press("Enter")
    expect_step(visitor, 3, 4, "Not so. street gets 0.52")
    expect(visitor.widget("attention_top")).to_be_visible()
    button(visitor, "lesson_end").click()
    expect(visitor.widget("lesson_line")).to_have_count(0)
    visitor.settled()


def test_a_student_takes_a_lesson_with_a_finger(phone: Visitor) -> None:
    phone.open(f"/lessons?lesson={CODE}")
    expect(phone.page.locator("h1")).to_contain_text("Two things")
    expect_readable(phone)
    button(phone, "lesson_begin").tap()
    expect_step(phone, 1, 2, "Look at this.")
    assert phone.query()["text"] == ["dogs bark"]
    assert phone.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    button(phone, "lesson_next").tap()
    expect_step(phone, 2, 2, "Now say.")
    phone.page.reload()
    expect_step(phone, 2, 2, "Now say.")
    button(phone, "lesson_end").tap()
    expect(phone.page.locator("h1")).to_contain_text("Which lesson?")
    assert {"lesson", "exercises_key"}.isdisjoint(phone.settled().query())
