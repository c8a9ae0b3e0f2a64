"""The visitor's own architecture, kept while weights that have theirs lock the sliders to it."""

from typing import Any

import streamlit as st

from playground.web import held_training, params, state

KEPT = "_own_shape"
"""Session key of the values, by their keys."""

_OF_TRAINED = ("causal", "seed")
"""What a network that was trained here decides beside its shape and its tokens."""


def remember() -> None:
    """Put the visitor's own shape away before the chosen weights lock it, or bring it back; for a callback."""
    weights, kept = st.session_state["weights"], st.session_state.pop(KEPT, {})
    here = weights == "trained here" and held_training.shelf().trained is not None
    if not here:
        put({key: kept.pop(key) for key in _OF_TRAINED if key in kept})
    if here or weights == "minilm":
        kept = kept or {key: st.session_state[key] for key in params.LOCKED if key in st.session_state}
        if here:
            kept = {key: state.value(key) for key in _OF_TRAINED} | kept
        st.session_state[KEPT] = kept
    else:
        put(kept)


def norm() -> str:
    """What a run starts from: the sidebar's norm, or the visitor's own, where a training without norms took it away."""
    setup = state.current()
    if setup.trained is None or setup.trained.recipe.layer_norm:
        return str(setup["norm"])
    return str(st.session_state.get(KEPT, {}).get("norm", params.SHARED["norm"].default))


def forget() -> None:
    """Let go of it."""
    st.session_state.pop(KEPT, None)


def put(values: dict[str, Any]) -> None:
    """Set widgets; for a callback."""
    for key, value in values.items():
        st.session_state[key] = value
