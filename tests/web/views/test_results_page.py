"""The Results page without a browser, and the code that a lesson gives at its end."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.answers import Option
from playground.learn.lesson import Lesson, LessonStep, encode_lesson
from playground.learn.results import Task, lesson_hash, read_code, write_code
from playground.web.session.services import other_services, services
from playground.web.views.exercises import Attempt
from tests.learn.test_results import KEY, a_class, change
from tests.web.app_test import (
    SMALL,
    answer,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    press,
    sentences,
    table,
    upload,
    working,
)

GUESS = [Option(text="no", when="1 > 2"), Option(text="yes", when="1 < 2")]
STEPS = [LessonStep(words="Read."), LessonStep(guess=GUESS), LessonStep(done="config[n_heads] == 2")]
LESSON = Lesson(title="What is *it*?", steps=[*STEPS, LessonStep(exercise="number-of-heads")])


@pytest.fixture(autouse=True)
def key() -> Iterator[None]:
    """A server that signs."""
    with other_services(settings=replace(services().settings, results_key=KEY)):
        yield


def paste(app: AppTest, text: str) -> AppTest:
    return working(app.text_area(key="results_codes").set_value(text).run())


def test_a_class_is_a_chart_a_table_and_a_sentence_and_no_link_holds_it() -> None:
    app = working(open_page("results"))
    assert "Paste the codes" in answer(app)
    app = paste(app, "\n".join([*a_class(), a_class()[7], a_class()[0][:40]]))
    assert "All answers of “Mine”: found by **6** of **60**. Found least: step 3, by **6**. Not signed" in answer(app)
    assert {bar["name"]: array([bar], name="x").tolist() for bar in charts(app)["results_tries"]} == {
        "try 1": [30, 6], "try 2": [20, 0], "try 3": [4, 0], "try 4 or later": [3, 0],
        "earlier, unchecked": [2, 0], "not found": [1, 54],
    }  # fmt: skip
    assert len(table(app, "signed")) == 60
    assert "Lines left out: 1" in sentences(app)
    assert "Line 62: This code is damaged" in captions(app)
    assert "Codes not counted: 1" in captions(app)
    assert component_data(app, "address_guard")["parameters"] == {}
    assert "checked all answers but the *earlier* ones" in captions(app)
    with other_services(settings=replace(services().settings, results_key="")):
        app = paste(app, write_code(change(title="[a](b)")))
    assert "has no key" in captions(app)
    assert "signed" not in table(app, "name")
    assert r"\[a\]\(b\)”: found by **0** of **1**. Found least: step 5, by **0**. Not signed: **1**" in answer(app)


def test_a_file_takes_the_place_of_what_was_pasted_and_a_second_lesson_is_chosen() -> None:
    codes = [*a_class(), write_code(change(title="Another"), KEY)]
    app = upload(open_page("results"), "results_file", b"name;code\nx;" + "\nx;".join(codes).encode(), "a.csv")
    assert str(app.text_area(key="results_codes").value).endswith(codes[-1])
    assert "Line 1: There is no code" in captions(app)
    (menu,) = (box for box in app.selectbox if box.label == "Lesson")
    assert menu.options == ["Mine, version 0123abcd (60)", "Another, version 0123abcd (1)"]
    assert "“Another”" in answer(working(menu.set_value(1).run()))
    assert "at most 500" in sentences(paste(app, "x\n" * 501))


def test_the_last_step_of_a_lesson_gives_a_code_of_what_was_found_at_which_try() -> None:
    app = open_page("attention", **SMALL, lesson=encode_lesson(LESSON), tour=2)
    assert "lesson_code" not in app.session_state
    press(app, "lesson_guess_0")
    press(press(app, "lesson_back"), "lesson_next")
    press(press(app, "lesson_guess_1"), "lesson_next")
    press(choose(app, n_heads=2), "lesson_next")
    app.session_state["lesson_code"] = True
    found = read_code(working(app.run()).code[0].value, KEY)
    assert found.is_signed
    assert found.result.tasks == (Task(2, 2, "found"), Task(3, 1, "found"), Task(4, 0, "open"))
    assert (found.result.title, found.result.lesson) == ("What is it?", lesson_hash(LESSON))
    app.text_input(key="results_name").set_value("  Ada \u202e 7 ").run()
    assert "which answers" in captions(app)
    assert read_code(app.code[0].value, KEY).result.name == "Ada 7"


def test_an_answer_given_up_or_of_an_earlier_session_is_told_apart_and_words_alone_give_no_code() -> None:
    lesson = encode_lesson(Lesson(title="Two", steps=[LessonStep(exercise="number-of-heads")]))
    app = open_page("exercises", exercises_key="number-of-heads", lesson=lesson, tour=1)
    app.session_state["_exercises"] = {"results": {"number-of-heads": "found"}}
    app.session_state["lesson_code"] = True
    assert read_code(working(app.run()).code[0].value).result.tasks == (Task(1, 0, "found"),)
    assert "earlier session: **found**" in answer(app)
    app.session_state["_exercises"] = {("number-of-heads", 0): Attempt(tries=2)}
    app = press(working(app.run()), "exercise_give_up")
    assert read_code(app.code[0].value).result.tasks == (Task(1, 2, "given up"),)
    words = encode_lesson(Lesson(title="Words", steps=[LessonStep(words="Read.")]))
    assert "lesson_code" not in open_page("attention", **SMALL, lesson=words, tour=1).session_state
