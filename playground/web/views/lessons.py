"""The page Lessons: a list of those that are there, or one of them."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts.chart import Paragraph
from playground.charts.names import escape_markdown
from playground.errors import InputError
from playground.learn.lesson import Lesson, find_lesson, is_code, read_lesson, shipped_lessons
from playground.text.wording import count_noun
from playground.web.choices.setup import current_value
from playground.web.components import request_scroll
from playground.web.shared import navigation, panels, saving
from playground.web.shared.renderer import render
from playground.web.views.lesson_editor import DRAFT, begin_draft, draw_editor
from playground.words import say

_TOP, _OWN = "lessons_top", "lesson_own"
"""Keys of what the page scrolls to."""


def draw_lessons() -> None:
    """Draw the whole page: the lesson that the link names, else the list."""
    name = st.session_state["lesson"] = str(current_value("lesson"))  # no widget has it
    if not name:
        _draw_list()
        return
    try:
        _draw_lesson(name, find_lesson(name))
    except InputError as error:
        _draw_list(escape_markdown(error))


def draw_cards(lessons: Mapping[str, Lesson], key: str, *, has_link: bool = False) -> None:
    """Draw a card for each lesson, four in a row."""
    with st.container(key=key):
        columns = [column for _ in range(0, len(lessons), 4) for column in st.columns(4, gap="small")]
        for column, (name, lesson) in zip(columns, lessons.items(), strict=False):
            with column, st.container(key=f"card_{name}", border=True, gap="xsmall", height="stretch"):
                st.markdown(f"## {lesson.title}")
                st.markdown(lesson.about)
                st.caption(_measure(lesson))
                with st.container(horizontal=True):
                    _draw_begin_button(name)
                    if has_link:
                        label = say("lessons", "look")
                        st.button(label, key=f"look_{name}", type="tertiary", on_click=_open, args=(name,))


def _draw_begin_button(name: str, key: str = "") -> None:
    label, icon, begin = say("lessons", "begin"), ":material/play_arrow:", navigation.begin_lesson
    st.button(label, key=key or f"begin_{name}", type="primary", icon=icon, on_click=begin, args=(name,))


def _measure(lesson: Lesson) -> str:
    counts = {"exercise": sum(step.asked is not None for step in lesson.steps), "minute": lesson.minutes}
    return " · ".join(
        [count_noun(len(lesson.steps), "step"), *(count_noun(n, name) for name, n in counts.items() if n)]
    )


def _draw_list(problem: str = "") -> None:
    lessons = shipped_lessons()
    with st.container(key=_TOP):
        panels.draw_heading(say("lessons", "which"))
    render([Paragraph(say("lessons", "first", title=next(iter(lessons.values())).title), "answer")])
    st.caption(say("lessons", "brings"))
    if problem:
        st.warning(problem)
    draw_cards(lessons, "lessons_cards", has_link=True)
    panel = st.expander(say("lessons", "own"), DRAFT in st.session_state, key=_OWN, on_change="rerun")
    with panel:
        if panel.open:
            draw_editor()
        st.markdown(say("lessons", "own-file"))
        saving.draw_uploader(say("lessons", "upload"), "lesson_file", _open_file, max_upload_size=1)


def _draw_lesson(name: str, lesson: Lesson) -> None:
    with st.container(key=_TOP):
        back: dict[str, Any] = {"icon": ":material/arrow_back:", "on_click": _open, "args": ("",)}
        st.button(say("lessons", "all"), key="lesson_list", type="tertiary", **back)
        panels.draw_heading(lesson.title)
    render([Paragraph(lesson.about or _measure(lesson), "answer")])
    st.caption(_measure(lesson) + (f" · {say('lessons', 'stranger')}" if is_code(name) else ""))
    if lesson.steps and not navigation.lesson_name():
        _draw_begin_button(name, "lesson_begin")
        st.caption(say("lessons", "brings"))
    edit: dict[str, Any] = {"icon": ":material/edit:", "on_click": _edit, "args": (lesson,)}
    st.button(say("lessons", "edit"), key="lesson_edit", type="tertiary", **edit)


def _open(name: str) -> None:
    """Show a lesson, or leave it and show all."""
    if not name:
        navigation.leave_lesson()
    st.session_state["lesson"] = name
    request_scroll(_TOP)


def _edit(lesson: Lesson) -> None:
    begin_draft(lesson)
    _open("")
    request_scroll(_OWN)


def _open_file(file: UploadedFile) -> None:
    _edit(read_lesson(file.getvalue().decode(errors="replace"), file.name))
