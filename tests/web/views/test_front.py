"""The front page: what this is, a field for a sentence, and a card for each short lesson."""

from playground.learn.lesson import shipped_lessons
from tests.web.app_test import captions, choose, open_page, press, prose, working

TEXT = "Anna gave Tom the book because he had asked for one."


def test_every_short_lesson_has_a_card_with_its_steps_and_minutes() -> None:
    app = open_page("overview")
    shown = {str(button.key) for button in app.button if str(button.key).startswith("begin_")}
    assert shown == {"begin_parts", "begin_pronoun", "begin_negation", "begin_reverse"}
    for key in shown:
        lesson = shipped_lessons()[key.removeprefix("begin_")]
        assert lesson.title in prose(app)
        assert f"{len(lesson.steps)} steps · {lesson.minutes} minutes" in captions(app)


def test_what_is_typed_into_the_field_is_the_sidebars_text_and_several_lines_have_an_area() -> None:
    app = open_page("overview")
    app.text_input(key="front_text").set_value(TEXT)
    assert working(press(app, "front_look")).session_state["text"] == TEXT
    several = choose(app, text="one\ntwo")
    assert "front_text" not in {field.key for field in several.text_input}
    assert several.text_area(key="phone_text").value == "one\ntwo"
