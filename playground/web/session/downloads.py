"""Files that are made when a button is pressed, in threads beside the pages, in their visitor's turn."""

from collections.abc import Callable
from typing import TypeVar

from playground.web.session.services import services
from playground.web.session.turns import current_visitor

R = TypeVar("R")


def in_turn(make: Callable[[], R], *, is_long: bool = False) -> Callable[[], R]:
    """Return a function for a download button of this page that calls `make` in this visitor's turn.

    If `make` takes seconds, it waits for the long place. Raises `BusyError` if no place comes free.
    """
    visitor = current_visitor()[0]

    def make_in_turn() -> R:
        turns = services().turns
        with turns.hold_long_place(visitor) if is_long else turns.take(visitor):
            return make()

    return make_in_turn
