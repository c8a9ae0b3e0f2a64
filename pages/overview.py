"""The front page: a sentence of one's own, short lessons, the sentence's path."""

from functools import partial

import streamlit as st

from playground.learn.lesson import shipped_lessons
from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.views.overview import overview_scene, show_overview
from playground.web import components
from playground.web.choices.shortcuts import move_focus
from playground.web.shared import panels
from playground.web.shared.navigation import open_requested_page, request_page
from playground.web.shared.panels import fragment
from playground.web.shared.renderer import Live, draw_view
from playground.web.sidebar.controls import draw_front_field
from playground.web.views.lessons import draw_cards
from playground.words import say

SHORT = 10
"""Minutes below which a lesson has a card here."""


CHIPS = partial(
    components.draw_token_chips, on_click=lambda: move_focus(query=st.session_state[components.TOKENS_KEY].clicked)
)
BOXES = partial(components.draw_data_flow, on_open=lambda: request_page(st.session_state["data_flow"].open))


@fragment
def explore_sentence() -> None:
    """Draw the view, or open the page that a press has asked for."""
    open_requested_page()
    draw_view("overview", show_overview, overview_scene, live=Live({"sentence_chips": CHIPS, "data_flow": BOXES}))


panels.draw_heading("What happens to a sentence in an encoder?")
with st.container(key="front_lead"):
    st.markdown(say("overview", "lead"))
draw_front_field()
draw_cards({name: each for name, each in shipped_lessons().items() if each.minutes < SHORT}, "cards")
st.header(say("overview", "path"))
panels.draw_pin_line()
panels.draw_run_line()
explore_sentence()
panels.code_behind("overview", Encoder, EncoderBlock)
