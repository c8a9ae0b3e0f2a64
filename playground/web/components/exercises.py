"""Keeps in the browser what a visitor has found of the exercises."""

from collections.abc import Callable

import streamlit as st

from playground.web.components import load_component

_progress = load_component("exercise_progress")


def keep_in_browser(key: str, progress: str, session: str, *, is_read: bool, on_read: Callable[[object], None]) -> None:
    """Store a text in the browser, joined with what is there; first read what it had kept.

    Args:
        key: of the component.
        progress: what to store.
        session: a name of this session, which is told once what the browser has.
        is_read: whether it was told: only then is anything stored.
        on_read: takes what the browser had, or anything that it sends.
    """

    def take() -> None:
        sent = getattr(st.session_state[key], "stored", None)
        if sent is not None:
            on_read(sent)

    data = {"progress": progress, "session": session, "isRead": is_read}
    _progress(key=key, data=data, on_stored_change=take)
