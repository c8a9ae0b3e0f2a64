"""Changes by their texts in a link, for tests."""

from playground.model.change_texts import read_change
from playground.model.changes import Change


def made(text: str) -> Change:
    """The change that a text is."""
    change = read_change(text)
    assert change is not None, text
    return change


def several(texts: str) -> list[Change]:
    """The changes of a list of texts with spaces between them."""
    return [made(text) for text in texts.split()]
