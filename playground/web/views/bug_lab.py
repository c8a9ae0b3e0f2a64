"""The page Bug lab: buttons for tests, suspects and the next case."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from operator import attrgetter

import streamlit as st

from playground.charts.scene import Scene
from playground.link.params import OWN
from playground.mistakes.bug_lab import EFFORTS, MAX_SEED, Attempt, LabTest, name_suspect, offered_tests
from playground.text.wording import upper_first
from playground.views.bug_lab import EVIDENCE, VERDICT, read_lab, show_bug_lab
from playground.web.choices.setup import current_value
from playground.web.components.without_picture import request_scroll
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.renderer import WIDGETS, read_options, render

_NO_WIDGET = ("lab_seed", "lab_tests", "lab_accused")
"""Parameters that presses change; no widget has them, and the address is written of the session."""

_TOP = "answer"
"""Key of the container that a press scrolls to: what came out stands below it."""


def draw_bug_lab() -> None:
    """The page below its heading."""
    st.session_state.update({key: current_value(key) for key in _NO_WIDGET})
    options = read_options("lab")
    with panels.explain_errors(), _take_turn(trains="train" in options["lab_tests"]):
        shown = read_lab(options)
        items = list(show_bug_lab(Scene(shown), {}))
    render(items, Scene(shown))


@contextmanager
def _take_turn(*, trains: bool) -> Iterator[None]:
    """Hold a turn to compute; the long place too where two encoders are trained. Raises `BusyError`."""
    with ExitStack() as held:
        if trains:
            held.enter_context(st.spinner("Two small encoders are trained, which may take a moment."))
            held.enter_context(services().turns.hold_long_place())
        held.enter_context(services().turns.take())
        yield


def draw_suspect(key: str, attempt: Attempt) -> None:
    """The button that accuses a suspect, once."""
    st.button(
        upper_first(name_suspect(key)), key=f"lab_accuse_{key.replace('-', '_')}", on_click=_accuse,
        args=(key, key in attempt.case.mistakes), disabled=key in attempt.accused, width="stretch",
    )  # fmt: skip


_SIMPLE = 2
"""Effort of the last tests that stand in sight; the others are folded."""


def draw_tests(attempt: Attempt) -> None:
    """A button each, those of little effort first; those that were done are grey."""
    with st.container(key="lab_tests_offered", gap="small"):
        st.markdown("**Tests.** A press shows one finding.")
        tests = offered_tests(attempt.case)
        _draw_buttons([each for each in tests if each.effort <= _SIMPLE], attempt)
        with st.expander("More tests", key="lab_more", on_change="rerun"):  # a key of its own keeps it open
            _draw_buttons([each for each in tests if each.effort > _SIMPLE], attempt)


def _draw_buttons(tests: Sequence[LabTest], attempt: Attempt) -> None:
    for effort, alike in groupby(tests, attrgetter("effort")):
        st.markdown(f"**{EFFORTS[effort]}**")
        with st.container(gap="xsmall"):
            for test in alike:
                st.button(
                    test.title, key=f"lab_test_{test.key.replace('-', '_')}", help=test.shows, on_click=_take,
                    args=(test,), disabled=test.key in attempt.tests, width="stretch",
                )  # fmt: skip


def draw_next(attempt: Attempt) -> None:
    """What leads to another case, or to this one's beginning."""
    icon = ":material/arrow_forward:"
    st.button(
        "Next case", key="lab_next", icon=icon, type="primary" if attempt.is_solved else "tertiary",
        on_click=_open_next,
    )  # fmt: skip
    if attempt.tests or attempt.accused:
        st.button("Start this case again", key="lab_again", icon=":material/replay:", type="tertiary", on_click=_forget)


def _take(test: LabTest) -> None:
    st.session_state["lab_tests"] = (*current_value("lab_tests"), test.key)
    request_scroll(EVIDENCE, unless_seen=True)


def _accuse(key: str, is_guilty: bool) -> None:
    st.session_state["lab_accused"] = (*current_value("lab_accused"), key)
    request_scroll(_TOP if is_guilty else VERDICT, unless_seen=not is_guilty)


def _open_next() -> None:
    seed = (current_value("lab_seed") + 1) % (MAX_SEED + 1)
    st.session_state["lab_seed"] = seed
    _forget()


def _forget() -> None:
    st.session_state.update({key: OWN[key].default for key in ("lab_tests", "lab_accused")})
    request_scroll(_TOP)


WIDGETS |= {"lab_suspect": draw_suspect, "lab_tests": draw_tests, "lab_next": draw_next}
