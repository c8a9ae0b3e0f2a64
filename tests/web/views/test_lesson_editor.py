"""A lesson written on the page Lessons, without a browser: its steps, a question of the teacher's own, and its link."""

from hashlib import sha512
from urllib.parse import parse_qs, urlsplit

from streamlit.testing.v1 import AppTest

from playground.learn.lesson import Lesson, LessonStep, decode_lesson
from playground.link.params import MAX_STEPS
from tests.web.app_test import (
    SMALL,
    answer,
    charts,
    choose,
    open_page,
    open_panels,
    press,
    prose,
    sentences,
    small_trace,
    without_error,
    working,
)

TEXT = "cats purr"


def open_editor(**query: object) -> AppTest:
    return open_panels(open_page("lessons", **query), "lesson_own")


def draft(app: AppTest) -> Lesson:
    lesson: Lesson = app.session_state["_lesson_draft"]
    return lesson


def go_to(app: AppTest, page: str) -> AppTest:
    return working(app.switch_page(f"../../pages/{page}.py").run())


def add(app: AppTest, page: str, kind: str) -> AppTest:
    return press(working(app.selectbox(key="draft_page").select(page).run()), f"draft_add_{kind}")


def fill_in(app: AppTest, **texts: str) -> AppTest:
    """Type into fields, by the ends of their keys."""
    for name, text in texts.items():
        (field,) = (
            each for kind in (app.text_input, app.text_area) for each in kind if (each.key or "").endswith(name)
        )
        working(field.set_value(text).run())
    return app


def test_a_teacher_writes_a_lesson_and_a_student_answers_its_question() -> None:
    app = without_error(add(open_editor(**SMALL, text=TEXT, layer=1, head=2, query=3, key=5), "attention", "page"))
    app = fill_in(app, field_title="Cats", steps_0_words="Look at *this*.")
    app = go_to(choose(go_to(app, "parameters"), n_layers=1), "lessons")
    assert app.selectbox(key="draft_page").value == "parameters"
    app = without_error(add(app, "attention", "question"))
    assert app.text_area(key="draft_field_steps_0_words").value == "Look at *this*."
    assert [step.words for step in draft(app).steps] == ["Look at *this*.", ""]
    weight = small_trace(TEXT, n_layers=1)["layers.0.attn.pattern"][0, 2, 3, 5].item()
    (chosen,) = (each for each in app.selectbox if (each.key or "").endswith("truth"))
    assert f"attention weight of query “s” → key “p” in layer 0, head 2: {weight:.4g}" in chosen.options
    assert not sentences(app)
    app = fill_in(app, wrong_0_answer="25 %", wrong_0_feedback="One in four?", explanation="It is {= weight | .2f}.")
    app = without_error(press(app, "draft_up_1"))
    (link,) = (each.value for each in app.code if "/lessons?" in each.value)
    code = parse_qs(urlsplit(link).query)["lesson"][0]
    own, page = decode_lesson(code).steps
    assert own.own is not None
    assert page.link

    student = press(open_page("lessons", lesson=code, text="my own words"), "lesson_begin")
    assert "What is the attention weight of query “s” → key “p”" in prose(student)
    student = open_page("exercises", lesson=code, tour=1, exercises_key=own.own.key)  # on which AppTest stays
    assert set(charts(student)) == {"attention_pattern"}
    for number in ("1/4", f"{weight:.2g}"):
        student.text_input(key=f"answer_{own.own.key}_0").set_value(number)
        student = without_error(press(student, "exercise_check"))
        assert ("One in four?" in sentences(student)) == (number == "1/4")
    assert "2 tries" in answer(student)
    assert f"**Why.** It is {weight:.2f}." in prose(student)
    student = press(student, "lesson_next")
    assert (student.session_state["text"], student.session_state["n_layers"]) == (TEXT, 2)


def test_what_can_not_be_is_told_where_it_was_typed_and_the_draft_is_as_before() -> None:
    app = add(open_editor(**SMALL, text=TEXT), "parameters", "question")
    app = working(app.selectbox(key="draft_field_steps_0_own_answer_truth").select("d_head").run())
    assert app.text_area(key="draft_field_steps_0_own_question").value == "What is the width of a head?"
    before = draft(app)
    app = fill_in(app, steps_0_words="See <b>this</b>", wrong_0_answer="ten", field_title="")
    assert sentences(app).splitlines() == [
        "String should have at least 1 character.",
        "Texts are Markdown without HTML: write `<` with a space behind it.",
        "“ten” is not a number. Try 0.25, 1/4 or 25 %.",
    ]
    assert draft(app) == before
    app = fill_in(app, steps_0_words="See", wrong_0_answer="4.05", field_title="Mine")
    assert sentences(app) == "Wrong answer 1 needs a number and feedback."
    assert "within the tolerance" in sentences(fill_in(app, wrong_0_feedback="No."))
    assert not app.code, "no link"


def test_steps_are_taken_away_and_a_lesson_has_at_most_so_many_and_so_much() -> None:
    noise = "".join(sha512(str(n).encode()).hexdigest() for n in range(90))
    app = open_editor()
    steps = [LessonStep(words=noise[2_900 * n :][:2_900] or "-") for n in range(MAX_STEPS)]
    app.session_state["_lesson_draft"] = Lesson(title="Long", steps=steps)
    app = working(app.run())
    assert "draft_add_page" not in {button.key for button in app.button}
    assert "at most 6,000 are taken" in sentences(app)
    app = press(app, "draft_delete_0")
    assert draft(app).steps == steps[1:]
    assert app.text_area(key="draft_field_steps_0_words").value == steps[1].words
    assert draft(press(app, "draft_discard")) == Lesson(title="A lesson of mine")


def test_weights_that_students_do_not_have_are_refused() -> None:
    app = open_editor()
    app.session_state["weights"] = "trained here"
    assert "Your students do not have these weights" in sentences(add(app, "attention", "question"))
