"""Weights that other code has named: the one place where foreign names live."""

from playground.interop.loading import WeightsError, load_weights
from playground.interop.schemes import SCHEMES, Scheme

__all__ = ["SCHEMES", "Scheme", "WeightsError", "load_weights"]
