"""Buttons that make a change of the computation, which every page then shows."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from playground.model.interventions import Intervention
from playground.web.choices import changes
from playground.web.choices.setup import current_setup


def offer_changes(key: str, offers: Mapping[str, Sequence[Intervention]]) -> None:
    """Draw a button for each offer, by its label; grey where it is made already, or a link has no room for it.

    The whole page follows a press, as its heading names the changes.
    """
    made = {change.intervention for change in current_setup().changes if change.is_on}
    with st.container(key=key, horizontal=True):
        for number, (label, wanted) in enumerate(offers.items()):
            missing = [each for each in wanted if each not in made]
            room = changes.n_free_changes()
            reason = "" if missing else "This change is made already."
            if len(missing) > room:
                reason = f"These are {len(missing)} changes, and the link has room for {room} more."
            pressed = st.button(
                label,
                key=f"{key}_{number}",
                icon=":material/add:",
                disabled=bool(reason),
                help=reason or "It joins the changes below the heading; the pages show the model with it.",
                on_click=_made(wanted),
            )
            if pressed:
                st.rerun()


def _made(wanted: Sequence[Intervention]) -> Callable[[], None]:
    return partial(changes.make_changes, wanted)
