"""A component without a picture: the browser scrolls to another part of the page."""

from playground.web.components.load_component import load_component
from playground.web.components.moment import moment

_scroll = load_component("scroll_to")


def scroll_to(key: str, clear: str = "5rem", *, on_phone: str | None = None) -> None:
    """Scroll once to the container with this key; drawn in the run that follows the visitor's press alone.

    Args:
        key: the container's. It comes to the middle of the window, or with its top to the window's where it is tall.
        on_phone: the container's in a window that is as narrow as a phone's, where it is another.
        clear: how far below the window's top that is, as CSS writes lengths: what stays there covers the page.
    """
    _scroll(key="scroll_to", data={"target": key, "onPhone": on_phone or key, "clear": clear, "moment": moment()})
