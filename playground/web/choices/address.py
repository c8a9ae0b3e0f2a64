"""Keeps the address bar true to the widgets.

Streamlit writes every bound widget into the address. Two things it misses: while a slider is moved fast, an older run's
correction can reach the browser after a newer value; and a widget whose bounds changed leaves the address although its
value stays. So every run also tells the browser what the link's parameters are by now.
"""

from collections.abc import Iterable

import streamlit as st

from playground.web.choices.params import write_changed
from playground.web.components.address_guard import write_address

RUNS = "_runs"
"""Session key of how often the address was checked."""


def correct_address(name: str, keys: Iterable[str]) -> None:
    """Put the present values of these parameters into the address: of those that have a widget by now."""
    values = {key: st.session_state[key] for key in keys if key in st.session_state}
    st.session_state[RUNS] = st.session_state.get(RUNS, 0) + 1
    write_address(f"address_{name}", {key: [] for key in values} | write_changed(values), st.session_state[RUNS])
