"""Weights that other code has named: the one place where foreign names live."""

from playground.interop.building import build_encoder
from playground.interop.files import (
    HOW_TO_SAVE,
    MAX_BYTES,
    first_not_finite,
    quoted,
    read_file,
    read_metadata,
    read_tensors,
)
from playground.interop.loading import WeightsError, load_weights
from playground.interop.naming import encoder_half
from playground.interop.recognise import recognise
from playground.interop.schemes import SCHEMES, Scheme

__all__ = [
    "HOW_TO_SAVE",
    "MAX_BYTES",
    "SCHEMES",
    "Scheme",
    "WeightsError",
    "build_encoder",
    "encoder_half",
    "first_not_finite",
    "load_weights",
    "quoted",
    "read_file",
    "read_metadata",
    "read_tensors",
    "recognise",
]
