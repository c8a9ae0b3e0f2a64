"""The Lessons page without a browser: the list, one lesson, and files."""

from urllib.parse import urlencode

from playground.learn.lesson import FOLDER, shipped_lessons
from tests.web.app_test import open_page, open_panels, press, sentences, upload, without_error, words, working
from tests.web.shared.test_lesson_line import CODE

FILE = FOLDER / "parts.yaml"


def test_the_list_has_every_lesson() -> None:
    app = without_error(open_page("lessons"))
    assert all(lesson.title in words(app) for lesson in shipped_lessons().values())
    assert len(shipped_lessons()) == 7
    app = press(app, "look_parts")
    assert app.title[0].value == shipped_lessons()["parts"].title
    assert press(app, "lesson_list").title[0].value == "Which lesson?"


def test_a_lessons_link_and_its_file_are_in_the_editor_alone() -> None:
    app = without_error(open_page("lessons", lesson=CODE))
    assert not any("lesson=" in block.value for block in app.code)
    app = open_panels(press(app, "lesson_edit"), "lesson_own")
    assert app.code[0].value.endswith(f"/lessons?{urlencode({'lesson': CODE})}")
    assert app.text_input(key="draft_field_title").value == "Mine"


def test_a_broken_lesson_is_one_sentence_above_the_list() -> None:
    app = without_error(open_page("lessons", lesson=CODE[: len(CODE) // 2]))
    assert "lesson" in sentences(app)
    assert app.title[0].value == "Which lesson?"


def test_a_file_is_opened_or_said_to_be_none_until_another_is_opened() -> None:
    app = open_page("lessons")
    for data in (b"\xff\xfe\x00", b"title: x\nsteps: [{words: '<b>'}]", b"x" * 200_000):
        app = upload(app, "lesson_file", data, "bad.yaml")
        assert "bad.yaml" in sentences(working(app))
    app = upload(app, "lesson_file", FILE.read_bytes(), "mine.yaml")
    assert app.session_state["_lesson_draft"] == shipped_lessons()["parts"]
    assert "bad" not in sentences(app)
