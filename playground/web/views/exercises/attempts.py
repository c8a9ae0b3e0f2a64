"""What this session has tried of each variant, and what it has found of each exercise."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from playground.errors import InputError
from playground.learn.progress import Results, join_results, read_progress, write_progress
from playground.web.components import keep_in_browser
from playground.web.session.experiments import session_experiments

_ATTEMPTS = "_exercise_attempts"
"""Session key of the attempts, by exercise and variant."""

_STORED = "_exercise_results"
"""Session key of the results that the browser had kept; missing until it has told them."""


@dataclass(frozen=True)
class Attempt:
    """What a visitor has done with one variant."""

    answer: Any = None
    """The last one that was checked."""
    tries: int = 0
    hints: int = 0
    """How many were asked for."""
    outcome: Literal["open", "found", "given up"] = "open"
    feedback: str = ""
    """On the last answer, in markdown."""
    complaint: str = ""
    """Why the last answer could not be checked, in markdown."""

    @property
    def is_over(self) -> bool:
        """Whether the truth may be shown."""
        return self.outcome != "open"


def current_attempt(key: str, number: int) -> Attempt:
    """Return what this session has done with a variant."""
    return _attempts().get((key, number), Attempt())


def change_attempt(key: str, number: int, **changes: Any) -> None:
    """Note what was done with a variant."""
    attempt = replace(current_attempt(key, number), **changes)
    st.session_state[_ATTEMPTS] = {**_attempts(), (key, number): attempt}


def current_results() -> Results:
    """Return what became of the exercises in this browser, as far as this session knows."""
    results: Results = st.session_state.get(_STORED, {})
    for (key, _), attempt in _attempts().items():
        if attempt.outcome != "open":
            results = join_results(results, {key: attempt.outcome})
    return results


def keep_progress() -> None:
    """Have the browser keep the results."""
    keep_in_browser(
        "exercise_progress",
        write_progress(current_results()),
        session_experiments().session,
        is_read=_STORED in st.session_state,
        on_read=_take_stored,
    )


def _attempts() -> Mapping[tuple[str, int], Attempt]:
    attempts: Mapping[tuple[str, int], Attempt] = st.session_state.get(_ATTEMPTS, {})
    return attempts


def _take_stored(text: object) -> None:
    st.session_state.setdefault(_STORED, {})
    with suppress(InputError):  # somebody has written something else there
        st.session_state[_STORED] = join_results(st.session_state[_STORED], read_progress(str(text)))
