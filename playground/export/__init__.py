"""What a page shows, to take along: code that ends in its numbers, tables, a run's arrays."""

from playground.export.code import export_lab
from playground.link import LinkedView

__all__ = ["as_notebook", "as_python"]


def as_python(view: LinkedView) -> str:
    """Return a Python file with a link's encoder and sentence alone, which ends in an assertion of the page's numbers.

    It needs torch, for raw vectors numpy, for trained weights tokenizers and safetensors. Errors as of `export_lab`.
    """
    return export_lab(view.lab, view.focus).python()


def as_notebook(view: LinkedView) -> str:
    """Return it as the text of an `.ipynb` file (nbformat 4.5)."""
    return export_lab(view.lab, view.focus).notebook()
