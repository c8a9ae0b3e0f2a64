"""What a page shows, to take along: code that ends in the page's own numbers, tables, and a run's arrays."""

from typing import Any

from playground.config import ModelConfig
from playground.export.code import export_encoder
from playground.export.shown import Place, show_encoder

__all__ = ["Place", "as_notebook", "as_python"]


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
