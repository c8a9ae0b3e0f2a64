"""A page's parts: fragments, what stands above them, how one of them ends before its end, and which pages take long.

`st.stop` would end the whole run, and the sidebar with it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from playground.accounting import count_flops, count_parameters
from playground.analysis.gradient_variants import LONGEST, VARIANTS, common_config
from playground.config import ModelConfig
from playground.errors import BusyError, PlaygroundError
from playground.pages import PAGES
from playground.runs.budget import MAX_KEPT, count_kept
from playground.web.choices.open_page import correct_address, is_fragment_rerun
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup, current_value, pinned_setup
from playground.web.session.services import services
from playground.web.session.turns import current_visitor, session_pace
from playground.web.shared import lesson_state
from playground.web.shared.focus_line import forget_answer_place

LONG = 0.5
"""Seconds of computing from which a page is long, about."""

MUCH = 4_000_000
"""Numbers in a run from which a page takes much memory: 16 MB in fp32, and several times that once it is drawn."""

_OPERATIONS, _DRAWN = 50e9, 200e6
"""What one thread does in a second, about: floating-point operations, and random numbers that it draws."""

_VARIANTS_TOGETHER = 24
"""Of a sentence's run, on the page What if: as many as it measures in one turn."""

_TEXT_PASSES = 3.0
"""Passes of each sentence that a page asks for: with changes, without, and through one layer once more."""


@contextmanager
def hold_long_place(page: str) -> Iterator[None]:
    """Hold the long place while a page, by its path, is computed and drawn, if it is a long one.

    Raises:
        BusyError: the place did not come free in time.
    """
    if is_long(page):
        with services().turns.hold_long_place():
            yield
    else:
        yield


def is_long(page: str) -> bool:
    """Whether a page, or the dialog of exports, takes long, or much memory; what it will refuse takes neither."""
    if page in PAGES and not PAGES[page].runs_text:
        return False
    try:
        return any(_is_long(page, setup) for setup in (current_setup(), pinned_setup()) if setup is not None)
    except BusyError:
        raise
    except PlaygroundError:  # the page itself will say what is wrong
        return False


def _is_long(page: str, setup: Setup) -> bool:
    if not setup.text.sentences:  # nothing is run
        return False
    config, (n_sentences, n_tokens) = setup.config, setup.batch.ids.shape
    if page == "gradient-flow":
        return _seconds_of_gradients(config, n_tokens, setup["seed"]) > LONG
    kept = count_kept(config, n_tokens)
    if _is_refused(config) or kept > MAX_KEPT:
        return False
    if page == "similarity":
        n_sentences += current_value("similarity_list").count("\n") + 1
    passes = _VARIANTS_TOGETHER if page == "what-if" else _TEXT_PASSES
    work = (passes + n_sentences) * count_flops(config, n_tokens).total
    n_drawn = _n_drawn(config, setup["seed"]) if setup.weights == "random" else 0
    if page == "encoder-decoder" and setup.weights == "random":
        n_drawn = 2 * count_parameters(config).total  # of which none is shared with other pages
    return kept > MUCH or work / _OPERATIONS + n_drawn / _DRAWN > LONG


def _seconds_of_gradients(config: ModelConfig, n_tokens: int, seed: int) -> float:
    """Of a forward and a backward pass, the work of three, through every variant; of the sweep, as much again."""
    config = common_config(config, current_value("gradient_layers"))
    if _is_refused(config):
        return 0.0
    views = 2 if current_value("gradient_six") and current_value("gradient_view") == "depth sweep" else 1
    work = views * 3 * len(VARIANTS) * count_flops(config, min(n_tokens, LONGEST)).total
    return work / _OPERATIONS + _n_drawn(config, seed) / _DRAWN


def _is_refused(config: ModelConfig) -> bool:
    return count_parameters(config).total > services().settings.max_parameters


def _n_drawn(config: ModelConfig, seed: int) -> int:
    return services().random_weights.n_missing(config, seed)


P = ParamSpec("P")
R = TypeVar("R")


class PageEndError(Exception):
    """Ends the page, or the fragment, at this line; its explanation is already drawn."""


@contextmanager
def run_in_turn() -> Iterator[None]:
    """Run a page, or one of its fragments alone, at its session's pace and once a place is free for it."""
    pace = session_pace()
    pace.begin(current_visitor()[1])
    with services().turns.hold_run():
        yield
    pace.end()


def draw_in_turn(page: str, draw: Callable[[], None], part: str = "page") -> None:
    """Draw a page, by its path, or one of its parts alone; a long page once the long place is free for it.

    One sentence says where that does not come free in time.
    """
    forget_answer_place()
    with services().meters.watch_rerun(page, part), suppress(PageEndError), ExitStack() as held:
        try:
            held.enter_context(hold_long_place(page))
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
