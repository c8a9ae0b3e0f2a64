"""Files that are made when a button is pressed, in threads beside the pages, in fair turns.

As with turns to compute, there is a place for what is short and one for what is long: all numbers of a long run take
seconds.
"""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from streamlit import runtime

from playground.errors import UnavailableError
from playground.web.session.services import MOST_WAITING, services
from playground.web.session.turns import LONG_WAIT, current_visitor

R = TypeVar("R")

LONG = 1.0
"""Seconds from which making a file is long."""


def in_turn(make: Callable[[], R], seconds: float = 0.3) -> Callable[[], R]:
    """A function for a download button of this page: it makes a file as `make` does, once it is this visitor's turn.

    Args:
        make: what takes likely so many `seconds`.

    The function raises BusyError where no turn comes, and UnavailableError where the visitor has left by then.
    """
    return partial(_make_in_turn, make, current_visitor()[0], seconds)


def give_downloads_threads() -> None:
    """Give the running event loop a thread for every file that may wait, and some that never wait for files.

    Streamlit makes files in the loop's own threads, of which there are six on a machine of two cores.
    """
    threads = ThreadPoolExecutor(2 * MOST_WAITING + 8, "file")
    asyncio.get_running_loop().set_default_executor(threads)


def _make_in_turn(make: Callable[[], R], visitor: Hashable, seconds: float) -> R:
    here = services()
    timeout = LONG_WAIT * here.settings.busy_timeout
    queue = here.short_files if seconds < LONG else here.long_files
    with queue.take(visitor, timeout, partial(_check_presence, visitor), cost=seconds):
        return make()


def _check_presence(visitor: Hashable) -> None:
    if runtime.exists() and not runtime.get_instance().is_active_session(str(visitor)):
        raise UnavailableError("Whoever asked for this file has left.")
