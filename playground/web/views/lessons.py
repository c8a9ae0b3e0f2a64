"""The page Lessons: a list of those that are there, or one of them with its link."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts.chart import Paragraph
from playground.charts.names import escape_markdown
from playground.errors import InputError
from playground.learn.lesson import (
    FOLDER,
    Lesson,
    encode_lesson,
    find_lesson,
    is_code,
    read_lesson,
    shipped_lessons,
)
from playground.text.wording import count_noun
from playground.web.choices.setup import current_value
from playground.web.components import request_scroll
from playground.web.shared import navigation, panels, saving
from playground.web.shared.navigation import current_server
from playground.web.shared.renderer import render

_TOP = "lessons_top"
"""Key of what stands first on the page, to which it scrolls."""

_IN_A_ROW = 4
"""Cards."""

_BRINGS = "A lesson brings a sentence and settings of its own. Its button **End** brings yours back."


def draw_lessons() -> None:
    """The whole page: the lesson that the link names, else the list."""
    name = st.session_state["lesson"] = str(current_value("lesson"))  # no widget has it
    lesson, problem = None, ""
    try:
        lesson = find_lesson(name) if name else None
    except InputError as error:
        problem = str(error)
    if lesson is None:
        _draw_list(problem)
    else:
        _draw_lesson(name, lesson)


def draw_cards(lessons: Mapping[str, Lesson], key: str, *, has_link: bool = False) -> None:
    """A card for each lesson, four in a row, in a container of this key; with a button to its link on request."""
    with st.container(key=key):
        rows = [st.columns(_IN_A_ROW, gap="small") for _ in range(-(-len(lessons) // _IN_A_ROW))]
        columns = [column for row in rows for column in row]
        for column, (name, lesson) in zip(columns, lessons.items(), strict=False):
            with column, st.container(key=f"card_{name}", border=True, gap="xsmall", height="stretch"):
                st.markdown(f"## {lesson.title}")
                st.markdown(lesson.about)
                st.caption(_measure(lesson))
                with st.container(horizontal=True):
                    _draw_begin_button(name)
                    if has_link:
                        st.button("Link and file", key=f"look_{name}", type="tertiary", on_click=_open, args=(name,))


def _draw_begin_button(name: str, key: str = "") -> None:
    """The button that begins a lesson, by its key or code."""
    st.button(
        "Begin", key=key or f"begin_{name}", type="primary",
        icon=":material/play_arrow:", on_click=navigation.begin_lesson, args=(name,),
    )  # fmt: skip


def _measure(lesson: Lesson) -> str:
    """How long a lesson is."""
    n, n_asked = len(lesson.steps), sum(step.exercise is not None for step in lesson.steps)
    parts = [count_noun(n, "step")]
    parts += [count_noun(n_asked, "exercise")] if n_asked else []
    parts += [count_noun(lesson.minutes, "minute")] if lesson.minutes else []
    return " · ".join(parts)


def _draw_list(problem: str) -> None:
    with st.container(key=_TOP):
        panels.draw_heading("Which lesson?")
    lessons = shipped_lessons()
    render([Paragraph(f"Begin with **{next(iter(lessons.values())).title}**.", "answer")])
    st.caption(_BRINGS)
    if problem:
        st.warning(escape_markdown(problem))
    draw_cards(lessons, "lessons_cards", has_link=True)
    st.header("Your own", anchor=False)
    st.markdown(
        "A lesson is a file in YAML: words, links and exercises, step by step. Save the file of one of these lessons, "
        "change it in an editor and open it here: you get one link for your students."
    )
    saving.draw_uploader("Open a lesson's file", "lesson_file", _open_file, max_upload_size=1)


def _draw_lesson(name: str, lesson: Lesson) -> None:
    with st.container(key=_TOP):
        st.button(
            "All lessons", key="lesson_list", icon=":material/arrow_back:", type="tertiary", on_click=_open, args=("",)
        )
        panels.draw_heading(lesson.title)
    render([Paragraph(lesson.about or f"A lesson of {_measure(lesson)}.", "answer")])
    st.caption(_measure(lesson) + (" · Written by the person who sent you the link." if is_code(name) else ""))
    if lesson.steps and not navigation.lesson_name():
        _draw_begin_button(name, "lesson_begin")
        st.caption(_BRINGS)
    st.header("For teachers", anchor=False)
    st.caption("The link for your students:")
    with st.container(key="lesson_link"):
        st.code(f"{current_server()}/lessons?{urlencode({'lesson': name})}", language=None, wrap_lines=True)
    if not is_code(name):
        st.download_button(
            "File", (FOLDER / f"{name}.yaml").read_bytes(), f"{name}.yaml", "application/yaml", key="lesson_file_save",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def _open(name: str) -> None:
    """Show a lesson, by its key or code; an empty name leaves it and shows all."""
    if not name:
        navigation.leave_lesson()
    st.session_state["lesson"] = name
    request_scroll(_TOP)


def _open_file(file: UploadedFile) -> None:
    _open(encode_lesson(read_lesson(file.getvalue().decode(errors="replace"), file.name)))
