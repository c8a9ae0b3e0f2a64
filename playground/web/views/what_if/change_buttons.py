"""Buttons that make a change of the computation, which every page then shows."""

from collections.abc import Mapping, Sequence

import streamlit as st

from playground.model.interventions import Intervention
from playground.web.choices import changes
from playground.web.choices.setup import current_setup


def offer_changes(key: str, offers: Mapping[str, Sequence[Intervention]]) -> None:
    """Draw a button for each offer, by its label; grey where it is made already, or a link has no room for it.

    The whole page follows a press, as its heading names the changes.
    """
    made = current_setup().changes
    on, room = {change.intervention for change in made if change.is_on}, changes.n_free_changes()
    with st.container(key=key, horizontal=True):
        for number, (label, wanted) in enumerate(offers.items()):
            reason = "" if set(wanted) - on else "This is changed already."
            n_new = len(set(wanted) - {change.intervention for change in made})
            if n_new > room:
                reason = f"These are {n_new} further changes, and a link has room for {room}."
            pressed = st.button(
                label,
                key=f"{key}_{number}",
                icon=":material/add:",
                disabled=bool(reason),
                help=reason or "It joins the changes below the heading; the pages show the model with it.",
            )
            if pressed and not reason:
                changes.make_changes(wanted)
                st.rerun()
        if any(wanted and set(wanted) <= on for wanted in offers.values()):
            st.button(
                "Made. What followed?",
                key=f"{key}_followed",
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=_show_what_followed,
                help="The chips below the heading switch it off, and take it back.",
            )


def _show_what_followed() -> None:
    st.session_state["whatif_view"] = "what followed"
