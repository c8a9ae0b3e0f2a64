"""A transformer encoder from scratch, with every intermediate handed over."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import ConfigError
from playground.link import open_link
from playground.model import Encoder, EncoderDecoder, Trace
from playground.notebook import check_answer, heads, show

__all__ = [
    "ConfigError",
    "Encoder",
    "EncoderDecoder",
    "ModelConfig",
    "Trace",
    "check_answer",
    "count_parameters",
    "heads",
    "open_link",
    "show",
]

__version__ = "0.1.0"
"""The version; packaging reads it here."""

if not TYPE_CHECKING:  # a type checker would take every name for one that is here

    def __getattr__(name: str) -> Any:
        """Import a module of the package when it is first asked for, such as `playground.export`."""
        if find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")
