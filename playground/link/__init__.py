"""What a link of the playground means, without a page."""

from playground.link.opening import Focus, LinkedView, open_link

__all__ = ["Focus", "LinkedView", "open_link"]
