"""Choices that are set together: a named architecture, the network that was trained here, a visitor's own shape."""

from typing import Any

import streamlit as st

from playground.presets import PRESETS
from playground.text import split_sentences
from playground.web.choices import params, state
from playground.web.session import trained_slot

KEPT = "_own_shape"
"""Session key of the values, by their keys."""

_OF_TRAINED = ("causal", "seed")
"""What a network that was trained here decides beside its shape and its tokens."""


def remember() -> None:
    """Put the visitor's own shape away before the chosen weights lock it, or bring it back; for a callback."""
    weights, kept = st.session_state["weights"], st.session_state.pop(KEPT, {})
    here = weights == "trained here" and trained_slot.session_slot().trained is not None
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


def apply_preset(name: str) -> None:
    """Set the sidebar to a preset's architecture with random weights, and to its own tokenizer and text, if any.

    For a callback: widgets take new values only before they are drawn.
    """
    preset = PRESETS[name]
    values = {"weights": "random", **{key: getattr(preset.config, key) for key in params.ARCHITECTURE}}
    if preset.tokenizer is not None:
        values["tokenizer"] = preset.tokenizer
    if preset.text is not None:
        values["text"] = preset.text
    put(values)


def choose_trained_network() -> None:
    """Show the trained network in the slot, on a text of which it knows something; for a callback."""
    trained = trained_slot.session_slot().trained
    if trained is None:
        return
    put({"weights": "trained here", "untrained": False})
    remember()
    sentences = split_sentences(state.value("text")).sentences
    if all(all(row) for row in trained.tokenizer.encode_batch(sentences).unknown):
        use_example()


def use_example() -> None:
    """Put an example of the task in the place of the text; for a callback."""
    trained = trained_slot.session_slot().trained
    if trained is not None:
        st.session_state["text"] = trained.example
