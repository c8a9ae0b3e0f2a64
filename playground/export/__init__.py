"""What a visitor takes away: code and notebooks, pictures and numbers of charts, and the data of a whole run."""

from playground.export.code.from_config import as_notebook, as_python
from playground.export.code.shown import Place

__all__ = ["Place", "as_notebook", "as_python"]
