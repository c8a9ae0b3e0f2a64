"""Decoder: one pair of sentences."""

import streamlit as st
import torch

from playground import accounting
from playground.charts.chart import Button
from playground.model import EncoderDecoder, attention
from playground.model.encoder_decoder import DecoderBlock
from playground.runs import pair_run
from playground.training.tasks.translation import ENGLISH, TRANSLATE
from playground.views.encoder_decoder import pair_scene, show_encoder_decoder
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.panels import fragment, keep_answer_place
from playground.web.shared.renderer import draw_view, render
from playground.words import say


@fragment
def explore_pair(source_before: str) -> None:
    """Draw the pair's choice and its view."""
    if current_value("encdec_source") != source_before:
        st.rerun()
    keep_answer_place()
    source = widgets.choice("encdec_source", say("encoder_decoder", "source"))
    if source == "your text":
        panels.require_text(current_setup(), say("encoder_decoder", "no-text"))
        widgets.text("encdec_target", say("encoder_decoder", "own"), height=90)
        st.caption(say("encoder_decoder", "own.settings"))
    else:
        widgets.text("encdec_example", say("encoder_decoder", "english"))
        label, chooses = say("encoder_decoder", "english.another"), {"encdec_example": draw_sentence()}
        render([Button("encdec_another", label, chooses, icon=":material/casino:")])
    st.caption(say("encoder_decoder", "terms"))
    draw_view("encoder-decoder", show_encoder_decoder, pair_scene, ())


def draw_sentence() -> str:
    """Return a random sentence of the grammar."""
    random = torch.Generator()
    random.seed()
    (ids,) = TRANSLATE.draw(caches.APP.translator().recipe, 1, random).tolist()
    return " ".join(ENGLISH[i - TRANSLATE.first_id] for i in ids if i)


panels.draw_heading("How does a decoder read what the encoder wrote?")
explore_pair(current_value("encdec_source"))
sources = attention.decoder_mask, pair_run.build_masks, DecoderBlock, EncoderDecoder, accounting.count_encoder_decoder
panels.code_behind("encoder_decoder", *sources)
