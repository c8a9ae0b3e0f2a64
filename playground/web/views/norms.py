"""What the page Norms has beside its view: which norm its closer view opens at."""

import streamlit as st

from playground.analysis.streams import norm_names
from playground.config import ModelConfig
from playground.web.choices.setup import current_layer, current_setup, current_value
from playground.web.shared.renderer import ON_CHANGE


def _choose_norm() -> None:
    """When the norm by hand is opened, have it be one of the chosen layer, if no other was chosen: links say 0."""
    config = current_setup().config
    if current_value("norms_view") == "by hand" and current_value("norms_norm") == 0 and config.norm != "none":
        st.session_state["norms_norm"] = find_norm(config, current_layer(config.n_layers))


def find_norm(config: ModelConfig, layer: int) -> int:
    """The number of a layer's first norm, in the order of the computation."""
    return next(i for i, name in enumerate(norm_names(config)) if name.startswith(f"layers.{layer}."))


ON_CHANGE["norms_view"] = _choose_norm
