"""A component without a picture: a sentence that a screen reader reads out when it changes, and not before."""

from playground.web.components.load_component import load_component

_announcement = load_component("announcement")


def announce(key: str, sentence: str) -> None:
    """Tell whoever cannot see the page, politely, a sentence that is new in this place of the page."""
    _announcement(key=key, data={"sentence": sentence})
