"""The way of one sentence through the encoder: tokens, shapes, work, and a preview of three other pages."""

import streamlit as st

from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels, pinning, tour_line
from playground.web.views.overview import explore_sentence

panels.heading("What happens to a sentence in an encoder?")
with st.container(horizontal=True):
    pinning.draw_pin_line()
    tour_line.offer_tour()
panels.current_run()
pinning.explain_pinned_run()
explore_sentence()
panels.code_behind("overview", Encoder, EncoderBlock)
