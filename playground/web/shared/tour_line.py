"""The tour on the page: the button that starts it, and the line above every page's heading that says what to do."""

import streamlit as st

from playground.web.choices.setup import OPEN_PAGE
from playground.web.shared.navigation import pages
from playground.web.shared.page_end import as_one_element
from playground.web.shared.tour import tour_progress
from playground.web.shared.tour.tour_steps import STEPS, Step

KEY = "tour_line"


@as_one_element
def offer_tour() -> None:
    """The button that starts the tour, for whoever is not on it."""
    if tour_progress.current_step() is None and not tour_progress.is_finished():
        st.button(
            "Take the tour: five minutes",
            key="tour_start",
            icon=":material/explore:",
            type="tertiary",
            on_click=tour_progress.go_to,
            args=(1,),
        )


@as_one_element
def draw_tour_line() -> None:
    """The step that the visitor is at, with where to do it and the ways on; nothing where on no tour."""
    tour_progress.advance()
    step = tour_progress.current_step()
    if step is not None:
        with st.container(key=KEY, border=True, gap="xsmall"):
            _draw_step(step)
    elif tour_progress.is_finished():
        with st.container(key=KEY, border=True, gap="xsmall"):
            st.markdown(
                "**That was the tour.** Whoever opens your link sees what you see. Every page works with your sentence."
            )
            with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(pages()["step-by-step"], label="Every number of it", icon=":material/arrow_forward:")
                st.button(
                    "Close", key="tour_end", icon=":material/close:", type="tertiary", on_click=tour_progress.leave
                )


def _draw_step(step: Step) -> None:
    number = tour_progress.step_number()
    st.markdown(f"**Step {number} of {len(STEPS)}.** {step.sentence}")
    if step.in_sidebar:
        with st.container(key="tour_phone"):
            st.caption("On a phone, the button » at the top left opens the sidebar.")
    with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        if step.page not in (None, st.session_state[OPEN_PAGE]):
            page = pages()[step.page]
            st.page_link(page, label=f"Open {page.title}", icon=":material/arrow_forward:", width="content")
        buttons = (
            ("Back", "tour_back", ":material/arrow_back:", tour_progress.go_back, number == 1),
            (step.skip_label, "tour_skip", ":material/skip_next:", _skip, False),
            ("End the tour", "tour_end", ":material/close:", tour_progress.leave, False),
        )
        for label, key, icon, on_click, disabled in buttons:
            st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, disabled=disabled)


def _skip() -> None:
    tour_progress.go_to(tour_progress.step_number() + 1)
