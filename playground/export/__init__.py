"""What a page shows, to take along: code that ends in its numbers, tables, a run's arrays."""

from typing import Any

from playground.config import ModelConfig
from playground.export.code import Place, export_encoder

__all__ = ["Place", "as_notebook", "as_python"]


def as_python(config: ModelConfig, **options: Any) -> str:
    """Return a Python file with this encoder and sentence alone, which ends in an assertion of a page's numbers.

    It needs torch, for raw vectors numpy, for trained weights tokenizers and safetensors. Options and errors as of
    `export_encoder`.
    """
    return export_encoder(config, **options).python()


def as_notebook(config: ModelConfig, **options: Any) -> str:
    """Return it as the text of an `.ipynb` file (nbformat 4.5)."""
    return export_encoder(config, **options).notebook()
