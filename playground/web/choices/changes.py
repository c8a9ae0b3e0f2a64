"""The visitor's changes of the computation: they are made, switched and taken back, and lie in the session as `do`.

For callbacks: `do` is a `Changes`, bound to no widget, and `correct_address` writes it into the link.
"""

from collections.abc import Collection, Iterable

import streamlit as st

from playground.link.interventions import MAX_INTERVENTIONS, Change, Changes
from playground.model.interventions import Intervention
from playground.web.choices.setup import current_setup


def make_changes(interventions: Iterable[Intervention]) -> None:
    """Make further changes, all switched on; those that are there already are only switched on."""
    wanted = list(interventions)
    kept = [Change(each, is_on or each in wanted) for each, is_on in current_setup().changes]
    known = {each.intervention for each in kept}
    _keep([*kept, *(Change(each) for each in wanted if each not in known)])


def replace_change(old: Intervention, new: Intervention) -> None:
    """Make a change in the place of another, switched on."""
    _keep(Change(new) if each == old else Change(each, is_on) for each, is_on in current_setup().changes)


def switch_changes(on: Collection[Intervention]) -> None:
    """Switch these on, and all others of the visitor's changes off."""
    _keep(Change(each, each in on) for each, _ in current_setup().changes)


def take_back(interventions: Collection[Intervention]) -> None:
    """Forget these changes."""
    _keep(each for each in current_setup().changes if each.intervention not in interventions)


def take_back_all() -> None:
    """Forget every change."""
    _keep(())


def n_free_changes() -> int:
    """How many further changes there is room for in a link."""
    return MAX_INTERVENTIONS - len(current_setup().changes)


def _keep(changes: Iterable[Change]) -> None:
    st.session_state["do"] = Changes(tuple(changes)[:MAX_INTERVENTIONS])
