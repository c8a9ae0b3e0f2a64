"""Public name of `playground.weights`: weights that other code has named."""

from playground.errors import WeightsError
from playground.weights import SCHEMES, Scheme, load_weights

__all__ = ["SCHEMES", "Scheme", "WeightsError", "load_weights"]
