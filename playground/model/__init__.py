"""The transformer, from scratch."""

from playground.model.attention import causal_and_padding, causal_mask
from playground.model.encoder import Encoder
from playground.model.encoder_decoder import EncoderDecoder
from playground.model.trace import Trace

__all__ = ["Encoder", "EncoderDecoder", "Trace", "causal_and_padding", "causal_mask"]
