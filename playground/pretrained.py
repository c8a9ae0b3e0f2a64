"""Public name of `playground.weights.checkpoint`: trained encoders, found, checked and loaded."""

from playground.errors import PretrainedError
from playground.weights.checkpoint import load

__all__ = ["PretrainedError", "load"]
