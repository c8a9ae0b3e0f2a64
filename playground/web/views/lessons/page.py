"""The page Lessons: a list of those that are there; or one of them, its handout, or the editor."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown
from playground.errors import InputError
from playground.learn.exercise import Exercise
from playground.learn.handout import write_handout, write_notebook
from playground.learn.lesson import (
    Lesson,
    encode_lesson,
    find_lesson,
    is_code,
    read_lesson,
    shipped_lessons,
    write_lesson,
)
from playground.text.wording import count_noun, quote_text
from playground.web.choices.setup import current_value
from playground.web.session.caches import shipped_exercises
from playground.web.session.downloads import in_turn
from playground.web.shared import panels, uploads
from playground.web.shared import tour as session_tour
from playground.web.shared.navigation import current_server
from playground.web.shared.renderer import render
from playground.web.views.exercises.posed import pose_variant, take_turn
from playground.web.views.lessons.editor import begin_draft, current_draft, draw_editor
from playground.web.views.lessons.places import TOP, draw_way_back, open_lesson, student_link

_UPLOADER = "lesson_file"
"""Name of the uploader."""

_PROBLEM = "_lesson_problem"
"""Session key of the sentence that says why the last file was not opened."""


def draw_lessons() -> None:
    """The whole page: the lesson that the link names, as it asks for it, else the list."""
    for name in ("lesson", "lessons_view"):
        st.session_state[name] = current_value(name)  # no widget has them; the address is written of the session
    name, view = str(st.session_state["lesson"]), st.session_state["lessons_view"]
    problem = ""
    try:
        lesson = find_lesson(name) if name else None
    except InputError as error:
        lesson, problem = None, str(error)
    if lesson is None:
        _draw_list(problem)
    elif view == "editor":
        draw_editor(lesson)
    elif view in ("lesson", "teacher"):
        _draw_lesson(name, lesson)
        if view == "teacher":
            _draw_for_teachers(name, lesson)
    else:
        _draw_handout(name, lesson, has_answers=view == "answers")


def _draw_list(problem: str) -> None:
    with st.container(key=TOP):
        panels.draw_heading("Which lesson?")
    lessons = shipped_lessons()
    render([Paragraph(_answer_which(lessons), "answer")])
    st.caption(_BRINGS)
    if problem:
        st.warning(escape_markdown(problem))
    with st.container(key="lessons_cards"):
        for column, (name, lesson) in zip(st.columns(max(3, len(lessons)), gap="small"), lessons.items(), strict=False):
            with column, st.container(key=f"card_{name}", border=True, gap="xsmall", height="stretch"):
                st.markdown(f"## {lesson.title}")
                st.markdown(lesson.about)
                st.caption(_measure(lesson))
                with st.container(horizontal=True):
                    _draw_ways_in(name, len(lesson.steps))
                    st.button("See its steps", key=f"look_{name}", on_click=open_lesson, args=(name, "teacher"))
    st.header("Your own", anchor=False)
    st.markdown(
        "String together what your students are to read, to look at and to answer. You get one link, or one file."
    )
    draft = current_draft()
    with st.container(horizontal=True):
        if draft is not None:
            st.button(
                f"Go on with “{draft.title}”", key="lesson_draft", icon=":material/edit:",
                on_click=_open_draft,
            )  # fmt: skip
        st.button("Begin a lesson", key="lesson_new", icon=":material/add:", on_click=begin_draft)
    st.file_uploader(
        "Open a lesson's file", key=uploads.uploader_key(_UPLOADER), on_change=_open_file, max_upload_size=1,
        help="As the button “File” of a lesson saves it.",
    )  # fmt: skip
    if _PROBLEM in st.session_state:
        st.error(st.session_state[_PROBLEM])


_BRINGS = "A lesson brings a sentence and settings of its own. Its button **End** brings yours back."
"""What is to be known before a lesson begins."""


def _answer_which(lessons: Mapping[str, Lesson]) -> str:
    """The lesson to go on with, else the first."""
    for name, lesson in lessons.items():
        if session_tour.step_left(name) > 1:
            return f"Go on with **{lesson.title}**, at step {session_tour.step_left(name)}, or choose another one."
    first = next(iter(lessons.values()))
    return f"Begin with **{first.title}**. A teacher can build another lesson and send its link."


def _measure(lesson: Lesson) -> str:
    """How long a lesson is."""
    n, n_asked = len(lesson.steps), sum(step.exercise is not None for step in lesson.steps)
    parts = [count_noun(n, "step")]
    parts += [count_noun(n_asked, "exercise")] if n_asked else []
    parts += [f"{lesson.minutes} minutes"] if lesson.minutes else []
    return " · ".join(parts)


def _draw_ways_in(name: str, n_steps: int) -> None:
    """The card's ways into its lesson: from the step at which the visitor left it, and from the first."""
    left = session_tour.step_left(name)
    has_left = 1 < left <= n_steps
    if has_left:
        st.button(
            f"Continue at step {left}", key=f"continue_{name}", icon=":material/play_arrow:", type="primary",
            on_click=session_tour.begin_lesson, args=(name, left),
        )  # fmt: skip
    _begin_button(name, f"begin_{name}", is_first=not has_left)


def _begin_button(name: str, key: str, *, is_first: bool = True) -> None:
    st.button(
        "Begin" if is_first else "Begin again", key=key, type="primary" if is_first else "secondary",
        icon=":material/play_arrow:" if is_first else ":material/replay:", on_click=session_tour.begin_lesson,
        args=(name,),
    )  # fmt: skip


def _draw_lesson(name: str, lesson: Lesson) -> None:
    with st.container(key=TOP):
        draw_way_back()
        panels.draw_heading(lesson.title)
    render([Paragraph(lesson.about or f"A lesson of {_measure(lesson)}.", "answer")])
    st.caption(_measure(lesson) + (" · Whoever gave you the link has written it." if is_code(name) else ""))
    exercises = shipped_exercises()
    if lesson.steps and session_tour.current_tour() is None:
        _begin_button(name, "lesson_begin")
        st.caption(_BRINGS)
    st.header("Its steps", anchor=False)
    st.markdown(
        "\n".join(
            f"{number}. {_name_step(step.words, step.exercise, exercises)}"
            for number, step in enumerate(lesson.steps, 1)
        )
    )


def _draw_for_teachers(name: str, lesson: Lesson) -> None:
    """What the students' link does not open: the handout with answers, the files, and that link."""
    st.header("For teachers", anchor=False)
    st.caption("The link for your students, which does not open this part:")
    with st.container(key="lesson_link"):
        st.code(student_link(name), language=None, wrap_lines=True)
    with st.container(key="lesson_ways", horizontal=True):
        st.button(
            "Handout", key="lesson_handout", icon=":material/print:", on_click=open_lesson, args=(name, "handout")
        )
        st.button(
            "Handout with answers", key="lesson_answers", icon=":material/print:", on_click=open_lesson,
            args=(name, "answers"),
        )  # fmt: skip
        file, server = name if not is_code(name) else "lesson", current_server()
        st.download_button(
            "Notebook", in_turn(partial(write_notebook, lesson, shipped_exercises(), server)), f"{file}.ipynb",
            "application/x-ipynb+json", key="lesson_notebook", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "File", write_lesson(lesson), f"{file}.yaml", "application/yaml", key="lesson_file_save",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.button("Change a copy", key="lesson_edit", icon=":material/edit:", on_click=begin_draft, args=(lesson,))


def _name_step(words: str, exercise: str | None, exercises: Mapping[str, Exercise]) -> str:
    """A step in a line: its exercise's title, or how its words begin."""
    if exercise is not None:
        return f"*{exercises[exercise].title if exercise in exercises else escape_markdown(exercise)}*"
    paragraph = " ".join(words.strip().partition("\n\n")[0].split())
    first = paragraph.lstrip("#*-> ").split(". ")[0]
    return first if len(first) <= _LONGEST_NAME else f"{first[:_LONGEST_NAME].rsplit(' ', 1)[0]} …"


_LONGEST_NAME = 240
"""Characters of a step's line."""


def _draw_handout(name: str, lesson: Lesson, *, has_answers: bool) -> None:
    with st.container(key=TOP, horizontal=True):
        st.button(
            "Back to the lesson", key="lesson_back", icon=":material/arrow_back:", type="tertiary",
            on_click=open_lesson, args=(name, "teacher"),
        )  # fmt: skip
        other = "handout" if has_answers else "answers"
        st.button(
            "Without answers" if has_answers else "With answers", key="lesson_other", type="tertiary",
            on_click=open_lesson, args=(name, other),
        )  # fmt: skip
    text = ""
    with panels.explain_errors(), take_turn("exercises"):
        text = write_handout(
            lesson,
            shipped_exercises(),
            current_server(),
            has_answers=has_answers,
            pose=lambda exercise, number: pose_variant(exercise.key, number),
        )
    with st.container(key="handout_save"):
        st.download_button(
            "Markdown", text, "handout-with-answers.md" if has_answers else "handout.md", "text/markdown",
            key="handout_file", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.caption("Your browser prints this page without menus.")
    with st.container(key="handout"):
        st.markdown(text)


def _open_draft() -> None:
    draft = current_draft()
    if draft is not None:
        open_lesson(encode_lesson(draft), "editor")


def _open_file() -> None:
    file = uploads.take_file(_UPLOADER)
    if file is not None:
        with uploads.explain_failure(_PROBLEM, quote_text(file.name)):
            lesson = read_lesson(file.getvalue().decode(errors="replace"), file.name)
            open_lesson(encode_lesson(lesson), "teacher")
