"""Weights that other code has named: the one place where foreign names live."""

from playground.weights.files import (
    MAX_BYTES,
    SAVING_CELLS,
    first_not_finite,
    read_file,
    read_metadata,
    read_tensors,
)
from playground.weights.load import load_weights
from playground.weights.recognise import build_encoder, recognise_tensors
from playground.weights.schemes import SCHEMES, Scheme, encoder_half

__all__ = [
    "MAX_BYTES",
    "SAVING_CELLS",
    "SCHEMES",
    "Scheme",
    "build_encoder",
    "encoder_half",
    "first_not_finite",
    "load_weights",
    "read_file",
    "read_metadata",
    "read_tensors",
    "recognise_tensors",
]
