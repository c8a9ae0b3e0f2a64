"""A sentence's tokens as chips: the piece, its id below, and what is known of it where the pointer rests."""

from collections.abc import Callable, Sequence

from playground.figures import palette
from playground.web.components.load_component import load_component

KEY = "token_chips"

_chips = load_component("token_chips", draws=True)


def draw_token_chips(
    chips: Sequence[tuple[str, str, str, str]],
    *,
    query: int | None = None,
    key: int | None = None,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Draw tokens as chips: (piece, id, kind, explanation), kind being `plain`, `special`, `unknown` or `padding`.

    `query` and `key` are the positions of chips with a frame. `on_click` runs when a chip but padding is pressed, with
    its position in the session state as `KEY.clicked`; without it, chips are no buttons.
    """
    data = {
        "chips": [list(chip) for chip in chips],
        "query": query,
        "key": key,
        "colour": palette.FOCUS,
        "opens": on_click is not None,
    }
    _chips(key=KEY, data=data, on_clicked_change=on_click or (lambda: None))
