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
from playground.web.shared.panels import as_one_element, fragment, start_comparison
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
    norms, off = {"weights": "random", "norm": "layer"}, Changes((MadeChange(Change("zero", layer, head)),))
    pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "norms": (norms | {"norm_placement": "post"}, norms | {"norm_placement": "pre"}),
        "weights": ({"weights": "random"}, {"weights": "minilm"}),
        "head": ({"do": Changes()}, {"do": off}),
    }
    if present["weights"] != "minilm":
        pairs.pop("weights")
    for column, (name, pair) in zip(st.columns(3, gap="small"), pairs.items(), strict=False):
        with column, st.container(key=f"compare_pair_{name}", border=True, gap="small", height="stretch"):
            st.markdown(f"**{say('compare', f'pair-{name}')}**")
            st.markdown(say("compare", f"pair-{name}.question", layer=layer, head=head))
            args, icon = [{**present.values, **side} for side in pair], ":material/compare_arrows:"
            label, key = say("compare", "start"), f"compare_start_{name}"
            st.button(label, key=key, icon=icon, type="primary", on_click=start_comparison, args=args)


panels.draw_heading("What difference does a change make?")
if pinned_setup() is None:
    offer_pairs()
panels.draw_run_line()
panels.draw_pin_line()
if pinned_setup() is not None:
    fragment(draw_view)("compare", show_compare, run_scene)
    panels.code_behind("compare", comparison)
