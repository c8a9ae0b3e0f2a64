"""The visitor's changes of the computation: they are made, switched and taken back, and lie in the session as `do`.

For callbacks: `do` is a `Changes`, bound to no widget, and `correct_address` writes it into the link.
"""

from collections.abc import Collection, Iterable

import streamlit as st

from playground.link.changes import MAX_CHANGES, Changes, MadeChange
from playground.model.changes import Change
from playground.web.choices.setup import current_setup


def make_changes(changes: Iterable[Change]) -> None:
    """Make further changes, all switched on; those that are there already are only switched on."""
    wanted = list(changes)
    kept = [MadeChange(each, is_on or each in wanted) for each, is_on in current_setup().changes]
    known = {each.change for each in kept}
    _keep([*kept, *(MadeChange(each) for each in wanted if each not in known)])


def replace_change(old: Change, new: Change) -> None:
    """Make a change in the place of another, switched on."""
    _keep(MadeChange(new) if each == old else MadeChange(each, is_on) for each, is_on in current_setup().changes)


def switch_changes(on: Collection[Change]) -> None:
    """Switch these on, and all others of the visitor's changes off."""
    _keep(MadeChange(each, each in on) for each, _ in current_setup().changes)


def take_back(changes: Collection[Change]) -> None:
    """Forget these changes."""
    _keep(each for each in current_setup().changes if each.change not in changes)


def take_back_all() -> None:
    """Forget every change."""
    _keep(())


def n_free_changes() -> int:
    """How many further changes there is room for in a link."""
    return MAX_CHANGES - len(current_setup().changes)


def _keep(changes: Iterable[MadeChange]) -> None:
    st.session_state["do"] = Changes(tuple(changes)[:MAX_CHANGES])
