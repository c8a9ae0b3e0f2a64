"""The visitor's changes of the computation: they are switched and taken back, and lie in the session as `do`.

For callbacks: `do` is a `Changes`, bound to no widget, and `correct_address` writes it into the link.
"""

from collections.abc import Collection, Iterable

import streamlit as st

from playground.link.changes import MAX_CHANGES, Changes, MadeChange
from playground.model.changes import Change
from playground.web.choices.setup import current_setup


def switch_changes(on: Collection[Change]) -> None:
    """Switch these on, and all others of the visitor's changes off."""
    _keep(MadeChange(each, each in on) for each, _ in current_setup().changes)


def take_back(changes: Collection[Change]) -> None:
    """Forget these changes."""
    _keep(each for each in current_setup().changes if each.change not in changes)


def take_back_all() -> None:
    """Forget every change."""
    _keep(())


def _keep(changes: Iterable[MadeChange]) -> None:
    st.session_state["do"] = Changes(tuple(changes)[:MAX_CHANGES])
