"""What a page shows, to take along: code that ends in the page's own numbers, tables, and the data of a whole run."""

from playground.export.code import as_notebook, as_python
from playground.export.code.shown import Place

__all__ = ["Place", "as_notebook", "as_python"]
