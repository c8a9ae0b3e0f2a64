"""An encoder and a decoder on one pair of sentences: their masks, their three attentions, and the next token."""

import streamlit as st

from playground import accounting
from playground.model import EncoderDecoder, attention
from playground.model.encoder_decoder import DecoderBlock
from playground.runs import pair_run
from playground.web.shared import panels
from playground.web.views.encoder_decoder import next_token_table, pair_attention, pair_input, pair_parameters

panels.heading("How does a decoder read what the encoder wrote?")
pair_input.show_introduction()
pair = pair_input.choose_pair()
pair_input.show_run_line(pair)
st.header("Who looks at whom?")
pair_attention.show_attention(pair)
with st.container(key="encdec_next_tokens"):
    st.header("What comes next?")
    next_token_table.show_next_tokens(pair)
with st.container(key="encdec_masks"):
    st.header("Who may look at whom?")
    pair_attention.show_masks(pair)
st.header("What do two halves cost?")
pair_parameters.show_parameters(pair)
sources = attention.no_peek, pair_run.build_masks, DecoderBlock, EncoderDecoder, accounting.count_encoder_decoder
panels.code_behind("encoder_decoder", *sources)
