"""Numbers that take long: measured some at a time by whoever looks, kept for everybody, with a bar and its button."""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
import streamlit as st

from playground.accounting.readable import duration
from playground.runs.arrays import Array
from playground.web.components.without_picture import ask_again
from playground.web.shared import panels

Rows = tuple[int, ...]
"""Numbers of the variants that are measured together."""

MOST_TOGETHER = 24
"""Rows that are measured together, at most: others wait no longer for a turn than that takes, and a batch of more is no
faster."""

BY_ITSELF = 5.0
"""Seconds that a measurement may take and begin without being asked."""

SLICE = 0.4
"""Seconds of computing in one rerun of the page; between two of them it answers the visitor."""

_ASKED = "_what_if_asked"
"""Session key of the last presses: from a measurement's name to all that it depends on, and whether it is to run."""

_WIDTH = 120


@dataclass(eq=False)
class GrowingNumbers:
    """A table, (rows, columns), NaN where it is not measured yet; it lies in a cache, and sessions fill it together.

    No session computes beyond what it shows: a part that one visitor has measured is there for the next, and where
    nobody looks, nothing goes on.
    """

    numbers: Array
    parts: Sequence[Rows]
    """The rows that are measured together, in the order of their measurement."""
    work: Sequence[float]
    """What each part costs, in any unit."""
    n_done: int = 0
    """Parts that are measured."""
    seconds: float = 0.0
    """What they took, waiting for a turn included."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_complete(self) -> bool:
        """Whether everything is measured."""
        return self.n_done == len(self.parts)

    @property
    def share(self) -> float:
        """How much of the work is done, 0 … 1."""
        return sum(self.work[: self.n_done]) / sum(self.work) if self.parts else 1.0

    @property
    def seconds_left(self) -> float:
        """What the rest will take, by what the parts before it took; infinite before the first."""
        if self.is_complete:
            return 0.0
        done = sum(self.work[: self.n_done])
        return self.seconds / done * sum(self.work[self.n_done :]) if done else float("inf")

    def advance(self, measure: Callable[[Rows], Array], seconds: float) -> None:
        """Measure the next part, and further ones until so many seconds have passed; nothing where somebody else does.

        Nobody waits for another's measurement: whoever comes meanwhile takes the numbers that are there.
        `measure` computes some rows, (rows, columns). Where it fails, what was measured before stays.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            begin = monotonic()
            while not self.is_complete:
                rows, start = self.parts[self.n_done], monotonic()
                self.numbers[list(rows)] = measure(rows)
                self.n_done += 1
                self.seconds += monotonic() - start
                if monotonic() - begin >= seconds:
                    return
        finally:
            self.lock.release()


def empty_numbers(parts: Sequence[Rows], work: Sequence[float], n_columns: int) -> GrowingNumbers:
    """A table of which nothing is measured; its parts hold every row once."""
    n_rows = sum(map(len, parts))
    return GrowingNumbers(np.full((n_rows, n_columns), np.nan, np.float32), tuple(parts), tuple(work))


def cut(rows: Sequence[int], most: int) -> list[Rows]:
    """Rows in their order, at most so many together, and at most `MOST_TOGETHER`."""
    most = min(most, MOST_TOGETHER)
    return [tuple(rows[first : first + most]) for first in range(0, len(rows), most)]


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
