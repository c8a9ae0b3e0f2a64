"""Code that ends in the page's own numbers: a Python file or a notebook. An encoder's needs no playground."""

from typing import Any

from playground.config import ModelConfig
from playground.export.code.model_export import export_encoder
from playground.export.code.shown import show_encoder


def as_python(config: ModelConfig, **options: Any) -> str:
    """Return a Python file with this encoder and sentence alone, which ends in an assertion of a page's numbers.

    It needs torch; numpy too if words are raw vectors, and tokenizers and safetensors for the trained weights. Each
    parameter and class has its name in `playground.model`. It is formatted as ruff formats.

    Options and errors as of `show_encoder`.
    """
    return export_encoder(show_encoder(config, **options)).python()


def as_notebook(config: ModelConfig, **options: Any) -> str:
    """Return the file as a notebook, the text of an `.ipynb` file (nbformat 4.5).

    Each section is a cell with its explanation. Options and errors as of `show_encoder`.
    """
    return export_encoder(show_encoder(config, **options)).notebook()
