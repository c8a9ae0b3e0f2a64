"""A named architecture becomes the visitor's choices."""

import streamlit as st

from playground.presets import PRESETS
from playground.web import params


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
    for key, value in values.items():
        st.session_state[key] = value
