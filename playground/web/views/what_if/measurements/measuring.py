"""A measurement that takes a while: by itself where it is short, else by a button that says how long it takes."""

from collections.abc import Callable, Hashable

import streamlit as st

from playground.accounting.readable import duration
from playground.runs.arrays import Array
from playground.web.components.without_picture import ask_again
from playground.web.shared import panels
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows

BY_ITSELF = 5.0
"""Seconds that a measurement may take and begin without being asked."""

SLICE = 0.4
"""Seconds of computing in one rerun of the page; between two of them it answers the visitor."""

_ASKED = "_what_if_asked"
"""Session key of the last presses: from a measurement's name to all that it depends on, and whether it is to run."""

_WIDTH = 120


def keep_measuring(
    name: str, identity: Hashable, growing: GrowingNumbers, measure: Callable[[Rows], Array], *, tried: str
) -> None:
    """Measure for a moment, and draw how far it is and what starts or stops it; the page asks again until all is done.

    Called before what shows the numbers. Where the settings change, `identity` does, and the old measurement rests.

    Args:
        name: of the measurement, for keys.
        identity: all that it depends on.
        growing: its numbers so far.
        measure: computes some of its rows; may raise what `panels.explain_errors` explains.
        tried: what is tried, with its number, such as `72 heads`.
    """
    with panels.explain_errors():
        if growing.n_done == 0:
            growing.advance(measure, 0)  # which says how long the others will take
        asked, is_wanted = st.session_state.get(_ASKED, {}).get(name, (None, False))
        is_unknown = growing.n_done == 0  # somebody else measures the first part just now
        goes_on = is_wanted if asked == identity else is_unknown or growing.seconds_left <= BY_ITSELF
        is_asked = asked == identity and is_wanted
        if goes_on:
            growing.advance(measure, SLICE)
    with st.container(key=f"{name}_progress", horizontal=True, vertical_alignment="center"):
        st.progress(growing.share, _describe(growing, tried, goes_on=goes_on))
        # A grey button is hidden by the style sheet.
        if is_asked and not growing.is_complete:
            st.button(
                "Stop",
                key=f"{name}_stop",
                icon=":material/stop:",
                on_click=_ask,
                args=[name, identity, False],
                width=_WIDTH,
            )
        else:
            st.button(
                "Measure",
                key=f"{name}_measure",
                icon=":material/play_arrow:",
                on_click=_ask,
                args=[name, identity, True],
                disabled=goes_on or growing.is_complete,
                width=_WIDTH,
            )
        if goes_on and not growing.is_complete:
            ask_again(f"{name}_again")


def _describe(growing: GrowingNumbers, tried: str, *, goes_on: bool) -> str:
    n = len(growing.numbers)
    if growing.is_complete:
        return f"Done: {tried} tried one by one."
    n_done = sum(map(len, growing.parts[: growing.n_done]))
    if not n_done:
        return f"0 of {n:,} variants of the run. The first ones will tell how long it takes."
    left = duration(growing.seconds_left)
    return (
        f"{n_done:,} of {n:,} variants of the run. The rest takes about {left}{'.' if goes_on else ': press Measure.'}"
    )


def _ask(name: str, identity: Hashable, is_wanted: bool) -> None:
    st.session_state[_ASKED] = {**st.session_state.get(_ASKED, {}), name: (identity, is_wanted)}
