"""A page's parts: fragments, what stands above them, and how one of them ends before its end.

`st.stop` would end the whole run, and the sidebar with it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from playground.errors import BusyError
from playground.web.choices.open_page import correct_address, is_fragment_rerun
from playground.web.choices.setup import OPEN_PAGE
from playground.web.session.services import services
from playground.web.shared import lesson_state
from playground.web.shared.focus_line import forget_answer_place

P = ParamSpec("P")
R = TypeVar("R")


class PageEndError(Exception):
    """Ends the page, or the fragment, at this line; its explanation is already drawn."""


@contextmanager
def run_in_turn() -> Iterator[None]:
    """Run a page, or one of its fragments alone, in a turn; if none comes free, `draw_in_turn` tries again."""
    with ExitStack() as held:
        with suppress(BusyError):
            held.enter_context(services().turns.take())
        yield


def draw_in_turn(page: str, draw: Callable[[], None], part: str = "page") -> None:
    """Draw a page, by its path, or one of its parts alone; one sentence says if no turn comes free."""
    forget_answer_place()
    with services().meters.watch_rerun(page, part), suppress(PageEndError), ExitStack() as held:
        try:
            held.enter_context(services().turns.take())
        except BusyError as error:
            services().meters.count_refusal(error)
            st.error(str(error))
            return
        draw()


def fragment(view: Callable[P, None], run_every: float | None = None) -> Callable[P, None]:
    """`st.fragment`, for a view that may end early: that ends nothing but itself.

    A run of it alone corrects the address, as the page's own run does. If a lesson's step is done then, the page runs
    too.
    """

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> None:
        alone = is_fragment_rerun()
        page = st.session_state[OPEN_PAGE]
        if not alone:
            with suppress(PageEndError):
                view(*args, **kwargs)
        else:
            with run_in_turn():
                draw_in_turn(page, partial(view, *args, **kwargs), view.__qualname__)
                is_outdated = lesson_state.is_outdated()
                correct_address(f"address_{view.__qualname__}")
            if is_outdated:
                st.rerun()

    return st.fragment(draw, run_every=run_every)


def as_one_element(view: Callable[P, R]) -> Callable[P, R]:
    """The view, drawn as one element of the page, be it many things or none.

    For all that stands above a fragment. Streamlit knows fragments by their place on the page, and drops a click in one
    whose place the run before the click has changed.
    """

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with st.container():
            return view(*args, **kwargs)

    return draw
