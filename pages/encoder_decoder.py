"""An encoder and a decoder on one pair of sentences: their masks, their three attentions, and the next word."""

import streamlit as st

from playground import accounting
from playground.model import EncoderDecoder, masks
from playground.model.decoder import DecoderBlock
from playground.runs import pair_run
from playground.web.choices.setup import current_setup
from playground.web.session import caches, pair_cache
from playground.web.shared import panels
from playground.web.views.encoder_decoder import pair_counts, pair_views
from playground.web.views.encoder_decoder.pair_input import current_pair

panels.heading("How does a decoder read what the encoder wrote?")
st.markdown(
    "The encoder reads the source once. Every decoder layer then looks twice: at the target so far, without peeking "
    "ahead, and across, at what the encoder made of the source. The last vectors become a score for every next word."
)
setup = current_setup()
pair = current_pair(setup)
with panels.explain_errors():
    run = pair_cache.run(*pair)
pair_views.run_line(run, pair, setup.weights, setup["seed"])
if setup["causal"]:
    st.caption("The sidebar's causal switch changes nothing here: this encoder sees its whole source.")
st.subheader("Who may look at whom?")
pair_views.masks(run)
st.subheader("Who does?")
pair_views.attentions(pair)
st.subheader("What comes next?")
pair_views.next_words(pair)
st.subheader("What do two halves cost?")
pair_counts.halves(run.config, caches.tokenizer(pair[2]).vocab_size)
panels.code_behind(
    "encoder_decoder",
    masks.no_peek,
    pair_run.build_masks,
    DecoderBlock,
    EncoderDecoder,
    accounting.count_encoder_decoder,
)
