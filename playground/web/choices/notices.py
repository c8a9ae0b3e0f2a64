"""Sentences on what had to be changed in the visitor's choices; they stay until a choice or the weights change."""

from collections.abc import Sequence

import streamlit as st

NOTICES = "_notices"
"""Session key of (the `Setup` that the sentences are about, the sentences)."""


def replace_notices(setup: object, sentences: Sequence[str]) -> None:
    """Show these sentences, for as long as the page's setup equals this one."""
    st.session_state[NOTICES] = (setup, list(sentences))


def current_notices(setup: object) -> list[str]:
    """The sentences about this setup."""
    about, sentences = st.session_state.get(NOTICES, (None, []))
    return list(sentences) if about == setup else []
