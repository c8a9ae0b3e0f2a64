"""The line above every page's heading while the visitor is in a lesson: the step's words, and the ways on."""

import streamlit as st

from playground.charts.names import escape_markdown
from playground.errors import InputError
from playground.learn.lesson import LessonStep, find_problem
from playground.link.opening import split_link
from playground.pages import page_at
from playground.web.choices.setup import OPEN_PAGE
from playground.web.components.without_picture import announce, hide
from playground.web.session.caches import shipped_exercises
from playground.web.shared import lesson_state
from playground.web.shared.lesson_state import Place
from playground.web.shared.navigation import page_named, request_page
from playground.web.shared.page_end import as_one_element

KEY = "lesson_line"
"""The line's container, which stays in sight."""


@as_one_element
def draw_lesson_line() -> None:
    """The step that the visitor is at, if in a lesson; a warning if that cannot be read."""
    try:
        place = lesson_state.current_place()
    except InputError as error:
        st.warning(escape_markdown(error))
        lesson_state.forget()
        return
    result = lesson_state.find_result()
    lesson_state.note_drawn(result)
    if place is None:
        return
    step = place.step
    st.session_state["tour"] = place.number  # a link may have asked for more steps than there are
    with st.container(key=KEY, border=True, gap="xsmall"):
        _draw_ways(place, is_next_first=not step.has_task or result is not None)
        _draw_words(place, result)
    if step.hides and result is None and _is_here(step):
        hide(step.hides)


def _draw_ways(place: Place, *, is_next_first: bool) -> None:
    """The place in the lesson; on, back and out, in places that stay from step to step."""
    step, number, n = place.step, place.number, len(place.lesson.steps)
    with st.container(key="lesson_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"**{place.lesson.title}** · step {number} of {n}", width="content")
        st.button(
            "Back", key="lesson_back", icon=":material/arrow_back:", type="tertiary", disabled=number == 1,
            on_click=lesson_state.go_to, args=(number - 1,),
        )  # fmt: skip
        is_last = number == n
        st.button(
            "All lessons" if is_last else "Next", key="lesson_next", icon=":material/arrow_forward:",
            type="primary" if is_next_first else "secondary",
            on_click=_open_lessons if is_last else lesson_state.go_to, args=() if is_last else (number + 1,),
        )  # fmt: skip
        page = _page_of(step)
        if page and not (_is_here(step) and (step.page or step.exercise)):
            label = "Restore this step" if _is_here(step) else f"Open {page_named(page).title}"
            st.button(
                label, key="lesson_open", icon=":material/replay:", type="tertiary", on_click=lesson_state.open_step
            )
        st.button(
            "End", key="lesson_end", icon=":material/close:", type="tertiary", on_click=lesson_state.leave,
            help="Brings back the text and settings that you had before the lesson.",
        )  # fmt: skip


def _draw_words(place: Place, result: str | None) -> None:
    """What the step says, or what came of it, for the eye and for a screen reader; what can be guessed."""
    step, problem = place.step, find_problem(place.step, shipped_exercises())
    said = result or step.words
    st.markdown(said)
    if problem:
        st.caption(escape_markdown(problem))
    if step.guess and result is None:
        with st.container(key="lesson_guesses", horizontal=True, gap="small"):
            for number, option in enumerate(step.guess):
                st.button(option.text, key=f"lesson_guess_{number}", on_click=lesson_state.guess, args=(number,))
    words = f"{place.lesson.title} · step {place.number}. {said} {problem}".replace("*", "").replace("`", "")
    announce("lesson_announcement", words, container=KEY)


def _page_of(step: LessonStep) -> str:
    """The path of the page that the step opens; empty if it opens none, or cannot."""
    if find_problem(step, shipped_exercises()):
        return ""
    return split_link(step.address)[0] if step.address else step.page


def _is_here(step: LessonStep) -> bool:
    return page_at(st.session_state[OPEN_PAGE]).path == _page_of(step)


def _open_lessons() -> None:
    lesson_state.leave()
    request_page("lessons")
