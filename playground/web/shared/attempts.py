"""What this session has tried of each variant, and what it has found of each exercise."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from playground.errors import InputError
from playground.learn.progress import Results, join_results, read_progress, write_progress
from playground.web.components.without_picture import keep_in_browser

ASKED = "_exercise_asked"
"""Session key of the page whose settings an exercise asks to change, and of its question."""

_ATTEMPTS = "_exercise_attempts"
"""Session key of the attempts, by exercise and variant."""

_RESULTS = "_exercise_results"
"""Session key of what was found, by the exercise's key: the browser keeps it."""

_IS_READ = "_exercise_results_read"
"""Session key of whether the browser has told what it had kept."""

_SESSION = "_exercise_session"
"""Session key of the session's name for the browser."""


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
    attempts: Mapping[tuple[str, int], Attempt] = st.session_state.get(_ATTEMPTS, {})
    return attempts.get((key, number), Attempt())


def change_attempt(key: str, number: int, **changes: Any) -> None:
    """Note what was done with a variant, and the result of its exercise."""
    attempt = replace(current_attempt(key, number), **changes)
    st.session_state[_ATTEMPTS] = {**st.session_state.get(_ATTEMPTS, {}), (key, number): attempt}
    if attempt.outcome != "open":
        st.session_state[_RESULTS] = join_results(current_results(), {key: attempt.outcome})


def current_results() -> Results:
    """Return what became of the exercises in this browser, as far as this session knows."""
    results: Results = st.session_state.get(_RESULTS, {})
    return results


def keep_progress() -> None:
    """Have the browser keep the results."""
    keep_in_browser(
        "exercise_progress",
        write_progress(current_results()),
        st.session_state.setdefault(_SESSION, secrets.token_hex(8)),
        is_read=bool(st.session_state.get(_IS_READ)),
        on_read=_take_stored,
    )


def _take_stored(text: object) -> None:
    st.session_state[_IS_READ] = True
    with suppress(InputError):  # somebody has written something else there
        st.session_state[_RESULTS] = join_results(current_results(), read_progress(str(text)))
