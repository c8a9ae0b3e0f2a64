"""What a page shows, to take along: code that ends in the page's own numbers, pictures, and the data of a whole run."""

from playground.export.documents.shown import Place
from playground.export.from_config import as_notebook, as_python

__all__ = ["Place", "as_notebook", "as_python"]
