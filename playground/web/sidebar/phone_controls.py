"""Menu and text on the page itself, for windows so narrow that Streamlit puts the sidebar behind a button.

The style sheet of every page hides them where the sidebar stands beside the page.
"""

from collections.abc import Iterable

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from playground.link.params import PARAMS
from playground.web.choices.draw_kinds import cut_text, explain_cut_text
from playground.web.choices.replaced_text import forget_replaced, is_late, keep_replaced
from playground.web.choices.setup import current_setup
from playground.web.sidebar.controls import copy_link

_KEY = "phone_controls"
_TEXT = "phone_text"

_REPLACED = "_phone_text_replaced"
"""Session key of what the second field said before the sidebar's text took its place."""


def draw(pages: Iterable[StreamlitPage]) -> None:
    """Draw a link to each page, and a second one of the sidebar's button for the link and of its field for the text."""
    with st.container(key=_KEY, gap="xsmall"):
        with st.container(key=f"{_KEY}_menu", horizontal=True, gap="xxsmall"):
            for page in pages:
                st.page_link(page, label=f":small[{page.title}]", width="content")
        text = current_setup()["text"]
        # Written only where the sidebar's field says something else: a rerun must not undo what is being typed.
        replaced = st.session_state.get(_TEXT)
        if replaced != text:
            st.session_state[_REPLACED], st.session_state[_TEXT] = replaced, text
        else:
            st.session_state.pop(_REPLACED, None)
        copy_link("phone_copy_link", is_small=True)
        st.text_area(PARAMS["text"].label, key=_TEXT, height=68, on_change=_use_text)
        explain_cut_text("text")


def _use_text() -> None:
    """Take what was typed into the second field.

    A browser that has not heard of the last run yet, as somebody who opens another page at once, sends the field as it
    was before: that is nobody's wish.
    """
    keep_replaced()
    typed = st.session_state[_TEXT]
    if is_late(typed) or typed == st.session_state.get(_REPLACED):
        st.session_state[_TEXT] = st.session_state["text"]
    else:
        st.session_state["text"] = cut_text("text", typed)
        forget_replaced()
