"""What a page shows, to take along: code that ends in the page's own numbers, tables, and a run's arrays."""

from typing import Any

from playground.config import ModelConfig
from playground.export.code import Place, export_encoder

__all__ = ["Place", "as_notebook", "as_python"]


def as_python(config: ModelConfig, **options: Any) -> str:
    """Return a Python file with this encoder and sentence alone, which ends in an assertion of a page's numbers.

    It needs torch; numpy too for raw vectors, tokenizers and safetensors for the trained weights. Names are those of
    `playground.model`, the format is ruff's. Options and errors as of `export_encoder`.
    """
    return export_encoder(config, **options).python()


def as_notebook(config: ModelConfig, **options: Any) -> str:
    """Return the file as a notebook, the text of an `.ipynb` file (nbformat 4.5); options as of `export_encoder`."""
    return export_encoder(config, **options).notebook()
