"""Weights that other code has named: the one place where foreign names live."""

from playground.errors import WeightsError
from playground.weights.build import build_encoder
from playground.weights.files import (
    HOW_TO_SAVE,
    MAX_BYTES,
    first_not_finite,
    read_file,
    read_metadata,
    read_tensors,
)
from playground.weights.load import load_weights
from playground.weights.names import encoder_half
from playground.weights.recognise import RecognisedWeights, recognise, recognise_tensors
from playground.weights.saving import SAVING_CELLS
from playground.weights.schemes import SCHEMES, Scheme

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
