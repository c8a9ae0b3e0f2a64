"""What the page Overview has beside its view: what a press on a token, a box or the question does."""

from functools import partial

import streamlit as st

from playground.pages import PAGES
from playground.views.overview import overview_scene, show_overview
from playground.web.choices.focus import choose_places, move_focus
from playground.web.components import rows
from playground.web.shared.navigation import open_requested_page, page_named, request_page
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import WIDGETS, draw_view


@fragment
def explore_sentence() -> None:
    """The focus, and all that the page shows of the sentence; or the page that a press has asked for."""
    open_requested_page()
    draw_view("overview", show_overview, overview_scene)


def _take_query() -> None:
    move_focus(query=st.session_state[rows.TOKENS_KEY].clicked)


def _draw_why_button(question: str) -> None:
    st.button(
        question,
        key="overview_why",
        icon=":material/arrow_forward:",
        type="tertiary",
        on_click=_open_why,
        help="Opens the page Attention, where this weight is split by what caused it.",
    )


def _open_why() -> None:
    request_page("attention")
    choose_places(attention_show="one head")


def _remember_opened_page() -> None:
    page = st.session_state["data_flow"].open
    if isinstance(page, str) and page in PAGES:  # what a browser sends may be anything
        request_page(page)


def _draw_page_link(page: str) -> None:
    st.page_link(page_named(page), label=f"Open {page}", icon=":material/arrow_forward:")


WIDGETS |= {
    "sentence_chips": partial(rows.draw_token_chips, on_click=_take_query),
    "ask_why": _draw_why_button,
    "data_flow": partial(rows.draw_data_flow, on_open=_remember_opened_page),
    "page_link": _draw_page_link,
}
