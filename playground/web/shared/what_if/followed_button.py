"""The way to what followed from the visitor's changes: a button on any page, and the scroll on arrival."""

import streamlit as st

from playground.web.choices.setup import OPEN_PAGE
from playground.web.components.scroll_to import scroll_to
from playground.web.shared.navigation import page_named

FOLLOWED = "followed"
"""Key of the container that the page What if draws what followed in."""

_ARRIVING = "_followed_arriving"
"""Session key that is there from the press until what followed is drawn."""


def draw_followed_button(key: str, label: str = "What followed?") -> None:
    """A button that opens the page What if at what followed, whichever view that page had before."""
    pressed = st.button(
        label,
        key=key,
        type="tertiary",
        icon=":material/arrow_forward:",
        on_click=_show_what_followed,
        help="Opens the page What if at what your changes have moved.",
    )
    if pressed and st.session_state[OPEN_PAGE] != "what-if":
        st.switch_page(page_named("what-if"), query_params={})


def scroll_on_arrival() -> None:
    """Scroll to what followed, for a visitor who has just pressed the button."""
    if st.session_state.pop(_ARRIVING, False):
        scroll_to(FOLLOWED)


def _show_what_followed() -> None:
    st.session_state["whatif_view"] = "what followed"
    st.session_state[_ARRIVING] = True
