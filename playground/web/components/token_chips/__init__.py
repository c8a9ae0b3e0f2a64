"""A sentence's tokens as chips: the piece, its id below, and what is known of it where the pointer rests."""

from collections.abc import Sequence

from playground.web.components.load_component import load_component

_chips = load_component("token_chips", draws=True)


def draw_token_chips(chips: Sequence[tuple[str, str, str, str]]) -> None:
    """Draw tokens as chips: (piece, id, kind, explanation), kind being `plain`, `special`, `unknown` or `padding`."""
    _chips(key="token_chips", data={"chips": [list(chip) for chip in chips]})
