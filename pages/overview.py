"""The front page: what this is, a sentence of one's own, the short lessons; the sentence's path, box by box."""

import streamlit as st

from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.sidebar.controls import draw_front_field
from playground.web.views.front import draw_cards, draw_lead
from playground.web.views.overview import explore_sentence

panels.draw_heading("What happens to a sentence in an encoder?")
draw_lead()
draw_front_field()
draw_cards()
st.header("The way of your sentence, box by box")
panels.draw_pin_line()
panels.draw_run_line()
explore_sentence()
panels.code_behind("overview", Encoder, EncoderBlock)
