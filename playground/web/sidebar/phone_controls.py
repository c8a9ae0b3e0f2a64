"""What of the sidebar stands on the page too: the menu, the link's button and the text on phones; the front field."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from playground.link.params import PARAMS
from playground.pages import page_at
from playground.web.choices.open_page import shows_example
from playground.web.choices.setup import OPEN_PAGE, current_setup, is_late, keep_replaced
from playground.web.choices.shortcuts import cut_text, explain_cut_text, replace_text
from playground.web.shared.navigation import request_page
from playground.web.shared.page_end import as_one_element
from playground.web.sidebar.controls import copy_link

_KEY = "phone_controls"
_TEXT, _LINE = "phone_text", "front_text"
"""Keys of the second field for the text: an area on phones, and a line on the front page."""

_REPLACED = "_phone_text_replaced"
"""Session key of what the second field said before the sidebar's text took its place."""


def draw_phone_controls(menu: Mapping[str, Sequence[StreamlitPage]], opened: StreamlitPage) -> None:
    """Draw a second menu, a second one of the link's button, and one of the field for the text where that is read.

    The front page has that field itself, in its own place, and some pages read no text. `menu` has the pages of each
    fold, and those of the first row under the empty name.
    """
    with st.container(key=_KEY, gap="xsmall"):
        with st.container(key=f"{_KEY}_menu", horizontal=True, gap="xxsmall"):
            for group, pages in menu.items():
                with _menu_fold(group, pages, opened) if group else nullcontext():
                    for page in pages:
                        st.page_link(page, label=f":small[{page.title}]", width="stretch" if group else "content")
        copy_link("phone_copy_link", is_small=True)
        shown = page_at(st.session_state[OPEN_PAGE])
        if shown.path != "overview" and shown.runs_text and not shows_example():
            _draw_second_field()
            explain_cut_text("text")


def _menu_fold(group: str, pages: Sequence[StreamlitPage], opened: StreamlitPage) -> DeltaGenerator:
    """A fold of the menu, which names the open page where that lies in it; each page has its own, which is closed."""
    label = ": ".join([group, *(page.title for page in pages if page.url_path == opened.url_path)])
    return st.popover(f":small[{label}]", type="tertiary", width="content", key=f"menu_{group}_{opened.url_path}")


@as_one_element
def draw_front_field() -> None:
    """Draw the second field for the text in its place on the front page, with a button to press, on any window."""
    with st.container(key="front_field", horizontal=True, vertical_alignment="bottom", gap="small"):
        is_long = len(current_setup().text.sentences) > 1
        _draw_second_field(is_line=not is_long)
        # Who presses it takes the cursor from the field, which sends the text.
        opens = partial(request_page, "attention")
        st.button("Show attention", key="front_look", icon=":material/search:", type="primary", on_click=opens)
    explain_cut_text("text")


def _draw_second_field(*, is_line: bool = False) -> None:
    """Draw a second field of the sidebar's text, on which Enter sends the text where it is a single line."""
    text, key = current_setup()["text"], _LINE if is_line else _TEXT
    # Written only where the sidebar's field says something else: a rerun must not undo what is being typed.
    replaced = st.session_state.get(key)
    if replaced != text:
        st.session_state[_REPLACED], st.session_state[key] = replaced, text
    else:
        st.session_state.pop(_REPLACED, None)
    if is_line:
        st.text_input("Your sentence, in English", key=key, on_change=_use_text, args=(key,))
    else:
        st.text_area(PARAMS["text"].label, key=key, height=68, on_change=_use_text, args=(key,))


def _use_text(key: str) -> None:
    """Take what was typed into the second field, by its key.

    A browser that has not heard of the last run yet, as somebody who opens another page at once, sends the field as it
    was before: that is nobody's wish.
    """
    keep_replaced()
    typed = st.session_state[key]
    if is_late("text", typed, in_second_field=True) or typed == st.session_state.get(_REPLACED):
        st.session_state[key] = st.session_state["text"]
    else:
        replace_text(cut_text("text", typed), by_second_field=True)
