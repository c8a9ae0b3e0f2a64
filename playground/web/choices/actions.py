"""What the visitor did by hand of late that leaves no other trace in the session; the tour's steps wait for it."""

from typing import Literal

import streamlit as st

Action = Literal["cell chosen", "computation opened", "link copied"]

_ACTIONS = "_actions"
"""Session key of the actions since they were cleared."""


def record_action(action: Action) -> None:
    """Note that the visitor did this."""
    st.session_state[_ACTIONS] = recorded_actions() | {action}


def recorded_actions() -> frozenset[Action]:
    """What was done since the actions were cleared."""
    actions: frozenset[Action] = st.session_state.get(_ACTIONS, frozenset())
    return actions


def clear_actions() -> None:
    """Forget what was done."""
    st.session_state[_ACTIONS] = frozenset()
