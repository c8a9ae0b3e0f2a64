"""Compare: the pinned settings beside the present."""

from typing import Any

import streamlit as st

from playground.analysis import comparison
from playground.link.kinds import Changes, MadeChange
from playground.model.changes import Change
from playground.views.compare import show_compare
from playground.views.scenes import run_scene
from playground.web.choices.setup import current_setup, current_value, pinned_setup
from playground.web.shared import panels
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.panels import start_comparison
from playground.web.shared.renderer import draw_view
from playground.words import say


@as_one_element
def offer_pairs() -> None:
    """Draw cards of what can be compared."""
    with st.container(key="answer"):
        st.markdown(say("compare", "alone"))
    present = current_setup()
    layer = min(current_value("layer"), present.config.n_layers - 1)
    head = min(current_value("head"), present.config.n_heads - 1)
    norms = {"weights": "random", "norm": "layer"}
    pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "norms": (norms | {"norm_placement": "post"}, norms | {"norm_placement": "pre"}),
        "weights": ({"weights": "random"}, {"weights": "minilm"}),
        "head": ({"do": Changes()}, {"do": Changes((MadeChange(Change("zero", layer, head)),))}),
    }
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


panels.draw_heading("What difference does a change make?")
if pinned_setup() is None:
    offer_pairs()
panels.draw_run_line()
panels.draw_pin_line()
if pinned_setup() is not None:
    fragment(draw_view)("compare", show_compare, run_scene)
    panels.code_behind("compare", comparison)
