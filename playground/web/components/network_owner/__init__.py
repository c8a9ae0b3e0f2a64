"""A component without a picture: the browser tab remembers whose trained network it has, and says so after a reload."""

from collections.abc import Callable

import streamlit as st

from playground.web.components.load_component import load_component

_owner = load_component("network_owner")

_KEY = "network_owner"


def remember_owner(owner: str, *, has_network: bool, come_back: Callable[[str], None]) -> None:
    """Let the tab remember the owner of its network; where a reloaded tab has another's, call `come_back` with that.

    The name lies in the tab's own storage: neither a link nor another tab that somebody opens has it. It is asked for
    once a session, and only while this session has no network.
    """

    def answer() -> None:
        earlier = st.session_state[_KEY].earlier
        if isinstance(earlier, str):
            come_back(earlier)

    _owner(key=_KEY, data={"owner": owner, "hasNetwork": has_network}, on_earlier_change=answer)
