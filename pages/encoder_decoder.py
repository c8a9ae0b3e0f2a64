"""An encoder and a decoder on one pair of sentences: their masks, their three attentions, and the next token."""

from playground import accounting
from playground.model import EncoderDecoder, attention
from playground.model.encoder_decoder import DecoderBlock
from playground.runs import pair_run
from playground.web.shared import panels
from playground.web.views.encoder_decoder import explore_pair

panels.draw_heading("How does a decoder read what the encoder wrote?")
explore_pair()
sources = attention.decoder_mask, pair_run.build_masks, DecoderBlock, EncoderDecoder, accounting.count_encoder_decoder
panels.code_behind("encoder_decoder", *sources)
