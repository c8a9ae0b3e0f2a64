"""An encoder and a decoder on one pair of sentences: their masks, their three attentions, and the next word."""

import streamlit as st

from playground import accounting, seq2seq
from playground.model import EncoderDecoder, masks
from playground.model.decoder import DecoderBlock
from playground.web import cache, panels, seq2seq_cache, seq2seq_counts, seq2seq_views, state
from playground.web.seq2seq_input import current_pair

panels.heading("How does a decoder read what the encoder wrote?")
st.markdown(
    "The encoder reads the source once. Every decoder layer then looks twice: at the target so far, without peeking "
    "ahead, and across, at what the encoder made of the source. The last vectors become a score for every next word."
)
setup = state.current()
pair = current_pair(setup)
with panels.plainly():
    run = seq2seq_cache.run(*pair)
seq2seq_views.run_line(run, pair, setup.weights, setup["seed"])
if setup["causal"]:
    st.caption("The sidebar's causal switch changes nothing here: this encoder sees its whole source.")
st.subheader("Who may look at whom?")
seq2seq_views.masks(run)
st.subheader("Who does?")
seq2seq_views.attentions(pair)
st.subheader("What comes next?")
seq2seq_views.next_words(pair)
st.subheader("What do two halves cost?")
seq2seq_counts.halves(run.config, cache.tokenizer(pair[2]).vocab_size)
panels.code_behind(
    "encoder_decoder",
    masks.no_peek,
    seq2seq.build_masks,
    DecoderBlock,
    EncoderDecoder,
    accounting.count_encoder_decoder,
)
