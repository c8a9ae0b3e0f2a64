"""What the page Parameters has beside its view: the model that is chosen, and what it is checked against."""

import streamlit as st

from playground.presets import PRESETS
from playground.web.choices.setup import current_value
from playground.web.shared.renderer import WIDGETS
from playground.words import say


def choose_model() -> None:
    """The choice of the model to count, and where a named one is from."""
    st.session_state["parameters_model"] = current_value("parameters_model")
    chosen = st.selectbox(  # not bound to the link, which would have the words of an option instead of its name
        say("parameters", "choose"),
        ("sidebar", *PRESETS),
        key="parameters_model",
        format_func=lambda name: say("parameters", "choose.own") if name == "sidebar" else name,
        width=280,
        help=say("parameters", "choose.help"),
    )
    if chosen != "sidebar":
        st.caption(f"**{PRESETS[chosen].title}**: {PRESETS[chosen].source}.")


WIDGETS["model_to_count"] = choose_model
