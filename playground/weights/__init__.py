"""Weights that other code has named: the one place for foreign names."""

from playground.weights.files import MAX_BYTES, first_not_finite, read_metadata, read_tensors
from playground.weights.load import load_weights
from playground.weights.recognise import build_encoder, encoder_half, recognise_tensors
from playground.weights.schemes import SCHEMES, Scheme

__all__ = [
    "MAX_BYTES",
    "SCHEMES",
    "Scheme",
    "build_encoder",
    "encoder_half",
    "first_not_finite",
    "load_weights",
    "read_metadata",
    "read_tensors",
    "recognise_tensors",
]
