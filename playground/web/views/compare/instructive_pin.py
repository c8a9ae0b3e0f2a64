"""What the Compare page offers while nothing is pinned: a pin that shows something in every model."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from playground.web.choices import setup, shortcuts
from playground.web.choices.setup import current_setup


def offer_pin() -> None:
    """How to pin, in two sentences, and a button that does it with one telling change."""
    st.markdown(
        "Pin the settings of the sidebar with the button above, then change any of them: this page and its neighbours "
        "show both, before and after. Or begin with a pair that differs in one choice:"
    )
    before, after = instructive_pair(current_setup().values)
    (key,) = (key for key in after if before[key] != after[key])
    name = key.replace("_", " ")
    weights = "" if current_setup().weights == "random" else ", with random weights"
    st.button(
        f"Compare {name} {before[key]} with {after[key]}{weights}",
        key="compare_start",
        icon=":material/compare_arrows:",
        on_click=_pin_pair,
        help="Both with random weights of the present shape, drawn from the same seed: trained weights fit one "
        "architecture alone.",
    )


def instructive_pair(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two sets of values that differ in one choice: to pin, and to set now.

    Both have the present shape and random weights. They differ in the place of the norms, or where there are no norms,
    in having them.
    """
    now = {**values, "weights": "random"}
    if values["norm"] == "none":
        return now, {**now, "norm": "layer"}
    return {**now, "norm_placement": "post"}, {**now, "norm_placement": "pre"}


def _pin_pair() -> None:
    before, after = instructive_pair(current_setup().values)
    shortcuts.discard_unlocked()
    setup.pin(before)
    st.session_state.update(after)
