"""Buttons that make a change of the computation, which every page then shows."""

from collections.abc import Mapping, Sequence

import streamlit as st

from playground.model.changes import Change
from playground.web.choices.setup import current_setup
from playground.web.shared.change_chips import draw_followed_button, explain_refusal, make_in_place
from playground.web.shared.markdown import escape_markdown


def offer_changes(key: str, offers: Mapping[str, Sequence[Change]]) -> None:
    """Draw a button for each offer, by its label; grey where it is made already, or cannot be made, which is said.

    The whole page follows a press, as its heading names the changes.
    """
    setup, refused = current_setup(), []
    on = {made.change for made in setup.changes if made.is_on}
    with st.container(key=key, horizontal=True):
        for number, (label, wanted) in enumerate(offers.items()):
            is_made = set(wanted) <= on
            reason = "This is changed already." if is_made else explain_refusal(setup, wanted)
            if reason and not is_made:
                refused.append(reason)
            pressed = st.button(
                label,
                key=f"{key}_{number}",
                icon=":material/add:",
                disabled=bool(reason),
                help=reason or "It joins the changes below the heading; the pages show the model with it.",
            )
            if pressed and not reason:
                make_in_place(wanted)
                st.rerun()
        if any(wanted and set(wanted) <= on for wanted in offers.values()):
            draw_followed_button(f"{key}_followed", "Made. What followed?")
    for reason in dict.fromkeys(refused):
        st.caption(escape_markdown(reason))
