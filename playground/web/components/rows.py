"""Rows that a visitor reads and presses: the focus, changes, tokens, the way of the data, the link to copy.

Arrow keys move the two tokens, with Shift the head and the layer, as on the attention map and its thumbnails.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import streamlit as st

from playground.accounting.shapes import Stage
from playground.charts import palette
from playground.limits import MAX_ADDRESS
from playground.web.components import load_component

FOCUS_KEY = "focus_line"

_line = load_component("focus_line", draws=True)


def draw_focus_line(
    places: Mapping[str, int],
    counts: Mapping[str, int],
    tokens: Sequence[str],
    weight: str,
    note: str,
    shown: Sequence[str],
    on_move: Callable[[], None],
) -> None:
    """Draw the line. `on_move` runs when it is moved, with the wanted places in the session state as `KEY.moved`.

    Args:
        places: of the focus: `layer`, `head`, `query` and `key`.
        counts: how many of each there are.
        tokens: the sentence's pieces.
        weight: what the query gives the key, in words.
        note: what had to be moved, in a sentence; may be empty.
        shown: the places that what is drawn depends on; others are left out.
        on_move: takes the move.
    """
    data = {
        "places": dict(places),
        "counts": dict(counts),
        "tokens": list(tokens),
        "weight": weight,
        "note": note,
        "shown": list(shown),
        "colour": palette.FOCUS,
    }
    _line(key=FOCUS_KEY, data=data, on_moved_change=on_move)


CHANGES_KEY = "change_chips"

_change_chips = load_component("change_chips", draws=True)


class Chip(NamedTuple):
    """One change."""

    text: str
    """As in the link; what a press sends back."""
    name: str
    """In a few words."""
    title: str
    """What it changes, in a sentence."""
    is_on: bool
    reason: str = ""
    """Why it cannot apply; empty where it can."""
    note: str = ""
    """What else is to be said of it; empty for nothing."""
    is_pending: bool = False
    """Whether it is switched on, and there is no run that it could apply to."""


def draw_chips(chips: Sequence[Chip], on_switch: Callable[[], None], on_take_back: Callable[[], None]) -> None:
    """Draw the chips. A press leaves its text in the session as `KEY.switched`, or as `KEY.taken`."""
    data = {"chips": [chip._asdict() for chip in chips], "colour": palette.CHANGE}
    _change_chips(key=CHANGES_KEY, data=data, on_switched_change=on_switch, on_taken_change=on_take_back)


TOKENS_KEY = "token_chips"

_token_chips = load_component("token_chips", draws=True)


def draw_token_chips(
    chips: Sequence[tuple[str, str, str, str]],
    *,
    query: int | None = None,
    key: int | None = None,
    on_click: Callable[[], None] | None = None,
    name: str = TOKENS_KEY,
) -> None:
    """Draw tokens as chips: (piece, id, kind, explanation), kind being `plain`, `special`, `unknown` or `padding`.

    `query` and `key` are the positions of chips with a frame. `on_click` runs when a chip but padding is pressed, with
    its position in the session state as `clicked` under this `name`; without it, chips are no buttons.
    """
    data = {
        "chips": [list(chip) for chip in chips],
        "query": query,
        "key": key,
        "colour": palette.FOCUS,
        "opens": on_click is not None,
    }
    _token_chips(key=name, data=data, on_clicked_change=on_click or (lambda: None))


PAGES = {"embeddings": "parameters", "attention": "attention", "feed_forward": "parameters", "norms": "norms"}
"""The page that explains each component of the model."""

_flow = load_component("data_flow", draws=True)


def draw_data_flow(
    stages: Sequence[Stage], n_layers: int, on_open: Callable[[], None] | None = None, *, key: str = "data_flow"
) -> None:
    """Draw the boxes, and the residual connections as lines past those that they lead around.

    `on_open` runs when a box is pressed, with its page in the session state as `<key>.open`; without it, boxes are no
    buttons.
    """
    inside = [i for i, stage in enumerate(stages) if stage.in_block]
    first, last = inside[0], inside[-1]
    block = groupby(stages[first : last + 1], key=lambda stage: stage.residual)
    _flow(
        key=key,
        data={
            "before": [_box(stage) for stage in stages[:first]],
            "block": [{"residual": number > 0, "boxes": [_box(stage) for stage in run]} for number, run in block],
            "after": [_box(stage) for stage in stages[last + 1 :]],
            "times": f"{n_layers} blocks, one after the other" if n_layers > 1 else "1 block",
            "line": palette.RESIDUAL,
            "opens": on_open is not None,
        },
        on_open_change=on_open or (lambda: None),
    )


def _box(stage: Stage) -> dict[str, object]:
    is_sum = stage.in_block and stage.component is None
    page = "norms" if is_sum else "attention" if stage.component is None else PAGES[stage.component]
    lines = [] if is_sum else [stage.shape]
    if stage.parameters:
        lines.append(f"{stage.parameters:,} params")
    if stage.share:
        lines.append(f"{stage.share:.0%} of the work")
    colour = palette.COMPONENTS[stage.component] if stage.component else palette.RESIDUAL
    return {"title": stage.title, "lines": lines, "colour": colour, "page": page, "sum": is_sum}


_button = load_component("copy_link")

_ANSWERED = "_copy_link_answered"
"""Session key of the number of the last click that a run has answered."""


def draw_copy_link(key: str, version: str, more: Mapping[str, list[str]], *, is_small: bool = False) -> None:
    """Draw the button, in a fragment of its own.

    The link is read from the address bar when it is pressed.

    The address is right only once every choice before the click has had its run. So a click asks for a run of the
    fragment, which comes after theirs, and the link is read when that has answered.

    A link that is too long for servers is said to be so, and is offered as a file.

    The version of the link's format goes with it, and `more` parameters where the address bar does not have them. A
    small one shows the link only where it could not be copied.
    """
    data = {
        "version": version,
        "more": dict(more),
        "longest": MAX_ADDRESS,
        "answered": st.session_state.get(_ANSWERED),
        "isSmall": is_small,
    }
    _button(key=key, data=data, on_asked_change=partial(_answer, key))


def _answer(key: str) -> None:
    st.session_state[_ANSWERED] = st.session_state[key].asked
