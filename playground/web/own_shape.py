"""The visitor's own architecture, kept while weights that have theirs lock the sliders to it."""

from typing import Any

import streamlit as st

from playground.web import held_training, params

KEPT = "_own_shape"
"""Session key of the values, by their keys."""


def remember() -> None:
    """Put the visitor's own shape away before the chosen weights lock it, or bring it back; for a callback."""
    weights, kept = st.session_state["weights"], st.session_state.pop(KEPT, {})
    here = weights == "trained here" and held_training.shelf().trained is not None
    if "causal" in kept and not here:
        st.session_state["causal"] = kept.pop("causal")
    if here or weights == "minilm":
        present = {key: st.session_state[key] for key in (*params.LOCKED, "causal") if key in st.session_state}
        kept = kept or {key: present[key] for key in params.LOCKED if key in present}
        if here:
            kept.setdefault("causal", present.get("causal", params.SHARED["causal"].default))
        st.session_state[KEPT] = kept
    else:
        put(kept)


def forget() -> None:
    """Let go of it."""
    st.session_state.pop(KEPT, None)


def put(values: dict[str, Any]) -> None:
    """Set widgets; for a callback."""
    for key, value in values.items():
        st.session_state[key] = value
