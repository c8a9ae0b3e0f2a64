"""What the tests of figures ask of every figure."""

from typing import Any


def titles(figure: Any) -> tuple[str, str]:
    """The titles of the lower and the left axis."""
    return figure.layout.xaxis.title.text, figure.layout.yaxis.title.text
