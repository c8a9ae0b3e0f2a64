"""A transformer encoder from scratch, with every intermediate handed over."""

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import ConfigError
from playground.link import open_link
from playground.model import Encoder, EncoderDecoder, Trace
from playground.notebook import check_answer, show

__all__ = [
    "ConfigError",
    "Encoder",
    "EncoderDecoder",
    "ModelConfig",
    "Trace",
    "check_answer",
    "count_parameters",
    "open_link",
    "show",
]
