"""The focus in one line: a layer, a head, the token that asks and the one that is asked, each with ways to move it.

Arrow keys move the two tokens, with Shift the head and the layer, as on the attention map and its thumbnails.
"""

from collections.abc import Callable, Mapping, Sequence

from playground.figures import palette
from playground.web.components.load_component import load_component

KEY = "focus_line"

_line = load_component("focus_line", draws=True)


def draw_focus_line(
    places: Mapping[str, int],
    counts: Mapping[str, int],
    tokens: Sequence[str],
    weight: str,
    note: str,
    on_move: Callable[[], None],
) -> None:
    """Draw the line. `on_move` runs when it is moved, with the wanted places in the session state as `KEY.moved`.

    Args:
        places: of the focus: `layer`, `head`, `query` and `key`.
        counts: how many of each there are.
        tokens: the sentence's pieces.
        weight: what the query gives the key, in words.
        note: what had to be moved, in a sentence; may be empty.
        on_move: takes the move.
    """
    data = {
        "places": dict(places),
        "counts": dict(counts),
        "tokens": list(tokens),
        "weight": weight,
        "note": note,
        "colour": palette.FOCUS,
    }
    _line(key=KEY, data=data, on_moved_change=on_move)
