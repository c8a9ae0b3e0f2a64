"""What a link of the playground means, without a page: its parameters, frozen defaults, repairs, and what it shows."""

from playground.link.opening import LinkedView, open_link
from playground.link.places import Focus

__all__ = ["Focus", "LinkedView", "open_link"]
