"""A component without a picture: the browser scrolls to another part of the page."""

import time

from playground.web.components.load_component import load_component

_scroll = load_component("scroll_to")


def scroll_to(key: str) -> None:
    """Scroll once to the container with this key; drawn in the run that follows the visitor's press alone."""
    _scroll(key="scroll_to", data={"target": key, "time": time.time()})
