"""What a page shows, to take along: code that runs without the playground and ends in the page's own numbers."""

from playground.export.from_config import as_notebook, as_python
from playground.export.shown import Place

__all__ = ["Place", "as_notebook", "as_python"]
