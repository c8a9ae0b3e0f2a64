"""The tour on the page: the button that starts it, and the line above every page's heading that says what to do."""

import streamlit as st

from playground.web.choices.setup import OPEN_PAGE
from playground.web.components.without_picture import announce, scroll_to
from playground.web.shared import tour
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element
from playground.web.shared.tour import STEPS, TourStep

KEY = "tour_line"

_HEIGHT = "14.5rem"
"""How far Streamlit's header and the line below it reach down at most, on a phone."""

_SHOWN = "_tour_shown"
"""Session key that is there in the run after a press on the button that scrolls to what the step needs."""


def offer_tour() -> None:
    """The button that starts the tour, for whoever is not on it."""
    if tour.current_step() is None and not tour.is_finished():
        st.button(
            "Take the tour: five minutes",
            key="tour_start",
            icon=":material/explore:",
            type="tertiary",
            on_click=tour.go_to,
            args=(1,),
        )


@as_one_element
def draw_tour_line() -> None:
    """The step that the visitor is at, with where to do it and the ways on; nothing where on no tour."""
    tour.advance()
    step = tour.current_step()
    if step is not None:
        with st.container(key=KEY, border=True, gap="xsmall"):
            _draw_step(step)
    elif tour.is_finished():
        with st.container(key=KEY, border=True, gap="xsmall"):
            _say("**That was the tour.** The page Steps computes one vector number by number.")
            with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(page_named("step-by-step"), label="Open Steps", icon=":material/arrow_forward:")
                st.button("Close", key="tour_end", icon=":material/close:", type="tertiary", on_click=tour.leave)


def _draw_step(step: TourStep) -> None:
    number, (sentence, hint, has_target) = tour.step_number(), tour.current_words(step)
    _say(f"**Step {number} of {len(STEPS)}.** {sentence}", hint)
    if step.in_sidebar:
        with st.container(key="tour_phone"):
            st.caption("The button » at the top left opens the sidebar.")
    with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        if step.page not in (None, st.session_state[OPEN_PAGE]):
            page = page_named(step.page)
            st.page_link(page, label=f"Open {page.title}", icon=":material/arrow_forward:", width="content")
        elif has_target:
            st.button("Show me", key="tour_show", icon=":material/my_location:", type="tertiary", on_click=_show)
        buttons = (
            ("Back", "tour_back", ":material/arrow_back:", tour.go_back, number == 1),
            (step.skip_label, "tour_skip", ":material/skip_next:", _skip, False),
            ("End", "tour_end", ":material/close:", tour.leave, False),
        )
        for label, key, icon, on_click, disabled in buttons:
            st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, disabled=disabled)
    if st.session_state.pop(_SHOWN, False) and step.target:
        scroll_to(step.target, clear=_HEIGHT, on_phone=step.target_on_phone)


def _say(sentence: str, hint: str | None = None) -> None:
    """The sentence and its hint, both in markdown, for the eye and for a screen reader."""
    st.markdown(sentence)
    if hint:
        st.caption(hint)
    announce("tour_announcement", " ".join([sentence, *filter(None, [hint])]).replace("*", ""))


def _show() -> None:
    st.session_state[_SHOWN] = True


def _skip() -> None:
    tour.go_to(tour.step_number() + 1)
