"""The live parts of the page Compare: pairs that are ready to compare."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from playground.link.changes import Changes, MadeChange
from playground.model.changes import Change
from playground.views.compare import show_compare
from playground.views.scenes import run_scene
from playground.web.choices.setup import current_setup, current_value
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.panels import start_comparison
from playground.web.shared.renderer import draw_view
from playground.words import say

PAIRS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "norms": (
        {"weights": "random", "norm": "layer", "norm_placement": "post"},
        {"weights": "random", "norm": "layer", "norm_placement": "pre"},
    ),
    "weights": ({"weights": "random"}, {"weights": "minilm"}),
}
"""What two settings have that are worth comparing, the pinned one first, by the names of their words."""


@fragment
def compare_runs() -> None:
    """Where the two runs part; in panels the head at the focus, lengths and costs."""
    draw_view("compare", show_compare, run_scene)


@as_one_element
def offer_pairs() -> None:
    """Cards of what can be compared while nothing is pinned."""
    with st.container(key="answer"):
        st.markdown(say("compare", "alone"))
    present = current_setup()
    layer = min(current_value("layer"), present.config.n_layers - 1)
    head = min(current_value("head"), present.config.n_heads - 1)
    is_off = Changes((MadeChange(Change("zero", layer, head)),))
    pairs = {**PAIRS, "head": ({"do": Changes()}, {"do": is_off})}
    if present["weights"] != "minilm":
        pairs.pop("weights")
    for column, (name, (before, after)) in zip(st.columns(3, gap="small"), pairs.items(), strict=False):
        with column, st.container(key=f"compare_pair_{name}", border=True, gap="small", height="stretch"):
            st.markdown(f"**{say('compare', f'pair-{name}')}**")
            st.markdown(say("compare", f"pair-{name}.question", layer=layer, head=head))
            st.button(
                say("compare", "start"),
                key=f"compare_start_{name}",
                icon=":material/compare_arrows:",
                type="primary",
                on_click=start_comparison,
                args=({**present.values, **before}, {**present.values, **after}),
            )
