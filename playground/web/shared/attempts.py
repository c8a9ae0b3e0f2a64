"""What this session has tried of each variant, and what it has found of each exercise."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from playground.errors import InputError
from playground.learn.progress import Result, Results, join_results, read_progress, write_progress
from playground.web.components.exercises import draw_progress

ASKED = "_exercise_asked"
"""Session key of the page whose settings an exercise asks to change, and of its question."""

_ATTEMPTS = "_exercise_attempts"
"""Session key of the attempts, by exercise and variant."""

_RESULTS = "_exercise_results"
"""Session key of what was found, by the exercise's key: the browser keeps it."""

_IS_READ = "_exercise_results_read"
"""Session key of whether the browser has said what it had kept."""

_IS_BROKEN = "_exercise_results_broken"
"""Session key of whether what it had kept could not be read."""

_SESSION = "_exercise_session"
"""Session key of the session's name for the browser, which no other session has."""


@dataclass(frozen=True)
class Attempt:
    """What a visitor has done with one variant."""

    answer: Any = None
    """The last one that was checked, as `Variant.read` takes it; None before."""
    tries: int = 0
    hints: int = 0
    """How many were asked for."""
    outcome: Literal["open", "found", "given up"] = "open"
    feedback: str = ""
    """On the last answer, in markdown."""
    complaint: str = ""
    """Why the last answer could not be checked, in markdown."""
    code: str = ""
    """The signed code of a right answer; empty where there is none."""

    @property
    def is_over(self) -> bool:
        """Whether the truth may be shown."""
        return self.outcome != "open"


def current_attempt(key: str, number: int) -> Attempt:
    """What this session has done with a variant."""
    attempts: Mapping[tuple[str, int], Attempt] = st.session_state.get(_ATTEMPTS, {})
    return attempts.get((key, number), Attempt())


def change_attempt(key: str, number: int, **changes: Any) -> Attempt:
    """Note what was done with a variant; what was found or given up is noted for its exercise too."""
    before = current_attempt(key, number)
    attempt = replace(before, **changes)
    st.session_state[_ATTEMPTS] = {**st.session_state.get(_ATTEMPTS, {}), (key, number): attempt}
    result = current_results().get(key, Result())
    result = Result(
        found=result.found or attempt.outcome == "found",
        given_up=result.given_up or attempt.outcome == "given up",
        tries=result.tries + attempt.tries - before.tries,
    )
    if result != Result():
        st.session_state[_RESULTS] = {**current_results(), key: result}
    return attempt


def current_results() -> Results:
    """What became of the exercises in this browser, as far as this session knows."""
    results: Results = st.session_state.get(_RESULTS, {})
    return results


def keep_progress() -> None:
    """Have the browser keep the results, beside those that it had kept before."""
    draw_progress(
        "exercise_progress",
        write_progress(current_results()),
        st.session_state.setdefault(_SESSION, secrets.token_hex(8)),
        is_read=bool(st.session_state.get(_IS_READ)),
        replaces=bool(st.session_state.get(_IS_BROKEN)),
        on_read=_take_stored,
    )


def _take_stored(text: object) -> None:
    st.session_state[_IS_READ] = True
    try:
        results = read_progress(text if isinstance(text, str) else "")
    except InputError:  # somebody has written something else there; what is found from now on takes its place
        st.session_state[_IS_BROKEN] = True
    else:
        st.session_state[_RESULTS] = join_results(current_results(), results)
