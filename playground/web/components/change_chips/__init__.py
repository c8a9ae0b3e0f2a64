"""The visitor's changes of the computation as chips: one part switches a change, the other takes it back."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from playground.figures import palette
from playground.web.components.load_component import load_component

KEY = "change_chips"

_chips = load_component("change_chips", draws=True)


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
    _chips(key=KEY, data=data, on_switched_change=on_switch, on_taken_change=on_take_back)
