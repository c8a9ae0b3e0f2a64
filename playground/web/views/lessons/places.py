"""Where a lesson is: in the session, and behind which link."""

from urllib.parse import urlencode

import streamlit as st

from playground.web.components.without_picture import request_scroll
from playground.web.shared import tour as session_tour
from playground.web.shared.navigation import current_server

TOP = "lessons_top"
"""Key of what stands first on the page, to which it scrolls."""


def open_lesson(name: str, view: str = "lesson") -> None:
    """Show a lesson, by its key or code, on the page Lessons; an empty name leaves it and shows all. For callbacks."""
    if not name:
        session_tour.leave()
    st.session_state.update({"lesson": name, "lessons_view": view})
    request_scroll(TOP)


def draw_way_back() -> None:
    """The button that leads back to all lessons."""
    st.button(
        "All lessons", key="lesson_list", icon=":material/arrow_back:", type="tertiary",
        on_click=open_lesson, args=("",),
    )  # fmt: skip


def student_link(name: str) -> str:
    """The link that opens a lesson, by its key or code."""
    return f"{current_server()}/lessons?{urlencode({'lesson': name})}"
