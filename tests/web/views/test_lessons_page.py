"""The Lessons page without a browser: the list, a lesson on its way, the editor, and links that are broken."""

from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.lesson import Lesson, LessonStep, decode_lesson, encode_lesson, shipped_lessons, write_lesson
from tests.web.app_test import open_page, press, sentences, upload, values, widgets, without_error, words, working

MINE = Lesson(
    title="Mine",
    steps=[
        LessonStep(
            words="Look at *this*.", link="attention?text=dogs+bark&weights=random&n_layers=2&n_heads=3&d_model=96"
        ),
        LessonStep(words="Now say.", exercise="number-of-heads"),
        LessonStep(words="Think."),
    ],
)
CODE = encode_lesson(MINE)


def place(app: AppTest) -> tuple[str, int]:
    """The lesson and the step that the session is at."""
    return str(app.session_state["lesson"]), int(app.session_state["tour"])


def test_the_list_has_every_lesson_and_begins_one() -> None:
    app = without_error(open_page("lessons"))
    assert all(lesson.title in words(app) for lesson in shipped_lessons().values())
    press(app, "begin_attention-in-30-minutes")
    assert place(app) == ("attention-in-30-minutes", 1)
    assert app.title[0].value == open_page("attention").title[0].value
    assert "step 1 of 13" in words(app)


@pytest.mark.long
def test_a_lesson_opens_each_state_and_keeps_its_place() -> None:
    app = press(open_page("lessons", lesson=CODE), "lesson_begin")
    assert place(app) == (CODE, 1)
    assert values(app, "text", "n_layers") == {"text": "dogs bark", "n_layers": 2}
    assert "Look at *this*." in words(app)
    app.session_state["n_layers"] = 5
    working(app.run())
    press(app, "tour_open")
    assert values(app, "n_layers") == {"n_layers": 2}
    press(app, "tour_skip")
    assert place(app) == (CODE, 2)
    assert "Do more heads cost more?" in app.title[0].value
    press(app, "tour_skip")
    assert "Think." in words(app)
    press(app, "tour_skip")
    assert "That was the last step. You have found 0 of 1 answer. " in words(app)
    assert "Still missing: *Do more heads cost more?*." in words(app)
    press(app, "tour_back")
    assert place(app) == (CODE, 3)
    press(app, "tour_end")
    assert place(app) == ("", 0)


def test_a_lesson_that_was_left_leads_back_to_all_lessons_and_goes_on_where_it_was() -> None:
    app = press(press(open_page("lessons"), "begin_attention-in-30-minutes"), "tour_skip")
    press(app, "tour_end")
    assert app.title[0].value == "Which lesson?"
    assert place(app) == ("", 0)
    press(app, "continue_attention-in-30-minutes")
    assert place(app) == ("attention-in-30-minutes", 2)
    app = press(open_page("lessons", lesson="attention-in-30-minutes", tour=3), "lesson_list")
    assert place(app) == ("", 0)
    assert app.button(key="continue_attention-in-30-minutes").label == "Continue at step 3"


OWN = {"text": "cats purr", "weights": "random", "n_layers": 3, "n_heads": 4, "d_model": 64}


def begun(**own: Any) -> AppTest:
    """A session with choices of its own, which has begun the lesson."""
    return press(open_page("lessons", lesson=CODE, **own), "lesson_begin")


def test_a_lessons_end_brings_back_what_there_was() -> None:
    app = begun(**OWN)
    assert values(app, *OWN) != OWN
    app = press(press(app, "tour_skip"), "tour_end")
    assert values(without_error(app), *OWN) == OWN


@pytest.mark.parametrize(
    ("changed", "kept"), [({"text": "birds sing"}, {"text"}), ({"n_layers": 5}, {*OWN} - {"text"})]
)
def test_what_was_changed_on_the_way_is_kept(changed: dict[str, Any], kept: set[str]) -> None:
    app = begun(**OWN)
    for key, value in changed.items():
        app.session_state[key] = value
    before = values(working(app.run()), *OWN)
    app = press(app, "tour_end")
    assert values(app, *OWN) == {key: before[key] if key in kept else OWN[key] for key in OWN}


def test_a_lesson_that_came_with_a_link_leaves_its_state() -> None:
    app = press(open_page("attention", lesson=CODE, tour=1, text="dogs bark"), "tour_end")
    assert values(app, "text") == {"text": "dogs bark"}


@pytest.mark.long
@pytest.mark.parametrize("name", shipped_lessons())
def test_every_shipped_step_leads_back_to_what_there_was(name: str) -> None:
    app = press(open_page("lessons", **OWN), f"begin_{name}")
    for _ in shipped_lessons()[name].steps[1:]:
        app = press(app, "tour_skip")
    app = press(app, "tour_end")
    assert values(app, *OWN) == OWN


def test_a_steps_line_is_its_whole_first_sentence() -> None:
    long = (
        "This sentence goes on\nfor more than a line, with words that say what is to be seen in the map above all. And"
    )
    app = open_page("lessons", lesson=encode_lesson(Lesson(title="x", steps=[LessonStep(words=long)])))
    assert long.replace("\n", " ").removesuffix(". And") in words(app)


def test_what_was_found_is_counted_at_the_end() -> None:
    app = open_page("exercises", lesson=CODE, tour=2, exercises_key="number-of-heads")
    press(widgets_answered(app), "exercise_check")
    press(app, "tour_skip")
    press(app, "tour_skip")
    assert "You have found 1 of 1 answer." in words(app)
    press(app, "tour_lessons")
    assert app.title[0].value == "Which lesson?"


def widgets_answered(app: AppTest) -> AppTest:
    """The exercise on heads with its right answer chosen."""
    radio = next(each for each in app.radio if "stays" in str(each.options))
    radio.set_value(next(option for option in radio.options if "stays" in option))
    return app


@pytest.mark.parametrize("lesson", [CODE[: len(CODE) // 2], "~", "~AAAA", "nothing", "~" + "x" * 7000])
@pytest.mark.parametrize("page", ["lessons", "attention"])
def test_a_broken_lesson_is_one_sentence_and_the_page_runs(lesson: str, page: str) -> None:
    app = without_error(open_page(page, lesson=lesson, tour=2))
    assert place(app) == ("", 0)
    assert sentences(app).count("lesson") >= 1
    assert app.title[0].value == open_page(page).title[0].value


def test_a_lesson_of_which_a_step_is_missing_goes_on() -> None:
    steps = [LessonStep(exercise="gone"), LessonStep(link="nowhere"), LessonStep(words="Here.")]
    app = without_error(open_page("attention", lesson=encode_lesson(Lesson(title="x", steps=steps)), tour=1))
    assert "“gone”, which is not here" in words(app)
    press(app, "tour_skip")
    assert "“nowhere” is no link" in words(app)
    press(app, "tour_skip")
    assert "Here." in words(app)


def draft(app: AppTest) -> Lesson:
    return decode_lesson(app.session_state["lesson"])


def field(app: AppTest, name: str, place: int) -> str:
    """The key of a field of the editor."""
    (found,) = (key for key in fields(app) if key.endswith(f"_{place}_{name}"))
    return found


def fields(app: AppTest) -> dict[str, Any]:
    return widgets(app) | {each.key: each for each in (*app.text_input, *app.button_group) if each.key}


def fill(app: AppTest, name: str, place: int, value: object) -> AppTest:
    key = field(app, name, place)
    fields(app)[key].set_value(value)
    return working(app.run())


def test_a_lesson_is_built_from_nothing() -> None:
    app = press(open_page("lessons"), "lesson_new")
    fill(app, "title", -1, "Two things")
    fill(app, "words", 0, "First *this*.")
    press(app, "lesson_add")
    fill(app, "beside", 1, "a page")
    fill(app, "link", 1, "https://somewhere.example/norms?norms_view=cosines&tour=3&lesson=x")
    press(app, "lesson_add")
    fill(app, "beside", 2, "an exercise")
    assert "Step 3: It has no words" in sentences(app)
    fill(app, "exercise", 2, "temperature")
    fill(app, "variant", 2, 4)
    built = [
        ("First *this*.", ""),
        ("", "norms?norms_view=cosines"),
        ("", "exercises?exercises_key=temperature&exercises_variant=4"),
    ]
    assert [(step.words, step.address) for step in draft(app).steps] == built
    assert sentences(app) == ""
    press(app, "lesson_up_2")
    assert [step.address for step in draft(app).steps] == ["", built[2][1], built[1][1]]
    press(app, "lesson_remove_0")
    assert [step.address for step in draft(app).steps] == [built[2][1], built[1][1]]
    fill(app, "beside", 0, "nothing")
    assert draft(app).steps[0] == LessonStep()
    assert draft(app).title == "Two things"


def test_what_cannot_be_is_told_and_loses_nothing() -> None:
    app = press(open_page("lessons"), "lesson_new")
    before = draft(app)
    fill(app, "words", 0, "Look <script>alert(1)</script>")
    assert "HTML" in sentences(app)
    assert draft(app) == before
    key = field(app, "words", 0)
    assert fields(app)[key].value == "Look <script>alert(1)</script>", "what was typed is still there"
    fill(app, "words", 0, "Look.")
    assert draft(app).steps[0].words == "Look."
    assert sentences(app) == ""


def test_a_draft_is_tried_and_comes_back() -> None:
    app = press(open_page("lessons", lesson=CODE, lessons_view="editor"), "lesson_try")
    assert place(app) == (CODE, 1)
    press(app, "tour_end")
    app = without_error(app.switch_page("../../pages/lessons.py").run())
    press(app, "lesson_draft")
    assert draft(app) == MINE


def test_a_file_is_opened_or_said_to_be_none() -> None:
    app = upload(open_page("lessons"), "lesson_file", write_lesson(MINE).encode(), "mine.yaml")
    assert app.title[0].value == "Mine"
    for data in (b"\xff\xfe\x00", b"- 1", b"a: *b", b"title: x\nsteps: [{words: '<b>'}]", b"x" * 200_000):
        app = upload(open_page("lessons"), "lesson_file", data, "bad.yaml")
        assert "bad.yaml" in sentences(working(app))


def test_a_file_that_breaks_its_reader_is_told_too_until_another_is_opened() -> None:
    app = upload(open_page("lessons"), "lesson_file", b"title: !!timestamp x", "hostile.yaml")
    assert "“hostile.yaml” can't be used." in sentences(app)
    assert "hostile" in sentences(working(app.run()))
    app = upload(app, "lesson_file", write_lesson(MINE).encode(), "mine.yaml")
    assert app.title[0].value == "Mine"
    assert "hostile" not in sentences(press(app, "lesson_list"))


@pytest.mark.parametrize(("view", "told"), [("handout", False), ("answers", True)])
def test_a_handout_is_shown(view: str, told: bool) -> None:
    app = without_error(open_page("lessons", lesson=CODE, lessons_view=view))
    assert "Look at *this*." in words(app)
    assert ("**Answer.**" in words(app)) is told


@pytest.mark.parametrize("beside", ["a page", "an exercise"])
def test_what_is_chosen_beside_the_words_stays_until_it_is_filled_in_or_taken_back(beside: str) -> None:
    app = press(open_page("lessons"), "lesson_new")
    fill(app, "beside", 0, beside)
    press(app, "lesson_add")
    fill(app, "words", 1, "More.")
    for key, at in (("lesson_up_1", 1), ("lesson_remove_0", 0)):
        press(app, key)
        assert fields(app)[field(app, "beside", at)].value == beside
        assert f"Step {at + 1}: choose {beside}" in sentences(app)
    fill(app, "beside", 0, "nothing")
    assert sentences(app) == ""


def test_what_is_for_teachers_is_not_behind_the_students_link() -> None:
    ours = {"lesson_answers", "lesson_handout", "lesson_edit"}
    app = without_error(open_page("lessons", lesson=CODE))
    assert not ours & {button.key for button in app.button}
    assert not app.get("download_button")
    teacher = without_error(open_page("lessons", lesson=CODE, lessons_view="teacher"))
    assert ours <= {button.key for button in teacher.button}
    assert any(block.value.endswith(f"/lessons?{urlencode({'lesson': CODE})}") for block in teacher.code)
    assert app.session_state["lessons_view"] == "lesson"
    assert press(press(teacher, "lesson_answers"), "lesson_back").session_state["lessons_view"] == "teacher"
