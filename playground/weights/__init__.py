"""Weights that other code has named: the one place where foreign names live."""

from playground.errors import WeightsError
from playground.weights.files import (
    HOW_TO_SAVE,
    MAX_BYTES,
    SAVING_CELLS,
    first_not_finite,
    read_file,
    read_metadata,
    read_tensors,
)
from playground.weights.load import load_weights
from playground.weights.recognise import RecognisedWeights, build_encoder, recognise, recognise_tensors
from playground.weights.schemes import SCHEMES, Scheme, encoder_half

__all__ = [
    "HOW_TO_SAVE",
    "MAX_BYTES",
    "SAVING_CELLS",
    "SCHEMES",
    "RecognisedWeights",
    "Scheme",
    "WeightsError",
    "build_encoder",
    "encoder_half",
    "first_not_finite",
    "load_weights",
    "read_file",
    "read_metadata",
    "read_tensors",
    "recognise",
    "recognise_tensors",
]
