"""The editor of a lesson: its steps one below the other, what does not hold yet, and the link."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.checks import check_lesson
from playground.learn.exercise import MAX_VARIANT
from playground.learn.lesson import (
    Lesson,
    LessonStep,
    decode_lesson,
    encode_lesson,
    find_lesson,
    make_lesson,
    write_lesson,
)
from playground.learn.progress import sort_exercises
from playground.link.params import MAX_LESSON, MAX_STEPS
from playground.web.components.without_picture import request_scroll
from playground.web.session.caches import shipped_exercises
from playground.web.shared import panels
from playground.web.shared import tour as session_tour
from playground.web.shared.renderer import render
from playground.web.views.exercises.posed import take_turn
from playground.web.views.lessons.places import TOP, draw_way_back, open_lesson, student_link

_DRAFT = "_lesson_draft"
"""Session key of the code of the lesson that the visitor has built."""

_ROUND = "_lesson_round"
"""Session key of how often steps have changed their places: widgets have new keys then."""

_COMPLAINT = "_lesson_complaint"
"""Session key, after a change that cannot be, of the step, from 0 or −1 for the lesson, and of what is wrong."""

_NOTHING, _PAGE, _EXERCISE = "nothing", "a page", "an exercise"

_NEW = Lesson(title="A lesson of mine", steps=[LessonStep(words="What is this lesson about?")])


def current_draft() -> Lesson | None:
    """The lesson that the visitor has built in this session; None before there is one."""
    code = st.session_state.get(_DRAFT)
    return None if code is None else decode_lesson(code)


def begin_draft(lesson: Lesson = _NEW) -> None:
    """Open the editor with a lesson; for callbacks."""
    _keep(lesson, is_moved=True)
    st.session_state["lessons_view"] = "editor"
    request_scroll(TOP)


def draw_editor(lesson: Lesson) -> None:
    """The lesson's fields and steps, with what can be done with it."""
    if st.session_state.get(_DRAFT) != st.session_state["lesson"]:  # a link has brought it, or a step back
        _keep(lesson, is_moved=True)
    with st.container(key=TOP):
        draw_way_back()
        panels.draw_heading("What are your students to do?")
    with panels.explain_errors(), take_turn("lessons"):
        problems = check_lesson(lesson, shipped_exercises(), computes=False) + _list_unchosen(lesson)
    said = "It holds: send its link, or try it first." if not problems else "Something does not hold yet: see below."
    render([Paragraph(said, "answer")])
    _draw_about(lesson)
    for place, step in enumerate(lesson.steps):
        with st.container(key=f"lesson_step_{place}", border=True, gap="small"):
            _draw_step(lesson, place, step)
    st.button(
        "Add a step", key="lesson_add", icon=":material/add:", disabled=len(lesson.steps) >= MAX_STEPS,
        on_click=_add,
    )  # fmt: skip
    _draw_outcome(lesson, problems)


def _list_unchosen(lesson: Lesson) -> list[str]:
    """A sentence on each step beside whose words a page or an exercise is to stand, and none is chosen yet."""
    return [
        f"Step {place + 1}: choose {beside} for it, or *nothing*."
        for place, step in enumerate(lesson.steps)
        if not step.address and (beside := st.session_state.get(_key(place, "beside"), _NOTHING)) != _NOTHING
    ]


def _draw_about(lesson: Lesson) -> None:
    _field(st.text_input, "Title", lesson, -1, "title", max_chars=80)
    _field(st.text_input, "What a student knows at its end, in a sentence", lesson, -1, "about", max_chars=300)
    _field(st.number_input, "Minutes, about", lesson, -1, "minutes", min_value=0, max_value=600, step=5)
    _draw_complaint(-1)


def _draw_step(lesson: Lesson, place: int, step: LessonStep) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Step {place + 1}**", width="stretch")
        for label, icon, on_click, args, disabled in (
            ("Up", ":material/arrow_upward:", _move, (place, place - 1), place == 0),
            ("Down", ":material/arrow_downward:", _move, (place, place + 1), place == len(lesson.steps) - 1),
            ("Remove", ":material/delete:", _remove, (place,), False),
        ):
            st.button(
                label, key=f"lesson_{label.lower()}_{place}", icon=icon, type="tertiary", disabled=disabled,
                on_click=on_click, args=args,
            )  # fmt: skip
    _field(
        st.text_area, "Your words, in Markdown", lesson, place, "words", max_chars=3_000,
        placeholder="What is there to read, to look for or to think about?",
    )  # fmt: skip
    key = _key(place, "beside")
    beside = _EXERCISE if step.exercise is not None else _PAGE if step.link else _NOTHING
    st.session_state.setdefault(key, beside)
    st.segmented_control(
        "Beside the words", (_NOTHING, _PAGE, _EXERCISE), key=key, required=True, on_change=_choose_beside,
        args=(place,),
    )  # fmt: skip
    if st.session_state[key] == _PAGE:
        _field(
            st.text_input, "Its link", lesson, place, "link", max_chars=MAX_LESSON,
            placeholder="Paste what “Copy link” gives on the page that you want",
        )  # fmt: skip
    elif st.session_state[key] == _EXERCISE:
        exercises = {each.key: each.title for each in sort_exercises(shipped_exercises())}
        if step.exercise is not None:
            exercises.setdefault(step.exercise, step.exercise)
        _field(
            st.selectbox, "Exercise", lesson, place, "exercise", options=list(exercises), format_func=exercises.get,
            index=None,
        )  # fmt: skip
        _field(
            st.number_input, "Variant: equal numbers ask the same", lesson, place, "variant", min_value=0,
            max_value=MAX_VARIANT, step=1,
        )  # fmt: skip
    _draw_complaint(place)


def _draw_outcome(lesson: Lesson, problems: list[str]) -> None:
    code = encode_lesson(lesson)
    with st.container(key="lesson_problems"):
        for problem in problems:
            st.warning(escape_markdown(problem))
    st.header("Your lesson", anchor=False)
    with st.container(key="lesson_outcome", horizontal=True):
        st.button(
            "Try it as a student", key="lesson_try", icon=":material/play_arrow:", type="primary",
            disabled=not lesson.steps, on_click=_try,
        )  # fmt: skip
        st.button("Handout and notebook", key="lesson_done", icon=":material/print:", on_click=_show)
        st.download_button(
            "File", write_lesson(lesson), "lesson.yaml", "application/yaml", key="lesson_file_save",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
    st.caption(f"Its link, of {len(code):,} characters; at most {MAX_LESSON:,} are taken:")
    with st.container(key="lesson_link"):
        st.code(student_link(code), language=None, wrap_lines=True)


def _key(place: int, field: str) -> str:
    return f"lesson_{st.session_state.get(_ROUND, 0)}_{place}_{field}"


def _field(widget: Callable[..., Any], label: str, lesson: Lesson, place: int, field: str, **options: Any) -> None:
    """A widget for one field of a step, or of the lesson at place −1; what was typed stays in it in any case."""
    key = _key(place, field)
    st.session_state.setdefault(key, getattr(lesson if place < 0 else lesson.steps[place], field))
    widget(label, key=key, on_change=_change, args=(place, field, key), **options)


# A press follows the field that it leaves in the same run: each callback changes the lesson as the one before left it.


def _current() -> Lesson:
    return find_lesson(st.session_state["lesson"])


def _change(place: int, field: str, key: str) -> None:
    values = _current().model_dump()
    (values if place < 0 else values["steps"][place])[field] = st.session_state[key]
    _take(values, place)


def _choose_beside(place: int) -> None:
    """Take away what the step had beside its words; its new link or exercise is still to be chosen."""
    values = _current().model_dump()
    values["steps"][place] |= {"link": "", "exercise": None, "variant": 0}
    for field in ("link", "exercise", "variant"):
        st.session_state.pop(_key(place, field), None)
    _take(values, place)


def _take(values: dict[str, Any], place: int, *, is_moved: bool = False) -> None:
    try:
        _keep(make_lesson(values), is_moved=is_moved)
    except PlaygroundError as error:
        st.session_state[_COMPLAINT] = (place, str(error))


def _add() -> None:
    values = _current().model_dump()
    _take({**values, "steps": [*values["steps"], {}]}, -1)


def _remove(place: int) -> None:
    _arrange([each for each in range(len(_current().steps)) if each != place])


def _move(place: int, to: int) -> None:
    order = list(range(len(_current().steps)))
    order.insert(to, order.pop(place))
    _arrange(order)


def _arrange(order: list[int]) -> None:
    """Put the steps at these places one after the other, each with what was chosen beside its words."""
    values = _current().model_dump()
    values["steps"] = [values["steps"][each] for each in order]
    chosen = [st.session_state.get(_key(each, "beside")) for each in order]
    _take(values, -1, is_moved=True)
    st.session_state.update({_key(place, "beside"): each for place, each in enumerate(chosen) if each})


def _try() -> None:
    session_tour.begin_lesson(st.session_state["lesson"])


def _show() -> None:
    open_lesson(st.session_state["lesson"], "teacher")


def _keep(lesson: Lesson, *, is_moved: bool = False) -> None:
    st.session_state["lesson"] = st.session_state[_DRAFT] = encode_lesson(lesson)
    if is_moved:
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _draw_complaint(place: int) -> None:
    """What is wrong with the last change there; the lesson is still as it was before it."""
    where, sentence = st.session_state.get(_COMPLAINT, (None, ""))
    if where == place:
        st.session_state.pop(_COMPLAINT)
        st.error(f"{escape_markdown(sentence)} The lesson is still as before this change.")
