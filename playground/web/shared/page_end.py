"""A page's parts: fragments, elements, the place of its answer, and a part's early end (`st.stop` would end all)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.errors import BusyError
from playground.web.choices.open_page import correct_address, is_fragment_rerun
from playground.web.choices.setup import session_choices
from playground.web.session.services import services
from playground.web.shared import navigation

P = ParamSpec("P")
R = TypeVar("R")


class PageEndError(Exception):
    """Ends the page, or the fragment, at this line; its explanation is already drawn."""


@contextmanager
def run_in_turn() -> Iterator[None]:
    """Run a page, or a fragment alone, in a turn; if none comes free, `draw_in_turn` tries again."""
    with ExitStack() as held:
        with suppress(BusyError):
            held.enter_context(services().turns.take())
        yield


def draw_in_turn(page: str, draw: Callable[[], None], part: str = "page") -> None:
    """Draw a page, by its path, or a part of it alone; one sentence says if no turn comes free."""
    _ANSWER.set(None)
    _PROOF.set(None)
    with services().meters.watch_rerun(page, part), suppress(PageEndError), ExitStack() as held:
        try:
            held.enter_context(services().turns.take())
        except BusyError as error:
            st.error(str(error))
            return
        draw()


def fragment(view: Callable[P, None], run_every: float | None = None) -> Callable[P, None]:
    """Return `view` as a fragment that may end early.

    A run of it alone corrects the address, and runs the page if a lesson's step is done.
    """

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> None:
        if not is_fragment_rerun():
            with suppress(PageEndError):
                view(*args, **kwargs)
            return
        with run_in_turn():
            draw_in_turn(session_choices().page, partial(view, *args, **kwargs), view.__qualname__)
            is_outdated = navigation.is_line_outdated()
            correct_address(f"address_{view.__qualname__}")
        if is_outdated:
            st.rerun()

    return st.fragment(draw, run_every=run_every)


def as_one_element(view: Callable[P, R]) -> Callable[P, R]:
    """Return `view`, drawn as one element: Streamlit drops a click in a fragment below whose place has changed."""

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with st.container():
            return view(*args, **kwargs)

    return draw


_ANSWER: ContextVar[DeltaGenerator | None] = ContextVar("answer_place", default=None)
_PROOF: ContextVar[DeltaGenerator | None] = ContextVar("proof_place", default=None)


def keep_answer_place() -> None:
    """Have the page's answer stand here, though it is known later."""
    _ANSWER.set(st.container())


def keep_places_above_focus() -> None:
    """Keep a place for the page's answer, unless there is one, and one for the chart that proves it."""
    if _ANSWER.get() is None:
        keep_answer_place()
        _PROOF.set(_ANSWER.get())
    else:
        _PROOF.set(st.container())


def take_answer_place() -> DeltaGenerator:
    """Return the place of the answer: the one that was kept, or here."""
    place = _ANSWER.get() or st.container()
    _ANSWER.set(None)
    return place


def take_proof_place() -> DeltaGenerator | None:
    """Return the place of the chart that proves the answer, if one was kept."""
    place = _PROOF.get()
    _PROOF.set(None)
    return place
